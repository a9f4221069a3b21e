// variants: f32 f16
// 3-D convolutions, transposed or not, of any groups: lanes read single input channels, because they may belong to
// different groups. Weights: convolution [oc][ic / groups][taps], transposed [ic][oc / groups][taps].
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "convolution3d.glsl"

layout(binding = 0) readonly buffer Source { ELEM source[]; };
layout(binding = 1) readonly buffer Weights { ELEM weights[]; };
layout(binding = 2) readonly buffer Bias { vec4 bias[]; };
layout(binding = 3) writeonly buffer Destination { ELEM4 destination[]; };
#include "conv_store.glsl"

void main() {
    const uint i = ELEMENT_INDEX;
    if (i >= push.total) return;
    const uint plane = i / push.strip;
    const ivec3 at = outputPlace(i - plane * push.strip);
    const uint image = plane / push.blocks, block = plane - image * push.blocks;
    const uint inPlane = uint(push.extent[0] * push.extent[1] * push.extent[2]);
    const uint taps = uint(push.kernel[0] * push.kernel[1] * push.kernel[2]);

    VALUE4 sum = VALUE4(0);
    for (uint lane = 0; lane < 4; ++lane) {
        const uint oc = block * 4 + lane;
        if (oc >= push.channels) break;
        const uint group = oc / push.groupOut;
        const uint first = group * push.groupIn;
        // The distance from one input channel to the next.
        const uint step_ = kTransposed ? push.groupOut * taps : taps;
        const uint start =
            (kTransposed ? first * push.groupOut + oc - group * push.groupOut : oc * push.groupIn) * taps;
        VALUE total = VALUE(0);
        for (int kz = 0; kz < push.kernel[0]; ++kz) {
            const int z = place(at.x, kz, 0);
            if (z < 0) continue;
            for (int ky = 0; ky < push.kernel[1]; ++ky) {
                const int y = place(at.y, ky, 1);
                if (y < 0) continue;
                for (int kx = 0; kx < push.kernel[2]; ++kx) {
                    const int x = place(at.z, kx, 2);
                    if (x < 0) continue;
                    const uint pixel = uint((z * push.extent[1] + y) * push.extent[2] + x);
                    uint w = start + uint((kz * push.kernel[1] + ky) * push.kernel[2] + kx);
                    for (uint c = first; c < first + push.groupIn; ++c) {
                        total += VALUE(source[((image * push.inBlocks + c / 4) * inPlane + pixel) * 4 + c % 4]) *
                                 VALUE(weights[w]);
                        w += step_;
                    }
                }
            }
        }
        sum[lane] = total;
    }
    destination[i] = ELEM4(convResult(sum, bias[block], i));
}
