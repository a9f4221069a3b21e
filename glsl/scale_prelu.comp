// variants: f32 f16
// One or two values per channel: PReLU (x < 0 ? a x : x) and Scale (a x + b), over whole quads of the storage. The
// epilogue follows.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(constant_id = 1) const uint kMap = 0;  // 0 PReLU, 1 Scale
// The channels of a quad. 0: storage packed; 1: one channel, 4 divides `inner`; 2: four adjacent ones, inner is 1 and 4
// divides `channels`; 3: looked up one by one.
layout(constant_id = 2) const uint kLanes = 0;
layout(constant_id = 3) const uint kPostOps = 0;
PUSH(uint quads; uint channels; uint inner; float low; float high;);
layout(binding = 0) readonly buffer Source { ELEM4 source[]; };
layout(binding = 1) readonly buffer Quads { vec4 valueQuads[]; };  // a, padded to quads, then b
layout(binding = 1) readonly buffer Values { float values[]; };
layout(binding = 2) writeonly buffer Destination { ELEM4 destination[]; };
#include "epilogue.glsl"

void main() {
    const uint i = ELEMENT_INDEX;
    if (i >= push.quads) return;
    const uint second = (push.channels + 3) / 4;
    vec4 a, b = vec4(0);
    if (kLanes == 0 || kLanes == 2) {
        const uint quad = kLanes == 0 ? i / push.inner % second : i % second;
        a = valueQuads[quad];
        if (kMap == 1) b = valueQuads[second + quad];
    } else if (kLanes == 1) {
        const uint channel = i / (push.inner / 4) % push.channels;
        a = vec4(values[channel]);
        if (kMap == 1) b = vec4(values[second * 4 + channel]);
    } else {
        for (uint lane = 0; lane < 4; ++lane) {
            const uint channel = (i * 4 + lane) / push.inner % push.channels;
            a[lane] = values[channel];
            if (kMap == 1) b[lane] = values[second * 4 + channel];
        }
    }
    const vec4 x = vec4(source[i]);
    destination[i] = ELEM4(withPostOps(kMap == 1 ? x * a + b : mix(x, x * a, lessThan(x, vec4(0)))));
}
