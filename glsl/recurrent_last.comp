// variants: f32 f16
// Writes the states after the last step to an output.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

PUSH(uint area; uint from;);
layout(binding = 0) readonly buffer State { float state[]; };
layout(binding = 1) writeonly buffer Destination { ELEM destination[]; };

void main() {
    const uint i = ELEMENT_INDEX;
    if (i < push.area) destination[i] = ELEM(state[push.from + i]);
}
