// variants: f32 f16
// Resizes channel-packed tensors in up to three axes from tables of taps: one output quad per invocation. Taps are
// added along a row first, then across rows, as on the CPU.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

// Taps per axis: depth, height, width.
layout(constant_id = 1) const uint kDepthTaps = 1;
layout(constant_id = 2) const uint kHeightTaps = 1;
layout(constant_id = 3) const uint kWidthTaps = 1;
// A tap t of position o is its source position, followed by its weight as bits.
PUSH(uint quads; uint depth; uint height; uint width; uint inDepth; uint inHeight; uint inWidth; uint heightTable;
     uint widthTable;);
layout(binding = 0) readonly buffer Source { ELEM4 source[]; };
layout(binding = 1) writeonly buffer Destination { ELEM4 destination[]; };
layout(binding = 2) readonly buffer Taps { uvec2 taps[]; };

void main() {
    const uint i = ELEMENT_INDEX;
    if (i >= push.quads) return;
    const uint x = i % push.width;
    uint rest = i / push.width;
    const uint y = rest % push.height;
    rest /= push.height;
    const uint z = rest % push.depth;
    const uint block = rest / push.depth;

    if (kDepthTaps * kHeightTaps * kWidthTaps == 1) {
        const uint row = (block * push.inDepth + taps[z].x) * push.inHeight + taps[push.heightTable + y].x;
        destination[i] = source[row * push.inWidth + taps[push.widthTable + x].x];
        return;
    }
    uvec2 across[kWidthTaps];
    for (uint t = 0; t < kWidthTaps; ++t) across[t] = taps[push.widthTable + x * kWidthTaps + t];
    VALUE4 total = VALUE4(0);
    for (uint dz = 0; dz < kDepthTaps; ++dz) {
        const uvec2 deep = taps[z * kDepthTaps + dz];
        for (uint dy = 0; dy < kHeightTaps; ++dy) {
            const uvec2 down = taps[push.heightTable + y * kHeightTaps + dy];
            const uint row = ((block * push.inDepth + deep.x) * push.inHeight + down.x) * push.inWidth;
            VALUE4 line = VALUE4(0);
            for (uint t = 0; t < kWidthTaps; ++t)
                line += VALUE4(source[row + across[t].x]) * uintBitsToFloat(across[t].y);
            total += line * (uintBitsToFloat(deep.y) * uintBitsToFloat(down.y));
        }
    }
    destination[i] = ELEM4(total);
}
