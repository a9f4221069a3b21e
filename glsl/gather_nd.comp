// variants: f32 f16 i32
// Rows of kDepth indices, counted from the end when negative; each copies a slice of the data. A row with an index
// outside gives zeros. Every index of a row in batch b also contains b * batchStep.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(constant_id = 1) const uint kDepth = 1;
PUSH(uint total; uint slice; uint rowsPerBatch; int batchStep; int extent[9]; uint stride[9];);
layout(binding = 0) readonly buffer Data { ELEM data[]; };
layout(binding = 1) readonly buffer Indices { int indices[]; };
layout(binding = 2) writeonly buffer Destination { ELEM destination[]; };

void main() {
    const uint i = ELEMENT_INDEX;
    if (i >= push.total) return;
    const uint row = i / push.slice;
    uint from = i - row * push.slice;
    bool inside = true;
    const int share = int(row / push.rowsPerBatch) * push.batchStep;
    from += kDepth > 0 ? uint(share) * push.stride[kDepth - 1] : 0;
    for (uint j = 0; j < kDepth; ++j) {
        int index = indices[row * kDepth + j] - share;
        if (index < 0) index += push.extent[j];
        inside = inside && index >= 0 && index < push.extent[j];
        from += uint(index) * push.stride[j];
    }
    VALUE value = VALUE(0);
    if (inside) value = VALUE(data[from]);
    destination[i] = ELEM(value);
}
