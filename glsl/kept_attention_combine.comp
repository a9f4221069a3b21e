// variants: f32 f16
// Adds the sums that kept_attention left in its slots, and divides by those of exponentials. An invocation makes an
// element.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

PUSH(uint elements; uint rows; uint heads; uint keyHeads; uint valueDepth;
     uint slots; uint slotFloats;);
layout(binding = 0) readonly buffer Slots { float slots[]; };
layout(binding = 1) readonly buffer Length { uint past; };
layout(binding = 2) writeonly buffer Destination { ELEM destination[]; };

const uint kPage = 256;

void main() {
    const uint element = ELEMENT_INDEX;
    if (element >= push.elements) return;
    const uint column = element % push.valueDepth, head = element / push.valueDepth % push.heads;
    const uint query = element / push.valueDepth / push.heads, share = push.heads / push.keyHeads;
    const uint row = head / share * push.rows * share + query * share + head % share;
    const uint at = row * (push.valueDepth + 2), topAt = at + push.valueDepth;
    // Slots of pages that have no rows yet hold nothing.
    const uint count = min(push.slots, (past + push.rows + kPage - 1) / kPage);
    float top = slots[topAt];
    for (uint i = 1; i < count; ++i) top = max(top, slots[i * push.slotFloats + topAt]);
    float total = 0.0, sum = 0.0;
    for (uint i = 0; i < count; ++i) {
        const uint from = i * push.slotFloats;
        const float less = slots[from + topAt] - top;
        const float factor = less < -88.0 ? 0.0 : exp(less);
        total += slots[from + at + column] * factor;
        sum += slots[from + topAt + 1] * factor;
    }
    // The largest score adds 1: with a smaller sum, a query has no finite score, and its result is 0 as in Softmax.
    destination[element] = ELEM(sum < 0.5 ? 0.0 : total / sum);
}
