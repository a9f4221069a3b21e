// variants: f32 f16 i32
// Zeros.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

PUSH(uint total;);
layout(binding = 0) writeonly buffer Destination { ELEM destination[]; };

void main() {
    const uint i = ELEMENT_INDEX;
    if (i < push.total) destination[i] = ELEM(0);
}
