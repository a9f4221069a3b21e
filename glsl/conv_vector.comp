// variants: f32 f16 add_f32 add_f16 q8_f32 q8_f16 q8_add_f32 q8_add_f16
// 1x1 convolution of very few pixels (fully connected layers): a work group computes kQuadThreads channel quads, and
// its other invocations divide the input blocks. Weights as in conv_gemm.
#version 440
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "common.glsl"

layout(constant_id = 1) const uint kQuadThreads = 4;
layout(constant_id = 2) const uint kSlices = 16;  // a power of two; the local size is the product of both
layout(constant_id = 3) const uint kPixels = 1;
layout(constant_id = 4) const uint kTail = 0;  // channels in the last input block; 0: all four
layout(constant_id = 5) const uint kPostOps = 0;

PUSH(uint quadTiles; uint pixels; uint plane; uint inBlocks; uint outBlocks; uint quads; uint firstQuad;
     float low; float high;);
layout(binding = 0) readonly buffer Source { ELEM4 source[]; };
layout(binding = 2) readonly buffer Bias { vec4 bias[]; };
layout(binding = 3) writeonly buffer Destination { ELEM4 destination[]; };
#define RESIDUAL 4
#include "conv_store.glsl"
#define CODE_CONSTANTS 6
#include "conv_weights.glsl"

shared VALUE4 parts[kQuadThreads * kSlices * kPixels];

void main() {
    const uint group = GROUP_INDEX;
    if (group >= push.groups) return;
    const uint thread = gl_LocalInvocationID.x;
    const uint slice = thread / kQuadThreads;
    const uint quad = group % push.quadTiles * kQuadThreads + thread % kQuadThreads;
    const uint firstPixel = group / push.quadTiles * kPixels;

    uint bases[kPixels];
    VALUE4 sums[kPixels];
    [[unroll]] for (uint p = 0; p < kPixels; ++p) {
        const uint pixel = min(firstPixel + p, push.pixels - 1), n = pixel / push.plane;
        bases[p] = n * push.inBlocks * push.plane + pixel - n * push.plane;
        sums[p] = VALUE4(0);
    }
    if (quad < push.quads) {
        for (uint block = slice; block < push.inBlocks; block += kSlices) {
            VALUE4 w[4];
            [[unroll]] for (uint lane = 0; lane < 4; ++lane)
                w[lane] = convWeight(block * 4 + lane, quad, block, push.firstQuad + quad);
            const bool tail = kTail != 0 && block == push.inBlocks - 1;
            [[unroll]] for (uint p = 0; p < kPixels; ++p) {
                VALUE4 v = VALUE4(source[bases[p] + block * push.plane]);
                if (tail) v = VALUE4(v.x, kTail > 1 ? v.y : 0, kTail > 2 ? v.z : 0, 0);
                sums[p] += v.x * w[0] + v.y * w[1] + v.z * w[2] + v.w * w[3];
            }
        }
    }
    [[unroll]] for (uint p = 0; p < kPixels; ++p) parts[p * kQuadThreads * kSlices + thread] = sums[p];
    barrier();
    for (uint half_ = kSlices / 2; half_ > 0; half_ /= 2) {
        if (slice < half_) {
            [[unroll]] for (uint p = 0; p < kPixels; ++p) {
                const uint at = p * kQuadThreads * kSlices + thread;
                parts[at] += parts[at + half_ * kQuadThreads];
            }
        }
        barrier();
    }
    // Slice p stores pixel p; the host limits the pixels to the number of slices.
    const uint pixel = firstPixel + slice;
    if (slice < kPixels && pixel < push.pixels && quad < push.quads) {
        const uint n = pixel / push.plane, place = pixel - n * push.plane;
        const VALUE4 sum = parts[slice * kQuadThreads * kSlices + thread % kQuadThreads];
        const uint out_ = push.firstQuad + quad;
        const uint at = (n * push.outBlocks + out_) * push.plane + place;
        destination[at] = ELEM4(convResult(sum, bias[out_], at));
    }
}
