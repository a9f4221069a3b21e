// variants: i32
// Says that no row of updates belongs to any place.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

PUSH(uint places;);
layout(binding = 0) writeonly buffer Last { uint last[]; };

void main() {
    const uint i = ELEMENT_INDEX;
    if (i < push.places) last[i] = 0;
}
