// variants: f32 f16 i32
// Combines the updates of a place with the present value, in the order of their rows, so that sums of floats equal
// those of the CPU. The list is sorted by place: the invocation at a place's first entry walks over its entries.
// Integers wrap; a NaN remains.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "math.glsl"

layout(constant_id = 1) const bool kData = false;
layout(constant_id = 2) const uint kReduction = 0;
const uint kAdd = 1, kSub = 2, kMul = 3, kMin = 4;
PUSH(uint rows; uint slice; uint places;);
layout(binding = 0) readonly buffer List { uvec2 list[]; };
layout(binding = 1) readonly buffer Updates { ELEM updates[]; };
layout(binding = 2) readonly buffer Data { ELEM data[]; };
layout(binding = 3) writeonly buffer Destination { ELEM destination[]; };

#ifdef INT
bool isNotANumber(int x) {
    return false;
}
#endif

VALUE combined(VALUE a, VALUE b) {
    if (kReduction == kAdd) return a + b;
    if (kReduction == kSub) return a - b;
    if (kReduction == kMul) return a * b;
    if (isNotANumber(a)) return a;
    if (isNotANumber(b)) return b;
    return (kReduction == kMin ? b < a : b > a) ? b : a;
}

void main() {
    const uint i = ELEMENT_INDEX;
    const uint first = i / push.slice, column = i - first * push.slice;
    if (first >= push.rows) return;
    const uint place = list[first].x;
    if (place >= push.places || (first > 0 && list[first - 1].x == place)) return;
    const uint to = place * push.slice + column;
    VALUE value = VALUE(0);
    if (kData) value = VALUE(data[to]);
    for (uint k = first; k < push.rows; ++k) {
        const uvec2 entry = list[k];
        if (entry.x != place) break;
        value = combined(value, VALUE(updates[entry.y * push.slice + column]));
    }
    destination[to] = ELEM(value);
}
