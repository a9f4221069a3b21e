// variants: f32
// Writes the results of each group behind those of the groups before, and -1 behind all.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

PUSH(uint maxKept;);
layout(binding = 0) readonly buffer Found { int found[]; };  // [group][maxKept]
layout(binding = 1) readonly buffer Counts { uint counts[]; };
layout(binding = 2) writeonly buffer List { int list[]; };

shared uint before, total;

void main() {
    const uint group = GROUP_INDEX;
    if (group >= push.groups) return;
    const uint thread = gl_LocalInvocationID.x, threads = gl_WorkGroupSize.x;
    if (thread == 0) before = total = 0;
    barrier();
    uint own = 0, all = 0;
    for (uint i = thread; i < push.groups; i += threads) {
        all += counts[i];
        if (i < group) own += counts[i];
    }
    atomicAdd(before, own);
    atomicAdd(total, all);
    barrier();
    for (uint i = thread; i < counts[group]; i += threads) list[before + i] = found[group * push.maxKept + i];
    const uint rest = push.groups * push.maxKept - total, share = (rest + push.groups - 1) / push.groups;
    const uint begin = total + min(rest, group * share), end = total + min(rest, (group + 1) * share);
    for (uint i = begin + thread; i < end; i += threads) list[i] = -1;
}
