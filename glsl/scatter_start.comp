// variants: f32 f16 i32
// Stores the output before any update: the data, or zeros.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(constant_id = 1) const bool kData = false;
PUSH(uint total;);
layout(binding = 0) readonly buffer Data { ELEM data[]; };
layout(binding = 1) writeonly buffer Destination { ELEM destination[]; };

void main() {
    const uint i = ELEMENT_INDEX;
    if (i >= push.total) return;
    VALUE value = VALUE(0);
    if (kData) value = VALUE(data[i]);
    destination[i] = ELEM(value);
}
