// variants: f32 f16 i32
// Stores every element of the output: from the last row of updates that belongs there, or the data, or zero.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(constant_id = 1) const bool kData = false;
PUSH(uint total; uint slice;);
layout(binding = 0) readonly buffer Last { uint last[]; };
layout(binding = 1) readonly buffer Updates { ELEM updates[]; };
layout(binding = 2) readonly buffer Data { ELEM data[]; };
layout(binding = 3) writeonly buffer Destination { ELEM destination[]; };

void main() {
    const uint i = ELEMENT_INDEX;
    if (i >= push.total) return;
    const uint place = i / push.slice;
    const uint row = last[place];
    VALUE value = VALUE(0);
    if (row > 0)
        value = VALUE(updates[(row - 1) * push.slice + i - place * push.slice]);
    else if (kData)
        value = VALUE(data[i]);
    destination[i] = ELEM(value);
}
