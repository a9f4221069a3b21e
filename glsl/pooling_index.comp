// variants: f32 f16
// Max pooling that also gives the position of each maximum in its plane (the first of equal ones).
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "pooling_window.glsl"

layout(binding = 0) readonly buffer Source { ELEM4 source[]; };
layout(binding = 1) writeonly buffer Destination { ELEM4 destination[]; };
layout(binding = 2) writeonly buffer Where { ivec4 where[]; };

void main() {
    const uint i = ELEMENT_INDEX;
    if (i >= push.quads) return;
    const ivec4 o = outputAt(i);
    const ivec2 zs = taps(0, o.x, false), ys = taps(1, o.y, false), xs = taps(2, o.z, false);
    VALUE4 best = VALUE4(kMinusInfinity);
    ivec4 at = ivec4(ys.x * push.inSize[2] + xs.x);
    for (int z = zs.x; z < zs.y; ++z)
        for (int y = ys.x; y < ys.y; ++y) {
            const int row = rowAt(o.w, z, y);
            for (int x = xs.x; x < xs.y; ++x) {
                const VALUE4 value = VALUE4(source[row + x]);
                const bvec4 larger = greaterThan(value, best);
                best = mix(best, value, larger);
                at = mix(at, ivec4(y * push.inSize[2] + x), larger);
            }
        }
    destination[i] = ELEM4(best);
    where[i] = at;
}
