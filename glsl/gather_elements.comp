// variants: f32 f16 i32
// Every output element takes the data's element at its own position, with one coordinate replaced by its index,
// counted from the end when negative; an index outside gives zero.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(constant_id = 1) const uint kRank = 1;
// Extents of the output, and the data's strides (0 for the replaced axis).
PUSH(uint total; int extent; uint axisStride; uint size[9]; uint stride[9];);
layout(binding = 0) readonly buffer Data { ELEM data[]; };
layout(binding = 1) readonly buffer Indices { int indices[]; };
layout(binding = 2) writeonly buffer Destination { ELEM destination[]; };

void main() {
    const uint i = ELEMENT_INDEX;
    if (i >= push.total) return;
    int index = indices[i];
    if (index < 0) index += push.extent;
    uint from = uint(index) * push.axisStride, rest = i;
    for (uint axis = kRank; axis > 0;) {
        --axis;
        from += rest % push.size[axis] * push.stride[axis];
        rest /= push.size[axis];
    }
    VALUE value = VALUE(0);
    if (index >= 0 && index < push.extent) value = VALUE(data[from]);
    destination[i] = ELEM(value);
}
