// variants: i32
// Looks for indices outside of their axes. Each group has push.chunk elements of the index tensor. It writes the
// position of its first wrong one, or 0xffffffff, and the index there, without the part that its batch adds.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(constant_id = 1) const uint kDepth = 1;
PUSH(uint total; uint chunk; uint rowsPerBatch; int batchStep; int extent[9];);
layout(binding = 0) readonly buffer Indices { int indices[]; };
layout(binding = 1) writeonly buffer Report { uvec2 report[]; };

shared uint first;

int indexAt(uint at) {
    const int value = indices[at];
    return value - int(at / kDepth / push.rowsPerBatch) * push.batchStep;
}

void main() {
    const uint group = GROUP_INDEX;
    if (group >= push.groups) return;
    if (gl_LocalInvocationID.x == 0) first = 0xffffffffu;
    barrier();
    const uint begin = group * push.chunk, end = min(begin + push.chunk, push.total);
    for (uint at = begin + gl_LocalInvocationID.x; at < end; at += gl_WorkGroupSize.x) {
        const int index = indexAt(at), extent = push.extent[at % kDepth];
        if (index < -extent || index >= extent) {
            atomicMin(first, at);
            break;
        }
    }
    barrier();
    if (gl_LocalInvocationID.x == 0)
        report[group] = uvec2(first, first == 0xffffffffu ? 0u : uint(indexAt(first)));
}
