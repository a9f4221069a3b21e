// variants: f32 f16
// Softmax along rows: e^(x - max) / sum; a row of -inf gives 0.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

PUSH(uint rows; uint steps; uint inner;);
#include "rows.glsl"
layout(binding = 0) readonly buffer SourceQuads { ELEM4 sourceQuads[]; };
layout(binding = 0) readonly buffer Source { ELEM source[]; };
layout(binding = 1) writeonly buffer DestinationQuads { ELEM4 destinationQuads[]; };
layout(binding = 1) writeonly buffer Destination { ELEM destination[]; };
shared vec4 part[gl_WorkGroupSize.x];

vec4 add(vec4 a, vec4 b) {
    return a + b;
}
vec4 load(uint at) {
    return kKind == 0 ? vec4(source[at]) : vec4(sourceQuads[at]);
}

void main() {
    const uint group = GROUP_INDEX;
    if (group >= push.groups) return;
    const uint lane = ROW_LANE, rowOfGroup = ROW_OF_GROUP, row = group * kRows + rowOfGroup;
    const uint base = ROW_BASE(row);
    // Rows behind the last one have no steps, but take part in the barriers.
    const uint length = row < push.rows ? push.steps : 0;

    vec4 top = vec4(-3.40282347e38);
    for (uint k = lane; k < length; k += kLanes) top = max(top, load(base + k * push.inner));
    REDUCE_ROW(top, part, max)
    if (kKind == 1) top = vec4(max(max(top.x, top.y), max(top.z, top.w)));

    vec4 sum = vec4(0);
    for (uint k = lane; k < length; k += kLanes) sum += exp(load(base + k * push.inner) - top);
    REDUCE_ROW(sum, part, add)
    if (kKind == 1) sum = vec4((sum.x + sum.y) + (sum.z + sum.w));

    // The largest element adds 1, so a smaller sum belongs to a row of -inf.
    const vec4 scale = mix(1.0 / sum, vec4(0), lessThan(sum, vec4(0.5)));
    for (uint k = lane; k < length; k += kLanes) {
        const uint at = base + k * push.inner;
        const vec4 y = exp(load(at) - top) * scale;
        if (kKind == 0)
            destination[at] = ELEM(y.x);
        else
            destinationQuads[at] = ELEM4(y);
    }
}
