// variants: f32 f16
// Computes one step of RNN, LSTM or GRU, both directions of time at once: the states times their weights, added to the
// products of the inputs, then the gates. A work group computes kUnits units of kRows rows of the batch; its other
// invocations divide the depth.
//
// Weights are those of recurrent_pack, whose first push.inputs rows are for the inputs. The states stay in 32 bits:
// [area][direction][row][unit]. Areas 0 and 1 alternate between the states before and after a step, 2 has the cell of
// an LSTM or the gate z of a GRU, 3 the states of a GRU after reset. A GRU that resets before its product takes two
// dispatches.
#version 440
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "common.glsl"
#include "math.glsl"

layout(constant_id = 1) const uint kUnits = 16;
layout(constant_id = 2) const uint kRows = 1;  // at most the slices of the depth
layout(constant_id = 3) const uint kCell = 0;  // kRnn to kGruCandidate
layout(constant_id = 4) const bool kAll = true;  // writes all states
const uint kRnn = 0, kLstm = 1, kGruResetAfter = 2, kGruGates = 3, kGruCandidate = 4;
const uint kSlices = gl_WorkGroupSize.x / kUnits;  // a power of two

PUSH(uint batch; uint hidden; uint inputs; uint steps; uint directions; uint step; uint rowTiles; uint unitTiles;);
layout(binding = 0) readonly buffer Weights { ELEM4 weights[]; };
layout(binding = 1) readonly buffer Sums { ELEM4 inputSums[]; };  // [direction][time][row][unit]
layout(binding = 2) readonly buffer Bias { vec4 bias[]; };
layout(binding = 3) buffer State { float state[]; };
layout(binding = 4) writeonly buffer Destination { ELEM destination[]; };  // [time][direction][row][unit]

shared vec4 parts[gl_WorkGroupSize.x * kRows];

void main() {
    uint rest = GROUP_INDEX;
    if (rest >= push.groups) return;
    const uint thread = gl_LocalInvocationID.x, slice = thread / kUnits;
    const uint unit = rest % push.unitTiles * kUnits + thread % kUnits;
    rest /= push.unitTiles;
    const uint firstRow = rest % push.rowTiles * kRows, direction = rest / push.rowTiles;
    const uint plane = push.batch * push.hidden, area = push.directions * plane;
    const uint before = (push.step & 1u) * area, after = area - before;

    uint bases[kRows];
    vec4 sums[kRows];
    [[unroll]] for (uint r = 0; r < kRows; ++r) {
        bases[r] = (kCell == kGruCandidate ? 3 * area : before) + direction * plane +
                   min(firstRow + r, push.batch - 1) * push.hidden;
        sums[r] = vec4(0);
    }
    if (unit < push.hidden) {
        const uint first = (direction * (push.inputs + push.hidden) + push.inputs) * push.hidden + unit;
        for (uint k = slice; k < push.hidden; k += kSlices) {
            const vec4 w = vec4(weights[first + k * push.hidden]);
            [[unroll]] for (uint r = 0; r < kRows; ++r) sums[r] += state[bases[r] + k] * w;
        }
    }
    [[unroll]] for (uint r = 0; r < kRows; ++r) parts[r * gl_WorkGroupSize.x + thread] = sums[r];
    barrier();
    for (uint half_ = kSlices / 2; half_ > 0; half_ /= 2) {
        if (slice < half_) {
            [[unroll]] for (uint r = 0; r < kRows; ++r) {
                const uint at = r * gl_WorkGroupSize.x + thread;
                parts[at] += parts[at + half_ * kUnits];
            }
        }
        barrier();
    }
    // Slice r finishes row r.
    const uint row = firstRow + slice;
    if (slice >= kRows || row >= push.batch || unit >= push.hidden) return;
    const uint time = direction == 0 ? push.step : push.steps - 1 - push.step;
    const uint place = direction * plane + row * push.hidden + unit;
    const vec4 x = vec4(inputSums[((direction * push.steps + time) * push.batch + row) * push.hidden + unit]) +
                   bias[direction * push.hidden + unit];
    const vec4 own = parts[slice * gl_WorkGroupSize.x + thread % kUnits], sum = x + own;
    float h;
    if (kCell == kRnn) {
        h = tanhOf(sum.x);
    } else if (kCell == kLstm) {
        const float c = sigmoidOf(sum.z) * state[2 * area + place] + sigmoidOf(sum.x) * tanhOf(sum.w);
        state[2 * area + place] = c;
        h = sigmoidOf(sum.y) * tanhOf(c);
    } else if (kCell == kGruGates) {
        state[2 * area + place] = sigmoidOf(sum.x);
        state[3 * area + place] = sigmoidOf(sum.y) * state[before + place];
        return;
    } else {
        float z, n;
        if (kCell == kGruCandidate) {
            z = state[2 * area + place];
            n = sum.z;
        } else {
            z = sigmoidOf(sum.x);
            n = x.z + sigmoidOf(sum.y) * (x.w + own.w);
        }
        h = z * state[before + place] + (1.0 - z) * tanhOf(n);
    }
    state[after + place] = h;
    if (kAll) destination[(time * push.directions) * plane + place] = ELEM(h);
}
