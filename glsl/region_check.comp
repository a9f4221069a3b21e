// variants: f32 i32
// Looks for regions that name no picture of the batch. Each group has push.chunk regions and writes the number of its
// first wrong one, or 0xffffffff, and the picture that it names, as the bits of a float or an int.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "region.glsl"

PUSH(uint regions; uint chunk; uint stride; int pictures;);
layout(binding = 0) readonly buffer Pictures { ELEM pictures[]; };
layout(binding = 1) writeonly buffer Report { uvec2 report[]; };

shared uint first;

void main() {
    const uint group = GROUP_INDEX;
    if (group >= push.groups) return;
    if (gl_LocalInvocationID.x == 0) first = 0xffffffffu;
    barrier();
    const uint begin = group * push.chunk, end = min(begin + push.chunk, push.regions);
    for (uint at = begin + gl_LocalInvocationID.x; at < end; at += gl_WorkGroupSize.x)
        if (!isPicture(VALUE(pictures[at * push.stride]), push.pictures)) {
            atomicMin(first, at);
            break;
        }
    barrier();
    if (gl_LocalInvocationID.x != 0) return;
    uint bits = 0;
    if (first != 0xffffffffu) {
#ifdef INT
        bits = uint(pictures[first * push.stride]);
#else
        bits = floatBitsToUint(pictures[first * push.stride]);
#endif
    }
    report[group] = uvec2(first, bits);
}
