// variants: f32 f16 add_f32 add_f16
// Transposed convolution with one filter per channel: each output gathers the taps that reach it.
// Weights: [tap][block][4].
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(constant_id = 1) const int kKernelY = 2;
layout(constant_id = 2) const int kKernelX = 2;
layout(constant_id = 3) const int kStrideY = 2;
layout(constant_id = 4) const int kStrideX = 2;
layout(constant_id = 5) const uint kPostOps = 0;

PUSH(uint total; uint blocks; int ih; int iw; int oh; int ow; int top; int left; int dilateY; int dilateX;
     float low; float high;);
layout(binding = 0) readonly buffer Source { ELEM4 source[]; };
layout(binding = 1) readonly buffer Weights { ELEM4 weights[]; };
layout(binding = 2) readonly buffer Bias { vec4 bias[]; };
layout(binding = 3) writeonly buffer Destination { ELEM4 destination[]; };
#define RESIDUAL 4
#include "conv_store.glsl"

void main() {
    const uint i = ELEMENT_INDEX;
    if (i >= push.total) return;
    const uint rest = i / uint(push.ow);
    const int x = int(i - rest * uint(push.ow)) + push.left;
    const uint plane = rest / uint(push.oh);  // image and block
    const int y = int(rest - plane * uint(push.oh)) + push.top;
    const uint block = plane % push.blocks;
    const uint base = plane * uint(push.ih * push.iw);
    VALUE4 sum = VALUE4(0);
    for (int ky = 0; ky < kKernelY; ++ky) {
        const int up = y - ky * push.dilateY, iy = up / kStrideY;
        if (up < 0 || iy * kStrideY != up || iy >= push.ih) continue;
        for (int kx = 0; kx < kKernelX; ++kx) {
            const int along = x - kx * push.dilateX, ix = along / kStrideX;
            if (along < 0 || ix * kStrideX != along || ix >= push.iw) continue;
            sum += VALUE4(source[base + uint(iy * push.iw + ix)]) *
                   VALUE4(weights[uint(ky * kKernelX + kx) * push.blocks + block]);
        }
    }
    destination[i] = ELEM4(convResult(sum, bias[block], i));
}
