// variants: f32 f16 add_f32 add_f16
// Any convolution with row-major weights: groups that do not fill blocks, and weights that are tensors. An invocation
// computes one pixel of one channel quad; lanes read single input channels, because they may belong to different
// groups. Weights: convolution [oc][ic / groups][taps], transposed [ic][oc / groups][taps].
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(constant_id = 1) const bool kTransposed = false;
layout(constant_id = 2) const bool kBias = false;
layout(constant_id = 3) const uint kPostOps = 0;

PUSH(uint total; uint blocks; uint inBlocks; uint channels; uint groupIn; uint groupOut; int kh; int kw; int ih;
     int iw; int oh; int ow; int strideY; int strideX; int top; int left; int dilateY; int dilateX; float low;
     float high;);
layout(binding = 0) readonly buffer Source { ELEM source[]; };
layout(binding = 1) readonly buffer Weights { ELEM weights[]; };
layout(binding = 2) readonly buffer Bias { ELEM bias[]; };
layout(binding = 3) writeonly buffer Destination { ELEM4 destination[]; };
#define RESIDUAL 4
#include "conv_store.glsl"

// Returns the place that tap k of output o reads on an axis; negative: none.
int place(int o, int k, int stride, int pad, int dilate, int extent) {
    int at = kTransposed ? o + pad - k * dilate : o * stride - pad + k * dilate;
    if (kTransposed) {
        if (at < 0 || at % stride != 0) return -1;
        at /= stride;
    }
    return at < extent ? at : -1;
}

void main() {
    const uint i = ELEMENT_INDEX;
    if (i >= push.total) return;
    const uint line = i / uint(push.ow);
    const int x = int(i - line * uint(push.ow));
    const uint plane = line / uint(push.oh);
    const int y = int(line - plane * uint(push.oh));
    const uint image = plane / push.blocks, block = plane - image * push.blocks;
    const uint inPlane = uint(push.ih * push.iw);
    const uint taps = uint(push.kh * push.kw);

    VALUE4 sum = VALUE4(0), add = VALUE4(0);
    for (uint lane = 0; lane < 4; ++lane) {
        const uint oc = block * 4 + lane;
        if (oc >= push.channels) break;
        const uint group = oc / push.groupOut;
        const uint first = group * push.groupIn;
        // The distance from one input channel to the next.
        const uint step = kTransposed ? push.groupOut * taps : taps;
        const uint start =
            (kTransposed ? first * push.groupOut + oc - group * push.groupOut : oc * push.groupIn) * taps;
        VALUE total = VALUE(0);
        for (int ky = 0; ky < push.kh; ++ky) {
            const int iy = place(y, ky, push.strideY, push.top, push.dilateY, push.ih);
            if (iy < 0) continue;
            for (int kx = 0; kx < push.kw; ++kx) {
                const int ix = place(x, kx, push.strideX, push.left, push.dilateX, push.iw);
                if (ix < 0) continue;
                const uint pixel = uint(iy * push.iw + ix);
                uint w = start + uint(ky * push.kw + kx);
                for (uint c = first; c < first + push.groupIn; ++c) {
                    const uint at = ((image * push.inBlocks + c / 4) * inPlane + pixel) * 4 + c % 4;
                    total += VALUE(source[at]) * VALUE(weights[w]);
                    w += step;
                }
            }
        }
        sum[lane] = total;
        if (kBias) add[lane] = VALUE(bias[oc]);
    }
    destination[i] = ELEM4(convResult(sum, add, i));
}
