// variants: i32
// For each place of the output the last row of updates that belongs there, counted from 1: the order in which invocations
// come does not matter. Indices count from the end when negative; a row with one outside belongs nowhere.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

// Rows of kDepth indices, or (kElements) single ones that replace coordinate kAxis of their own kDepth.
layout(constant_id = 1) const uint kDepth = 1;
layout(constant_id = 2) const bool kElements = false;
layout(constant_id = 3) const uint kAxis = 0;
// Extents and strides of the output, in places; extents of the indices.
PUSH(uint rows; int extent[9]; uint stride[9]; uint size[9];);
layout(binding = 0) readonly buffer Indices { int indices[]; };
layout(binding = 1) buffer Last { uint last[]; };

void main() {
    const uint row = ELEMENT_INDEX;
    if (row >= push.rows) return;
    uint place = 0, rest = row;
    bool inside = true;
    for (uint j = kDepth; j > 0;) {
        --j;
        int index;
        if (kElements) {
            index = j == kAxis ? indices[row] : int(rest % push.size[j]);
            rest /= push.size[j];
        } else {
            index = indices[row * kDepth + j];
        }
        if (index < 0) index += push.extent[j];
        inside = inside && index >= 0 && index < push.extent[j];
        place += uint(index) * push.stride[j];
    }
    if (inside) atomicMax(last[place], row + 1);
}
