// variants: f32 f16
// Computes the sums of one step of LSTMBlockCell: input and output of the previous step, side by side, times the
// weights, plus the bias. A work group computes kUnits units of one row of the batch; its other invocations divide the
// depth.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(constant_id = 1) const uint kUnits = 16;
const uint kSlices = gl_WorkGroupSize.x / kUnits;  // a power of two

PUSH(uint inputs; uint hidden; uint unitTiles;);
layout(binding = 0) readonly buffer Source { ELEM source[]; };
layout(binding = 1) readonly buffer Before { ELEM before[]; };
layout(binding = 2) readonly buffer Weights { ELEM weights[]; };  // [input, then unit][gate][unit]
layout(binding = 3) readonly buffer Bias { ELEM bias[]; };        // [gate][unit]
layout(binding = 4) writeonly buffer Sums { vec4 sums[]; };       // [row][unit], 32 bits for each gate

shared vec4 parts[gl_WorkGroupSize.x];

void main() {
    const uint group = GROUP_INDEX;
    if (group >= push.groups) return;
    const uint row = group / push.unitTiles;
    const uint thread = gl_LocalInvocationID.x, slice = thread / kUnits;
    const uint unit = (group - row * push.unitTiles) * kUnits + thread % kUnits;
    vec4 sum = vec4(0);
    if (unit < push.hidden) {
        const uint depth = push.inputs + push.hidden;
        for (uint k = slice; k < depth; k += kSlices) {
            const float x = k < push.inputs ? float(source[row * push.inputs + k])
                                            : float(before[row * push.hidden + k - push.inputs]);
            const uint at = 4 * k * push.hidden + unit;
            sum += x * vec4(float(weights[at]), float(weights[at + push.hidden]),
                            float(weights[at + 2 * push.hidden]), float(weights[at + 3 * push.hidden]));
        }
    }
    parts[thread] = sum;
    barrier();
    for (uint half_ = kSlices / 2; half_ > 0; half_ /= 2) {
        if (slice < half_) parts[thread] += parts[thread + half_ * kUnits];
        barrier();
    }
    if (slice > 0 || unit >= push.hidden) return;
    vec4 total = parts[thread];
    for (uint gate = 0; gate < 4; ++gate) total[gate] += float(bias[gate * push.hidden + unit]);
    sums[row * push.hidden + unit] = total;
}
