// variants: i32
// Marks every place as one to which no row of updates belongs.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

PUSH(uint places;);
layout(binding = 0) writeonly buffer Last { uint last[]; };

void main() {
    const uint i = ELEMENT_INDEX;
    if (i < push.places) last[i] = 0;
}
