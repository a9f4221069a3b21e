// variants: f32 f16 i32
// Stores one value everywhere.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

PUSH(uint total; VALUE value;);
layout(binding = 0) writeonly buffer Destination { ELEM destination[]; };

void main() {
    const uint i = ELEMENT_INDEX;
    if (i < push.total) destination[i] = ELEM(push.value);
}
