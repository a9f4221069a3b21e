// variants: f32 f16
// Products of a matrix and a vector, batched: out[i] = sum over k of matrix(i, k) vector[k] (+ bias). kByRows: the
// matrix is [outputs][l] and a group computes one output, with its lanes along k. Otherwise it is [l][outputs] and a
// group computes kAcross quads of outputs, with the rest of its lanes along k.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(constant_id = 1) const uint kAcross = 1;
layout(constant_id = 2) const bool kByRows = false;
layout(constant_id = 3) const bool kWide = false;  // rows of the matrix and vectors start at whole quads
layout(constant_id = 4) const bool kMatrixIsB = false;
layout(constant_id = 5) const bool kBias = false;
const uint kSlices = gl_WorkGroupSize.x / kAcross;

PUSH(uint outputs; uint l; uint ld; uint tiles; uint biasStep; uint batchAxes; uint batchSize[4]; uint batchA[4];
     uint batchB[4];);
layout(binding = 0) readonly buffer Matrix { ELEM matrix[]; };
layout(binding = 0) readonly buffer Matrix4 { ELEM4 matrix4[]; };
layout(binding = 1) readonly buffer Vector { ELEM vector[]; };
layout(binding = 1) readonly buffer Vector4 { ELEM4 vector4[]; };
layout(binding = 2) writeonly buffer Destination { ELEM destination[]; };
layout(binding = 3) readonly buffer Bias { ELEM bias[]; };
#include "matmul_batch.glsl"

shared VALUE4 partial[gl_WorkGroupSize.x];

// Returns this invocation's part of the sum of one row's products, spread over four lanes.
VALUE4 alongRow(uint row, uint start, uint self) {
    VALUE4 sum = VALUE4(0);
    if (kWide) {
        for (uint k = self; k < push.l / 4; k += gl_WorkGroupSize.x)
            sum += VALUE4(matrix4[row / 4 + k]) * VALUE4(vector4[start / 4 + k]);
    } else {
        for (uint k = self; k < push.l; k += gl_WorkGroupSize.x)
            sum.x += VALUE(matrix[row + k]) * VALUE(vector[start + k]);
    }
    return sum;
}

// Returns sums of four columns over every kSlices-th step.
VALUE4 downColumns(uint at, uint start, uint slice, uint valid) {
    VALUE4 sum = VALUE4(0);
    for (uint k = slice; k < push.l; k += kSlices) {
        const VALUE x = VALUE(vector[start + k]);
        const uint from = at + k * push.ld;
        if (kWide) {
            sum += x * VALUE4(matrix4[from / 4]);
        } else {
            for (uint j = 0; j < 4; ++j)
                if (j < valid) sum[j] += x * VALUE(matrix[from + j]);
        }
    }
    return sum;
}

void main() {
    const uint group = GROUP_INDEX;
    if (group >= push.groups) return;
    const uint product = group / push.tiles, tile = group % push.tiles;
    const uvec2 base = operandsOf(product);
    const uint first = kMatrixIsB ? base.y : base.x, start = kMatrixIsB ? base.x : base.y;
    const uint self = gl_LocalInvocationID.x;
    const uint slice = kByRows ? self : self / kAcross;
    const uint output0 = kByRows ? tile : (tile * kAcross + self % kAcross) * 4;
    VALUE4 sum = VALUE4(0);
    if (kByRows)
        sum = alongRow(first + tile * push.ld, start, self);
    else if (output0 < push.outputs && slice < kSlices)
        sum = downColumns(first + output0, start, slice, push.outputs - output0);
    partial[self] = sum;
    barrier();
    const uint across = kByRows ? 1 : kAcross;
    for (uint size = kSlices; size > 1;) {
        const uint rest = (size + 1) / 2;
        if (slice + rest < size) partial[self] += partial[self + rest * across];
        size = rest;
        barrier();
    }
    if (slice != 0 || output0 >= push.outputs) return;
    const VALUE4 total = partial[self];
    const uint at = product * push.outputs + output0;
    if (kByRows) {
        VALUE value = total.x + total.y + (total.z + total.w);
        if (kBias) value += VALUE(bias[output0 * push.biasStep]);
        destination[at] = ELEM(value);
        return;
    }
    for (uint j = 0; j < 4 && output0 + j < push.outputs; ++j) {
        VALUE value = total[j];
        if (kBias) value += VALUE(bias[(output0 + j) * push.biasStep]);
        destination[at + j] = ELEM(value);
    }
}
