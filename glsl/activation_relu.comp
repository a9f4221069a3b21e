// variants: f32 f16
// x < 0 ? slope x : x, or min(max(x, low), high), over whole quads of the storage.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(constant_id = 1) const bool kClip = false;
PUSH(uint quads; float a; float b;);  // a: slope or low; b: high
layout(binding = 0) readonly buffer Source { ELEM4 source[]; };
layout(binding = 1) writeonly buffer Destination { ELEM4 destination[]; };

void main() {
    const uint i = ELEMENT_INDEX;
    if (i >= push.quads) return;
    const VALUE4 x = VALUE4(source[i]);
    destination[i] = ELEM4(kClip ? min(max(x, push.a), push.b) : mix(x, x * push.a, lessThan(x, VALUE4(0))));
}
