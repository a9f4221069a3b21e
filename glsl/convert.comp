// variants: f32 f16 i32 up down
// Changes storage: row-major <-> channel-packed, and the element width between host and device (up: fp16 -> fp32,
// down: fp32 -> fp16). Pad lanes become 0.
#version 450
#extension GL_GOOGLE_include_directive : require
#if defined(UP) || defined(DOWN)
#define HALF
#endif
#include "common.glsl"
#ifdef UP
#define SOURCE float16_t
#define DESTINATION float
#elif defined(DOWN)
#define SOURCE float
#define DESTINATION float16_t
#else
#define SOURCE ELEM
#define DESTINATION ELEM
#endif

layout(constant_id = 1) const uint kSourcePack = 1;
layout(constant_id = 2) const uint kPack = 1;
PUSH(uint total; uint channels; uint plane;);
layout(binding = 0) readonly buffer Source { SOURCE source[]; };
layout(binding = 1) writeonly buffer Destination { DESTINATION destination[]; };

void main() {
    const uint i = ELEMENT_INDEX;
    if (i >= push.total) return;
    if (kSourcePack == kPack) {
        destination[i] = DESTINATION(source[i]);
        return;
    }
    const uint lane = i % kPack;
    const uint pixel = i / kPack % push.plane;
    const uint block = i / kPack / push.plane;
    const uint blocks = (push.channels + kPack - 1) / kPack;
    const uint channel = block % blocks * kPack + lane;
    const uint n = block / blocks;
    const uint sourceBlocks = (push.channels + kSourcePack - 1) / kSourcePack;
    const uint at =
        ((n * sourceBlocks + channel / kSourcePack) * push.plane + pixel) * kSourcePack + channel % kSourcePack;
    VALUE value = 0;
    if (channel < push.channels) value = VALUE(source[at]);
    destination[i] = DESTINATION(value);
}
