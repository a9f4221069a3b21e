// variants: f32 f16
// Converts int32 to float.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

PUSH(uint quads;);
layout(binding = 0) readonly buffer Source { ivec4 source[]; };
layout(binding = 1) writeonly buffer Destination { ELEM4 destination[]; };

void main() {
    const uint i = ELEMENT_INDEX;
    if (i < push.quads) destination[i] = ELEM4(vec4(source[i]));
}
