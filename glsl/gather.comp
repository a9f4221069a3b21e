// variants: f32 f16 i32
// [outer][extent][inner] -> [outer][count][inner] by one index per position, counted from the end when negative; an
// index outside gives zeros.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(constant_id = 1) const bool kQuads = false;  // inner counts quads
PUSH(uint total; uint extent; uint inner; uint count;);
layout(binding = 0) readonly buffer Data { ELEM data[]; };
layout(binding = 0) readonly buffer Data4 { ELEM4 data4[]; };
layout(binding = 1) readonly buffer Indices { int indices[]; };
layout(binding = 2) writeonly buffer Destination { ELEM destination[]; };
layout(binding = 2) writeonly buffer Destination4 { ELEM4 destination4[]; };

void main() {
    const uint i = ELEMENT_INDEX;
    if (i >= push.total) return;
    const uint row = i / push.inner;
    const uint column = i - row * push.inner;
    const uint outer = row / push.count;
    int index = indices[row - outer * push.count];
    if (index < 0) index += int(push.extent);
    const bool inside = index >= 0 && index < int(push.extent);
    const uint from = (outer * push.extent + uint(index)) * push.inner + column;
    if (kQuads) {
        VALUE4 value = VALUE4(0);
        if (inside) value = VALUE4(data4[from]);
        destination4[i] = ELEM4(value);
    } else {
        VALUE value = VALUE(0);
        if (inside) value = VALUE(data[from]);
        destination[i] = ELEM(value);
    }
}
