// variants: f32 f16 i32
// Copies boxes of up to four axes between the buffers of up to four inputs and the output. Offsets and strides count
// places of the buffers: elements, or quads of four.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(constant_id = 1) const bool kQuads = false;
PUSH(uint regions;);
struct Region {
    uint firstGroup;
    uint source;  // which buffer
    int sourceOffset;
    int offset;
    uint count;
    uint size[4];
    int sourceStride[4];
    int stride[4];
};
layout(binding = 0) writeonly buffer Destination { ELEM destination[]; };
layout(binding = 0) writeonly buffer Destination4 { ELEM4 destination4[]; };
#include "raster_sources.glsl"
layout(binding = 2) readonly buffer Source40 { ELEM4 quads0[]; };
layout(binding = 3) readonly buffer Source41 { ELEM4 quads1[]; };
layout(binding = 4) readonly buffer Source42 { ELEM4 quads2[]; };
layout(binding = 5) readonly buffer Source43 { ELEM4 quads3[]; };

void main() {
    const uint group = GROUP_INDEX;
    if (group >= push.groups) return;
    const uint at = regionOf(group);
    uint i = (group - regions[at].firstGroup) * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    if (i >= regions[at].count) return;
    int from = regions[at].sourceOffset, to = regions[at].offset;
    for (int axis = 3; axis >= 0; --axis) {
        const uint size = regions[at].size[axis];
        if (size == 1) continue;
        const uint rest = i / size;
        const int position = int(i - rest * size);
        from += position * regions[at].sourceStride[axis];
        to += position * regions[at].stride[axis];
        i = rest;
        if (rest == 0) break;
    }
    if (kQuads) {
        switch (regions[at].source) {
            case 0: destination4[to] = quads0[from]; break;
            case 1: destination4[to] = quads1[from]; break;
            case 2: destination4[to] = quads2[from]; break;
            default: destination4[to] = quads3[from]; break;
        }
    } else {
        switch (regions[at].source) {
            case 0: destination[to] = source0[from]; break;
            case 1: destination[to] = source1[from]; break;
            case 2: destination[to] = source2[from]; break;
            default: destination[to] = source3[from]; break;
        }
    }
}
