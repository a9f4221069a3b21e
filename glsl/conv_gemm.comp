// variants: f32 f16 add_f32 add_f16 q8_f32 q8_f16 q8_add_f32 q8_add_f16
// Convolution as a product: [pixels] x [taps, input channels] times [taps, input channels] x [output channels].
//
// A work group computes a tile of kPixelThreads * kPixels pixels and kQuadThreads * kQuads channel quads; it walks the
// depth (taps times input blocks) kDepth blocks at a time through shared memory. An invocation always stages the same
// pixel, so that its place in the image is computed once.
//
// Weights: [channel group][tap][input block][4 input lanes][output quad][4], zeros in the padding lanes
// (conv_weights.glsl). Padding lanes of the input may hold anything, even NaN: they are masked before they are
// multiplied.
//
// Transposed convolutions: outputs whose coordinates agree modulo the stride share their taps; they form a phase, a
// dense convolution of its own. Weights are sorted by phase.
#version 440
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "common.glsl"

layout(constant_id = 1) const uint kPixelThreads = 8;
layout(constant_id = 2) const uint kQuadThreads = 8;
layout(constant_id = 3) const uint kPixels = 8;
layout(constant_id = 4) const uint kQuads = 2;
layout(constant_id = 5) const uint kDepth = 4;
layout(constant_id = 6) const uint kForm = 0;  // kPoint, kWindow or kTransposed
layout(constant_id = 7) const uint kTail = 0;  // channels in the last input block; 0: all four
layout(constant_id = 8) const uint kPostOps = 0;
layout(constant_id = 9) const bool kPartial = false;  // stores raw sums of a slice of the depth, for conv_gemm_combine
const uint kPoint = 0, kWindow = 1, kTransposed = 2;

PUSH(uint quadTiles; uint pixelTiles; uint channelGroups; uint slices; uint sliceDepth; uint batch;
     uint inBlocks; uint depthBlocks; uint outBlocks; uint quads; uint firstQuad; int ih; int iw; int oh; int ow;
     int strideY; int strideX; int top; int left;  // top, left: padding; if kTransposed, (-padding) mod stride
     int rateY; int rateX;                          // input steps from one tap to the next
     int kh; int kw; int dilateY; int dilateX; int shiftY; int shiftX;  // if kTransposed, the true padding
     float low; float high;);
layout(binding = 0) readonly buffer Source { ELEM4 source[]; };
layout(binding = 2) readonly buffer Bias { vec4 bias[]; };
layout(binding = 3) writeonly buffer Destination { ELEM4 destination[]; };
layout(binding = 3) writeonly buffer Partial { vec4 partial[]; };
#define RESIDUAL 4
#include "conv_store.glsl"
#define CODE_CONSTANTS 10
#include "conv_weights.glsl"

const uint kThreads = kPixelThreads * kQuadThreads;
const uint kTilePixels = kPixelThreads * kPixels;
const uint kTileQuads = kQuadThreads * kQuads;
const uint kStagers = kThreads / kTilePixels;  // invocations that stage the same pixel

shared VALUE4 pixelTile[kDepth * kTilePixels];
shared VALUE4 weightTile[kDepth * 4 * kTileQuads];

// The outputs of one phase along one axis, and the taps that reach them.
struct Axis {
    int phase, step;   // outputs phase, phase + step, ...
    int count;         // the number of these outputs
    int taps, before;  // the taps of this phase, and of all phases before it
    int origin;        // the place that the first tap of the first output reads
};

Axis dense(int outputs, int taps, int padding) {
    return Axis(0, 1, outputs, taps, 0, -padding);
}

Axis phaseAxis(int phase, int outputs, int kernel, int stride, int dilate, int offset, int shift) {
    Axis a = Axis(phase, stride, max((outputs - phase + stride - 1) / stride, 0), 0, 0, 0);
    for (int k = 0; k < kernel; ++k) {
        const int residue = (k * dilate + offset) % stride;
        if (residue < phase) ++a.before;
        if (residue == phase && a.taps++ == 0) a.origin = (phase + shift - k * dilate) / stride;
    }
    return a;
}

VALUE4 masked(VALUE4 v) {
    return VALUE4(v.x, kTail > 1 ? v.y : 0, kTail > 2 ? v.z : 0, 0);
}

void main() {
    uint rest = GROUP_INDEX;
    if (rest >= push.groups) return;
    const uint quadTile = rest % push.quadTiles;
    rest /= push.quadTiles;
    const uint pixelTileIndex = rest % push.pixelTiles;
    rest /= push.pixelTiles;
    const uint channelGroup = rest % push.channelGroups;
    rest /= push.channelGroups;
    const uint slice = rest % push.slices;
    const int phase = int(rest / push.slices);

    Axis rows = dense(push.oh, push.kh, push.top);
    Axis columns = dense(push.ow, push.kw, push.left);
    int pixelStepY = push.strideY, pixelStepX = push.strideX;
    if (kForm == kTransposed) {
        const int phaseY = phase / push.strideX;
        rows = phaseAxis(phaseY, push.oh, push.kh, push.strideY, push.dilateY, push.top, push.shiftY);
        columns = phaseAxis(phase - phaseY * push.strideX, push.ow, push.kw, push.strideX, push.dilateX,
                            push.left, push.shiftX);
        pixelStepY = pixelStepX = 1;
    }
    const uint plane = uint(rows.count * columns.count);
    const uint pixels = plane * push.batch;
    const uint firstPixel = pixelTileIndex * kTilePixels;
    if (firstPixel >= pixels) return;  // the first phase has the most

    const uint depth = uint(rows.taps * columns.taps) * push.depthBlocks;
    const uint begin = slice * push.sliceDepth;
    const uint end = min(begin + push.sliceDepth, depth);
    const uint firstRow =
        ((channelGroup * uint(push.kh) + uint(rows.before)) * uint(push.kw) +
         uint(rows.taps * columns.before)) * push.depthBlocks;

    // The pixel that this invocation stages.
    const uint thread = gl_LocalInvocationID.x;
    const uint slot = thread % kTilePixels, stager = thread / kTilePixels;
    const uint inPlane = uint(push.ih * push.iw);
    const bool staged = firstPixel + slot < pixels;
    const uint image = (firstPixel + slot) / plane;
    const uint inImage = (firstPixel + slot) - image * plane;
    const int row = int(inImage) / columns.count;
    const int y0 = row * pixelStepY + rows.origin;
    const int x0 = (int(inImage) - row * columns.count) * pixelStepX + columns.origin;
    const uint base = (image * push.inBlocks + channelGroup * push.depthBlocks) * inPlane +
                      (kForm == kPoint ? inImage : 0);
    uint k = begin + stager;
    uint block = k;
    int ky = 0, kx = 0;
    if (kForm != kPoint && columns.taps > 0) {
        const int tap = int(k / push.depthBlocks);
        block = k - uint(tap) * push.depthBlocks;
        ky = tap / columns.taps;
        kx = tap - ky * columns.taps;
    }

    const uint tx = thread % kPixelThreads, ty = thread / kPixelThreads;
    const uint firstQuad = quadTile * kTileQuads;
    const uint quadBase = push.firstQuad + channelGroup * push.quads;
    VALUE4 sums[kPixels * kQuads];
    [[unroll]] for (uint i = 0; i < kPixels * kQuads; ++i) sums[i] = VALUE4(0);

    for (uint step = begin; step < end; step += kDepth) {
        [[unroll]] for (uint i = 0; i < kDepth; i += kStagers) {
            VALUE4 v = VALUE4(0);
            const int y = y0 + ky * push.rateY, x = x0 + kx * push.rateX;
            const bool inside =
                kForm == kPoint || (uint(y) < uint(push.ih) && uint(x) < uint(push.iw));
            if (staged && k < end && inside) {
                v = VALUE4(source[base + block * inPlane + (kForm == kPoint ? 0u : uint(y * push.iw + x))]);
                if (kTail != 0 && block == push.depthBlocks - 1) v = masked(v);
            }
            pixelTile[(i + stager) * kTilePixels + slot] = v;
            k += kStagers;
            block += kStagers;
            if (kForm != kPoint) {
                while (block >= push.depthBlocks) {
                    block -= push.depthBlocks;
                    if (++kx == columns.taps) {
                        kx = 0;
                        ++ky;
                    }
                }
            }
        }
        [[unroll]] for (uint i = 0; i < kDepth * 4 * kTileQuads; i += kThreads) {
            const uint at = i + thread;
            if (at < kDepth * 4 * kTileQuads) {
                const uint line = at / kTileQuads, quad = firstQuad + at % kTileQuads;
                VALUE4 w = VALUE4(0);
                if (step + line / 4 < end && quad < push.quads)
                    w = convWeight((firstRow + step) * 4 + line, quad, (step + line / 4) % push.depthBlocks,
                                   quadBase + quad);
                weightTile[at] = w;
            }
        }
        barrier();
        for (uint d = 0; d < kDepth; ++d) {
            VALUE4 a[kPixels];
            [[unroll]] for (uint p = 0; p < kPixels; ++p)
                a[p] = pixelTile[d * kTilePixels + p * kPixelThreads + tx];
            [[unroll]] for (uint lane = 0; lane < 4; ++lane) {
                [[unroll]] for (uint q = 0; q < kQuads; ++q) {
                    const VALUE4 w = weightTile[(d * 4 + lane) * kTileQuads + q * kQuadThreads + ty];
                    [[unroll]] for (uint p = 0; p < kPixels; ++p) sums[p * kQuads + q] += a[p][lane] * w;
                }
            }
        }
        barrier();
    }

    const uint outPlane = uint(push.oh * push.ow);
    const uint slicePart = slice * push.batch * push.outBlocks * outPlane;
    [[unroll]] for (uint p = 0; p < kPixels; ++p) {
        const uint pixel = firstPixel + p * kPixelThreads + tx;
        if (pixel < pixels) {
            const uint n = pixel / plane;
            uint place = pixel - n * plane;
            if (kForm == kTransposed) {
                const uint y = place / uint(columns.count), x = place - y * uint(columns.count);
                place = (y * uint(rows.step) + uint(rows.phase)) * uint(push.ow) +
                        x * uint(columns.step) + uint(columns.phase);
            }
            [[unroll]] for (uint q = 0; q < kQuads; ++q) {
                const uint quad = firstQuad + q * kQuadThreads + ty;
                if (quad < push.quads) {
                    const uint at = (n * push.outBlocks + quadBase + quad) * outPlane + place;
                    if (kPartial)
                        partial[slicePart + at] = sums[p * kQuads + q];
                    else
                        destination[at] = ELEM4(convResult(sums[p * kQuads + q], bias[quadBase + quad], at));
                }
            }
        }
    }
}
