// variants: i32
// One step of a bitonic sort, for pairs of entries that lie further apart than scatter_sort's blocks.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "scatter_order.glsl"

PUSH(uint pairs; uint size; uint distance_;);
layout(binding = 0) buffer List { uvec2 list[]; };

void main() {
    const uint i = ELEMENT_INDEX;
    if (i >= push.pairs) return;
    const uint a = i / push.distance_ * push.distance_ * 2 + i % push.distance_, b = a + push.distance_;
    const bool forward = (a & push.size) == 0;
    const uvec2 low = list[a], high = list[b];
    if (precedes(high, low) == forward) {
        list[a] = high;
        list[b] = low;
    }
}
