// variants: f32 f16 add_f32 add_f16
// Adds the slices that conv_gemm stored, in order, and finishes the convolution.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(constant_id = 1) const uint kPostOps = 0;
PUSH(uint total; uint slices; uint blocks; uint plane; float low; float high;);
layout(binding = 0) readonly buffer Partial { vec4 partial[]; };
layout(binding = 1) readonly buffer Bias { vec4 bias[]; };
layout(binding = 2) writeonly buffer Destination { ELEM4 destination[]; };
#define RESIDUAL 3
#include "conv_store.glsl"

void main() {
    const uint i = ELEMENT_INDEX;
    if (i >= push.total) return;
    VALUE4 sum = VALUE4(0);
    for (uint s = 0; s < push.slices; ++s) sum += partial[s * push.total + i];
    destination[i] = ELEM4(convResult(sum, bias[i / push.plane % push.blocks], i));
}
