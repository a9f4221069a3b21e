// variants: f32 f16
// Normalises each group of channels to mean 0 and variance 1, then computes gamma x + beta for every channel and, with
// kSilu, SiLU. A value for each channel may be added first. A group is a row (rows.glsl) of a row-major tensor, or of a
// packed one whose groups are whole blocks.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "math.glsl"

PUSH(uint rows; uint steps; uint inner; float epsilon; uint parts; uint groupChannels; uint plane; uint beta;);
#include "rows.glsl"
layout(constant_id = 4) const bool kPacked = false;
layout(constant_id = 5) const bool kAffine = false;
layout(constant_id = 6) const bool kAdded = false;
layout(constant_id = 7) const bool kSilu = false;
layout(binding = 0) readonly buffer SourceQuads { ELEM4 sourceQuads[]; };
layout(binding = 0) readonly buffer Source { ELEM source[]; };
layout(binding = 1) readonly buffer Weights { float weights[]; };  // gamma, then beta from push.beta on
layout(binding = 2) readonly buffer Added { ELEM added[]; };       // [image][channel]
layout(binding = 3) writeonly buffer DestinationQuads { ELEM4 destinationQuads[]; };
layout(binding = 3) writeonly buffer Destination { ELEM destination[]; };
shared vec4 part[gl_WorkGroupSize.x];

vec4 add(vec4 a, vec4 b) {
    return a + b;
}
vec4 whole(vec4 sum) {
    return kKind == 1 ? vec4((sum.x + sum.y) + (sum.z + sum.w)) : sum;
}
// Returns the channels of step k, counted in the group.
uvec4 channelsOf(uint k) {
    if (kKind == 0) return uvec4(k / push.plane);
    return kPacked ? k / push.plane * 4 + uvec4(0, 1, 2, 3) : (k * 4 + uvec4(0, 1, 2, 3)) / push.plane;
}
vec4 load(uint at, uint k, uint row) {
    vec4 x = kKind == 0 ? vec4(source[at]) : vec4(sourceQuads[at]);
    if (kAdded) {
        const uvec4 channel = row * push.groupChannels + channelsOf(k);
        for (uint i = 0; i < 4; ++i) x[i] += float(added[channel[i]]);
    }
    return x;
}

void main() {
    const uint group = GROUP_INDEX;
    if (group >= push.groups) return;
    const uint lane = ROW_LANE, rowOfGroup = ROW_OF_GROUP, row = group * kRows + rowOfGroup;
    const uint base = ROW_BASE(row);
    const uint length = row < push.rows ? push.steps : 0;
    const float count = float(push.steps) * (kKind == 1 ? 4.0 : 1.0);

    vec4 mean = vec4(0);
    for (uint k = lane; k < length; k += kLanes) mean += load(base + k, k, row);
    REDUCE_ROW(mean, part, add)
    mean = whole(mean) / count;
    vec4 square = vec4(0);
    for (uint k = lane; k < length; k += kLanes) {
        const vec4 x = load(base + k, k, row) - mean;
        square += x * x;
    }
    REDUCE_ROW(square, part, add)
    const vec4 scale = 1.0 / sqrt(whole(square) / count + push.epsilon);

    const uint first = row % push.parts * push.groupChannels;
    for (uint k = lane; k < length; k += kLanes) {
        vec4 y = (load(base + k, k, row) - mean) * scale;
        if (kAffine) {
            const uvec4 channel = first + channelsOf(k);
            for (uint i = 0; i < 4; ++i) y[i] = y[i] * weights[channel[i]] + weights[push.beta + channel[i]];
        }
        if (kSilu) y = EACH(siluOf, y);
        if (kKind == 0)
            destination[base + k] = ELEM(y.x);
        else
            destinationQuads[base + k] = ELEM4(y);
    }
}
