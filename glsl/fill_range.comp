// variants: i32
// Stores start, start + step, start + 2 step, ...; sums wrap.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

PUSH(uint total;);
layout(binding = 0) readonly buffer Start { int start[]; };
layout(binding = 1) readonly buffer Step { int step_[]; };
layout(binding = 2) writeonly buffer Destination { int destination[]; };

void main() {
    const uint i = ELEMENT_INDEX;
    if (i < push.total) destination[i] = int(uint(start[0]) + i * uint(step_[0]));
}
