// variants: i32
// The steps of a bitonic sort that stay inside of blocks of kBlock entries, in shared memory: for runs of push.first
// entries up to runs of push.last.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "scatter_order.glsl"

layout(constant_id = 1) const uint kBlock = 1024;  // a power of two
PUSH(uint first; uint last;);
layout(binding = 0) buffer List { uvec2 list[]; };

shared uvec2 block[kBlock];

void main() {
    const uint group = GROUP_INDEX;
    if (group >= push.groups) return;
    const uint thread = gl_LocalInvocationID.x, threads = gl_WorkGroupSize.x, start = group * kBlock;
    for (uint i = thread; i < kBlock; i += threads) block[i] = list[start + i];
    barrier();
    for (uint size = push.first; size <= push.last; size *= 2)
        for (uint step_ = min(size, kBlock) / 2; step_ > 0; step_ /= 2) {
            for (uint i = thread; i < kBlock / 2; i += threads) {
                const uint a = i / step_ * step_ * 2 + i % step_, b = a + step_;
                const bool forward = ((start + a) & size) == 0;
                const uvec2 low = block[a], high = block[b];
                if (precedes(high, low) == forward) {
                    block[a] = high;
                    block[b] = low;
                }
            }
            barrier();
        }
    for (uint i = thread; i < kBlock; i += threads) list[start + i] = block[i];
}
