// variants: f32 f16 i32
// Running sums or products along one axis of [outer][extent][inner]: one line per invocation, in the order of the CPU.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(constant_id = 1) const bool kProduct = false;
layout(constant_id = 2) const bool kExclusive = false;
layout(constant_id = 3) const bool kReverse = false;
PUSH(uint lines; uint extent; uint inner;);
layout(binding = 0) readonly buffer Source { ELEM source[]; };
layout(binding = 1) writeonly buffer Destination { ELEM destination[]; };

void main() {
    const uint i = ELEMENT_INDEX;
    if (i >= push.lines) return;
    const uint outer = i / push.inner;
    const uint base = outer * push.extent * push.inner + (i - outer * push.inner);
    VALUE total = VALUE(0);  // the first result of an exclusive scan, even of a product
    for (uint k = 0; k < push.extent; ++k) {
        const uint at = base + (kReverse ? push.extent - 1 - k : k) * push.inner;
        if (kExclusive) destination[at] = ELEM(total);
        const VALUE value = VALUE(source[at]);
        if (k == 0 && !kExclusive)
            total = value;
        else
            total = kProduct ? total * value : total + value;
        if (!kExclusive) destination[at] = ELEM(total);
    }
}
