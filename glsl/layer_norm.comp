// variants: f32 f16
// Normalises rows to mean 0 and variance 1 (or, without subtracting the mean, mean square 1), then computes gamma x +
// beta.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

PUSH(uint rows; uint steps; uint inner; float epsilon; uint channels; uint beta;);
#include "rows.glsl"
layout(constant_id = 4) const bool kRms = false;
// The place of gamma and beta. 0: there are none; 1: one value per element of the row; 2: per row, modulo `channels`
// (quads of rows: modulo its quads).
layout(constant_id = 5) const uint kAffine = 0;
layout(binding = 0) readonly buffer SourceQuads { ELEM4 sourceQuads[]; };
layout(binding = 0) readonly buffer Source { ELEM source[]; };
layout(binding = 1) readonly buffer WeightQuads { vec4 weightQuads[]; };  // gamma, then beta from quad `beta` on
layout(binding = 1) readonly buffer Weights { float weights[]; };
layout(binding = 2) writeonly buffer DestinationQuads { ELEM4 destinationQuads[]; };
layout(binding = 2) writeonly buffer Destination { ELEM destination[]; };
shared vec4 part[gl_WorkGroupSize.x];

vec4 add(vec4 a, vec4 b) {
    return a + b;
}
vec4 load(uint at) {
    return kKind == 0 ? vec4(source[at]) : vec4(sourceQuads[at]);
}
vec4 whole(vec4 sum) {
    return kKind == 1 ? vec4((sum.x + sum.y) + (sum.z + sum.w)) : sum;
}

void main() {
    const uint group = GROUP_INDEX;
    if (group >= push.groups) return;
    const uint lane = ROW_LANE, rowOfGroup = ROW_OF_GROUP, row = group * kRows + rowOfGroup;
    const uint base = ROW_BASE(row);
    const uint length = row < push.rows ? push.steps : 0;
    const float count = float(push.steps) * (kKind == 1 ? 4.0 : 1.0);

    vec4 mean = vec4(0);
    if (!kRms) {
        for (uint k = lane; k < length; k += kLanes) mean += load(base + k * push.inner);
        REDUCE_ROW(mean, part, add)
        mean = whole(mean) / count;
    }
    vec4 square = vec4(0);
    for (uint k = lane; k < length; k += kLanes) {
        const vec4 x = load(base + k * push.inner) - mean;
        square += x * x;
    }
    REDUCE_ROW(square, part, add)
    const vec4 scale = 1.0 / sqrt(whole(square) / count + push.epsilon);

    vec4 gamma = vec4(1), beta = vec4(0);
    if (kAffine == 2) {
        if (kKind == 2) {
            const uint quad = row % ((push.channels + 3) / 4);
            gamma = weightQuads[quad];
            beta = weightQuads[push.beta + quad];
        } else {
            const uint channel = row % push.channels;
            gamma = vec4(weights[channel]);
            beta = vec4(weights[push.beta * 4 + channel]);
        }
    }
    for (uint k = lane; k < length; k += kLanes) {
        const uint at = base + k * push.inner;
        if (kAffine == 1) {
            gamma = kKind == 1 ? weightQuads[k] : vec4(weights[k]);
            beta = kKind == 1 ? weightQuads[push.beta + k] : vec4(weights[push.beta * 4 + k]);
        }
        const vec4 y = (load(at) - mean) * scale * gamma + beta;
        if (kKind == 0)
            destination[at] = ELEM(y.x);
        else
            destinationQuads[at] = ELEM4(y);
    }
}
