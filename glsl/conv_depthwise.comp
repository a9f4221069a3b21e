// variants: f32 f16 add_f32 add_f16
// One filter per channel: an invocation computes kRows outputs below one another of one channel quad, so that
// neighbouring invocations read neighbouring elements and a loaded input row serves several outputs. Weights:
// [tap][block][4].
#version 440
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "common.glsl"

layout(constant_id = 1) const int kKernelY = 3;
layout(constant_id = 2) const int kKernelX = 3;
layout(constant_id = 3) const int kStrideY = 1;
layout(constant_id = 4) const int kDilateY = 1;
layout(constant_id = 5) const int kRows = 4;
layout(constant_id = 6) const bool kShareRows = true;  // load whole columns of the window once
layout(constant_id = 7) const uint kPostOps = 0;
const int kSpan = kShareRows ? (kRows - 1) * kStrideY + (kKernelY - 1) * kDilateY + 1 : 1;

PUSH(uint total; uint strips; uint blocks; int ih; int iw; int oh; int ow; int strideX; int top; int left;
     int dilateX; float low; float high;);
layout(binding = 0) readonly buffer Source { ELEM4 source[]; };
layout(binding = 1) readonly buffer Weights { ELEM4 weights[]; };
layout(binding = 2) readonly buffer Bias { vec4 bias[]; };
layout(binding = 3) writeonly buffer Destination { ELEM4 destination[]; };
#define RESIDUAL 4
#include "conv_store.glsl"

void main() {
    const uint i = ELEMENT_INDEX;
    if (i >= push.total) return;
    uint rest = i / uint(push.ow);
    const int x = int(i - rest * uint(push.ow));
    const uint plane = rest / push.strips;  // image and block
    const int y = int(rest - plane * push.strips) * kRows;
    const uint block = plane % push.blocks;
    const uint base = plane * uint(push.ih * push.iw);
    const int y0 = y * kStrideY - push.top, x0 = x * push.strideX - push.left;

    VALUE4 sums[kRows];
    [[unroll]] for (int r = 0; r < kRows; ++r) sums[r] = VALUE4(0);
    if (kShareRows) {
        for (int kx = 0; kx < kKernelX; ++kx) {
            const int ix = x0 + kx * push.dilateX;
            if (uint(ix) >= uint(push.iw)) continue;
            VALUE4 column[kSpan];
            [[unroll]] for (int s = 0; s < kSpan; ++s)
                column[s] = uint(y0 + s) < uint(push.ih)
                                ? VALUE4(source[base + uint((y0 + s) * push.iw + ix)]) : VALUE4(0);
            [[unroll]] for (int ky = 0; ky < kKernelY; ++ky) {
                const VALUE4 w = VALUE4(weights[uint(ky * kKernelX + kx) * push.blocks + block]);
                [[unroll]] for (int r = 0; r < kRows; ++r) sums[r] += column[r * kStrideY + ky * kDilateY] * w;
            }
        }
    } else {
        for (int ky = 0; ky < kKernelY; ++ky) {
            for (int kx = 0; kx < kKernelX; ++kx) {
                const int ix = x0 + kx * push.dilateX;
                const VALUE4 w = VALUE4(weights[uint(ky * kKernelX + kx) * push.blocks + block]);
                [[unroll]] for (int r = 0; r < kRows; ++r) {
                    const int iy = y0 + r * kStrideY + ky * kDilateY;
                    if (uint(iy) < uint(push.ih) && uint(ix) < uint(push.iw))
                        sums[r] += VALUE4(source[base + uint(iy * push.iw + ix)]) * w;
                }
            }
        }
    }
    const VALUE4 add = bias[block];
    [[unroll]] for (int r = 0; r < kRows; ++r) {
        const uint at = plane * uint(push.oh * push.ow) + uint((y + r) * push.ow + x);
        if (y + r < push.oh) destination[at] = ELEM4(convResult(sums[r], add, at));
    }
}
