// variants: f32 f16
// 3-D convolutions, transposed or not, whose groups are whole blocks of channels: an invocation computes one channel
// quad of kPixels pixels, so that weights serve several of them and neighbouring invocations read neighbouring
// elements. Weights: [group][tap][input block][4 input lanes][output quad][4], zeros in the padding lanes. Padding
// lanes of the input may hold anything, even NaN: they are masked before they are multiplied.
#version 440
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "common.glsl"
#include "convolution3d.glsl"

layout(constant_id = 4) const uint kTail = 0;  // channels in the last input block; 0: all four
layout(binding = 0) readonly buffer Source { ELEM4 source[]; };
layout(binding = 1) readonly buffer Weights { ELEM4 weights[]; };
layout(binding = 2) readonly buffer Bias { vec4 bias[]; };
layout(binding = 3) writeonly buffer Destination { ELEM4 destination[]; };
#include "conv_store.glsl"

VALUE4 masked(VALUE4 v) {
    return VALUE4(v.x, kTail > 1 ? v.y : 0, kTail > 2 ? v.z : 0, 0);
}

void main() {
    const uint i = ELEMENT_INDEX;
    if (i >= push.total) return;
    const uint plane = i / push.strip, first = i - plane * push.strip;  // image and block
    const uint image = plane / push.blocks, block = plane - image * push.blocks;
    const uint depthBlocks = (push.groupIn + 3) / 4, quads = (push.groupOut + 3) / 4;
    const uint group = block / quads, quad = block - group * quads;
    const uint inPlane = uint(push.extent[0] * push.extent[1] * push.extent[2]);
    const uint outPlane = uint(push.outExtent[0] * push.outExtent[1] * push.outExtent[2]);
    const uint base = (image * push.inBlocks + group * depthBlocks) * inPlane;

    ivec3 at[kPixels];
    VALUE4 sums[kPixels];
    [[unroll]] for (uint p = 0; p < kPixels; ++p) {
        at[p] = outputPlace(min(first + p * push.strip, outPlane - 1));
        sums[p] = VALUE4(0);
    }
    uint row = group * uint(push.kernel[0] * push.kernel[1] * push.kernel[2]) * depthBlocks;
    for (int kz = 0; kz < push.kernel[0]; ++kz)
        for (int ky = 0; ky < push.kernel[1]; ++ky)
            for (int kx = 0; kx < push.kernel[2]; ++kx, row += depthBlocks) {
                uint from[kPixels];
                bool inside[kPixels];
                bool any_ = false;
                [[unroll]] for (uint p = 0; p < kPixels; ++p) {
                    const int z = place(at[p].x, kz, 0), y = place(at[p].y, ky, 1), x = place(at[p].z, kx, 2);
                    inside[p] = z >= 0 && y >= 0 && x >= 0;
                    from[p] = inside[p] ? base + uint((z * push.extent[1] + y) * push.extent[2] + x) : 0;
                    any_ = any_ || inside[p];
                }
                if (!any_) continue;
                for (uint b = 0; b < depthBlocks; ++b) {
                    VALUE4 w[4];
                    [[unroll]] for (uint lane = 0; lane < 4; ++lane)
                        w[lane] = VALUE4(weights[((row + b) * 4 + lane) * quads + quad]);
                    [[unroll]] for (uint p = 0; p < kPixels; ++p) {
                        VALUE4 v = VALUE4(0);
                        if (inside[p]) v = VALUE4(source[from[p] + b * inPlane]);
                        if (kTail != 0 && b == depthBlocks - 1) v = masked(v);
                        sums[p] += v.x * w[0] + v.y * w[1] + v.z * w[2] + v.w * w[3];
                    }
                }
            }
    [[unroll]] for (uint p = 0; p < kPixels; ++p) {
        const uint pixel = first + p * push.strip;
        const uint to = plane * outPlane + pixel;
        if (pixel < outPlane) destination[to] = ELEM4(convResult(sums[p], bias[block], to));
    }
}
