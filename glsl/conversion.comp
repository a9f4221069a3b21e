// variants: f32 f16 i32 up down
// Changes storage: row-major <-> channel-packed, and the element width between host and device (up: fp16 -> fp32, down:
// fp32 -> fp16). An invocation converts one quad of the packed side, or of both where they have the same order. Padding
// lanes become 0, and nothing behind the row-major side of a change of storage is accessed.
#version 440
#extension GL_GOOGLE_include_directive : require
#if defined(UP) || defined(DOWN)
#define HALF
#endif
#include "common.glsl"
#ifdef UP
#define SOURCE float16_t
#define SOURCE4 f16vec4
#define DESTINATION float
#define DESTINATION4 vec4
#elif defined(DOWN)
#define SOURCE float
#define SOURCE4 vec4
#define DESTINATION float16_t
#define DESTINATION4 f16vec4
#else
#define SOURCE ELEM
#define SOURCE4 ELEM4
#define DESTINATION ELEM
#define DESTINATION4 ELEM4
#endif

layout(constant_id = 1) const uint kSourceBlock = 1;
layout(constant_id = 2) const uint kChannelBlock = 1;
PUSH(uint quads; uint channels; uint plane;);
layout(binding = 0) readonly buffer Source { SOURCE source[]; };
layout(binding = 0) readonly buffer Source4 { SOURCE4 source4[]; };
layout(binding = 1) writeonly buffer Destination { DESTINATION destination[]; };
layout(binding = 1) writeonly buffer Destination4 { DESTINATION4 destination4[]; };

void main() {
    const uint i = ELEMENT_INDEX;
    if (i >= push.quads) return;
    if (kSourceBlock == kChannelBlock) {
        destination4[i] = DESTINATION4(VALUE4(source4[i]));
        return;
    }
    const uint block = i / push.plane;
    const uint pixel = i - block * push.plane;
    const uint blocks = (push.channels + 3) / 4;
    const uint n = block / blocks;
    const uint channel = (block - n * blocks) * 4;
    const uint lanes = min(4, push.channels - channel);
    uint at = (n * push.channels + channel) * push.plane + pixel;  // on the row-major side
    if (kChannelBlock == 1) {
        const VALUE4 value = VALUE4(source4[i]);
        for (uint lane = 0; lane < 4; ++lane, at += push.plane)
            if (lane < lanes) destination[at] = DESTINATION(value[lane]);
    } else {
        VALUE4 value = VALUE4(0);
        for (uint lane = 0; lane < 4; ++lane, at += push.plane)
            if (lane < lanes) value[lane] = VALUE(source[at]);
        destination4[i] = DESTINATION4(value);
    }
}
