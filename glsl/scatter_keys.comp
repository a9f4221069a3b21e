// variants: i32
// Makes the list that scatter_sort sorts: each row of updates with its place. Rows without a place, and the entries
// that fill up the list, come behind all places.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(constant_id = 1) const uint kDepth = 1;
layout(constant_id = 2) const bool kElements = false;
layout(constant_id = 3) const uint kAxis = 0;
// Extents and strides of the output, in places; extents of the indices; length of the list.
PUSH(uint rows; int extent[9]; uint stride[9]; uint size[9]; uint capacity;);
layout(binding = 0) readonly buffer Indices { int indices[]; };
layout(binding = 1) writeonly buffer List { uvec2 list[]; };
#include "scatter_place.glsl"

void main() {
    const uint row = ELEMENT_INDEX;
    if (row >= push.capacity) return;
    uint place = 0;
    const bool inside = row < push.rows && placeOf(row, place);
    list[row] = uvec2(inside ? place : 0xffffffffu, row);
}
