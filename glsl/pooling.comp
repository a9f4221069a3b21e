// variants: f32 f16
// Max and average pooling of channel-packed tensors in up to three axes: one output quad per invocation.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "pooling_window.glsl"

layout(constant_id = 1) const bool kAverage = false;
layout(binding = 0) readonly buffer Source { ELEM4 source[]; };
layout(binding = 1) writeonly buffer Destination { ELEM4 destination[]; };

void main() {
    const uint i = ELEMENT_INDEX;
    if (i >= push.quads) return;
    const ivec4 o = outputAt(i);
    const ivec2 zs = taps(0, o.x, kAverage), ys = taps(1, o.y, kAverage), xs = taps(2, o.z, kAverage);
    VALUE4 total = VALUE4(kAverage ? 0.0 : kMinusInfinity);
    for (int z = zs.x; z < zs.y; ++z)
        for (int y = ys.x; y < ys.y; ++y) {
            const int row = rowAt(o.w, z, y);
            // Rows are summed separately, so that long windows lose less precision.
            VALUE4 part = VALUE4(kAverage ? 0.0 : kMinusInfinity);
            for (int x = xs.x; x < xs.y; ++x) {
                const VALUE4 value = VALUE4(source[row + x]);
                part = kAverage ? part + value : max(part, value);
            }
            total = kAverage ? total + part : max(total, part);
        }
    if (kAverage) {
        const float count = float(tapCount(0, o.x)) * float(tapCount(1, o.y)) * float(tapCount(2, o.z));
        total = count > 0.0 ? total / count : VALUE4(0.0);
    }
    destination[i] = ELEM4(total);
}
