// variants: f32 f16 i32
// Copies regions of up to four inputs, element by element. Offsets and strides count elements of the logical order;
// each side may be stored row-major or channel-packed.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(constant_id = 1) const uint kChannelBlock = 1;
PUSH(uint regions; uint channels; uint plane;);
struct Region {
    uint firstGroup;
    uint source;                 // which buffer
    uint channelBlock, channels, plane;  // of the source
    int sourceOffset;
    int offset;
    uint size[3];
    int sourceStride[3];
    int stride[3];
};
layout(binding = 0) writeonly buffer Destination { ELEM destination[]; };
#include "raster_sources.glsl"

uint stored(uint element, uint channelBlock, uint channels, uint plane) {
    if (channelBlock == 1) return element;
    const uint line = element / plane;
    const uint pixel = element - line * plane;
    const uint n = line / channels;
    const uint channel = line - n * channels;
    uint blocks = (channels + channelBlock - 1) / channelBlock;
    return ((n * blocks + channel / channelBlock) * plane + pixel) * channelBlock + channel % channelBlock;
}

void main() {
    const uint group = GROUP_INDEX;
    if (group >= push.groups) return;
    const Region r = regions[regionOf(group)];
    uint i = (group - r.firstGroup) * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    if (i >= r.size[0] * r.size[1] * r.size[2]) return;
    const int z = int(i % r.size[2]);
    i /= r.size[2];
    const int y = int(i % r.size[1]);
    const int x = int(i / r.size[1]);
    const uint from = stored(uint(r.sourceOffset + x * r.sourceStride[0] + y * r.sourceStride[1] + z * r.sourceStride[2]),
                             r.channelBlock, r.channels, r.plane);
    const uint to = stored(uint(r.offset + x * r.stride[0] + y * r.stride[1] + z * r.stride[2]), kChannelBlock, push.channels,
                           push.plane);
    switch (r.source) {
        case 0: destination[to] = source0[from]; break;
        case 1: destination[to] = source1[from]; break;
        case 2: destination[to] = source2[from]; break;
        default: destination[to] = source3[from]; break;
    }
}
