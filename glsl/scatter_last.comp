// variants: i32
// Finds, for each place of the output, the last row of updates that belongs there, counted from 1: the order of the
// invocations does not matter.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(constant_id = 1) const uint kDepth = 1;
layout(constant_id = 2) const bool kElements = false;
layout(constant_id = 3) const uint kAxis = 0;
// Extents and strides of the output, in places; extents of the indices.
PUSH(uint rows; int extent[9]; uint stride[9]; uint size[9];);
layout(binding = 0) readonly buffer Indices { int indices[]; };
layout(binding = 1) buffer Last { uint last[]; };
#include "scatter_place.glsl"

void main() {
    const uint row = ELEMENT_INDEX;
    if (row >= push.rows) return;
    uint place;
    if (placeOf(row, place)) atomicMax(last[place], row + 1);
}
