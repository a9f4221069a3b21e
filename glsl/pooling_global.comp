// variants: f32 f16
// One maximum or average over a whole plane of a channel-packed tensor: one group per channel quad.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(constant_id = 1) const bool kAverage = false;
PUSH(uint plane; float count;);
layout(binding = 0) readonly buffer Source { ELEM4 source[]; };
layout(binding = 1) writeonly buffer Destination { ELEM4 destination[]; };

shared VALUE4 partial[gl_WorkGroupSize.x];

VALUE4 fold(VALUE4 a, VALUE4 b) {
    return kAverage ? a + b : max(a, b);
}

void main() {
    const uint group = GROUP_INDEX;
    if (group >= push.groups) return;
    const uint self = gl_LocalInvocationID.x;
    VALUE4 value = VALUE4(kAverage ? 0.0 : kMinusInfinity);
    for (uint i = self; i < push.plane; i += gl_WorkGroupSize.x)
        value = fold(value, VALUE4(source[group * push.plane + i]));
    partial[self] = value;
    barrier();
    // This works for any group size: the upper half, without a middle one, is folded onto the lower.
    for (uint size = gl_WorkGroupSize.x; size > 1;) {
        const uint rest = (size + 1) / 2;
        if (self + rest < size) partial[self] = fold(partial[self], partial[self + rest]);
        size = rest;
        barrier();
    }
    if (self == 0) destination[group] = ELEM4(kAverage ? partial[0] / push.count : partial[0]);
}
