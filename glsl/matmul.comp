// variants: f32 f16
// C[batch][e][h] = A[batch][e][l] B[batch][l][h] (+ bias[h]), row-major, either operand transposed.
// A group computes a tile of kTileDown x kTileAcross quads of 4 x 4 outputs, kRowQuads x kColumnQuads of them per
// invocation, from slices of kDepth steps of the inner extent, which it stages in shared memory as [step][quad].
#version 440
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "common.glsl"

layout(constant_id = 1) const uint kAcross = 8;
layout(constant_id = 2) const bool kTransposeA = false;
layout(constant_id = 3) const bool kTransposeB = false;
// All rows start at whole quads.
layout(constant_id = 4) const bool kWideA = false;
layout(constant_id = 5) const bool kWideB = false;
layout(constant_id = 6) const bool kWideC = false;
layout(constant_id = 7) const bool kBias = false;
layout(constant_id = 8) const uint kRowQuads = 1;
layout(constant_id = 9) const uint kColumnQuads = 1;
const uint kDown = gl_WorkGroupSize.x / kAcross;
const uint kTileDown = kDown * kRowQuads;
const uint kTileAcross = kAcross * kColumnQuads;
const uint kDepth = 16;
// One quad more than needed spreads columns over the banks.
const uint kStepA = kTileDown + 1;
const uint kStepB = kTileAcross + 1;

PUSH(uint e; uint l; uint h; uint lda; uint ldb; uint tilesDown; uint tilesAcross; uint batchAxes; uint batchSize[4];
     uint batchA[4]; uint batchB[4];);
layout(binding = 0) readonly buffer A { ELEM a[]; };
layout(binding = 0) readonly buffer A4 { ELEM4 a4[]; };
layout(binding = 1) readonly buffer B { ELEM b[]; };
layout(binding = 1) readonly buffer B4 { ELEM4 b4[]; };
layout(binding = 2) writeonly buffer C { ELEM c[]; };
layout(binding = 2) writeonly buffer C4 { ELEM4 c4[]; };
layout(binding = 3) readonly buffer Bias { ELEM bias[]; };
#include "matmul_batch.glsl"

shared VALUE4 stageA[kDepth * kStepA];
shared VALUE4 stageB[kDepth * kStepB];

// Returns elements at, at + 1, ... of an operand, `valid` of them (at most four count), with zeros behind.
VALUE4 quadA(uint at, int valid) {
    if (kWideA) return valid > 0 ? VALUE4(a4[at / 4]) : VALUE4(0);
    VALUE4 v = VALUE4(0);
    if (valid > 0) v.x = VALUE(a[at]);
    if (valid > 1) v.y = VALUE(a[at + 1]);
    if (valid > 2) v.z = VALUE(a[at + 2]);
    if (valid > 3) v.w = VALUE(a[at + 3]);
    return v;
}
VALUE4 quadB(uint at, int valid) {
    if (kWideB) return valid > 0 ? VALUE4(b4[at / 4]) : VALUE4(0);
    VALUE4 v = VALUE4(0);
    if (valid > 0) v.x = VALUE(b[at]);
    if (valid > 1) v.y = VALUE(b[at + 1]);
    if (valid > 2) v.z = VALUE(b[at + 2]);
    if (valid > 3) v.w = VALUE(b[at + 3]);
    return v;
}

// Stages steps k.. of the rows from `down` on.
void stageRows(uint k, uint base, uint down) {
    for (uint i = gl_LocalInvocationID.x; i < kDepth * kTileDown; i += gl_WorkGroupSize.x) {
        if (kTransposeA) {
            const uint step = i / kTileDown, quad = i % kTileDown, row = down + quad * 4;
            const int valid = k + step < push.l ? int(push.e) - int(row) : 0;
            stageA[step * kStepA + quad] = quadA(base + (k + step) * push.lda + row, valid);
        } else {
            const uint step = i % (kDepth / 4) * 4, row = i / (kDepth / 4);
            const int valid = down + row < push.e ? int(push.l) - int(k + step) : 0;
            const VALUE4 v = quadA(base + (down + row) * push.lda + k + step, valid);
            [[unroll]] for (uint j = 0; j < 4; ++j) stageA[(step + j) * kStepA + row / 4][row % 4] = v[j];
        }
    }
}

// Stages the columns from `across` on in the same way.
void stageColumns(uint k, uint base, uint across) {
    for (uint i = gl_LocalInvocationID.x; i < kDepth * kTileAcross; i += gl_WorkGroupSize.x) {
        if (kTransposeB) {
            const uint step = i % (kDepth / 4) * 4, column = i / (kDepth / 4);
            const int valid = across + column < push.h ? int(push.l) - int(k + step) : 0;
            const VALUE4 v = quadB(base + (across + column) * push.ldb + k + step, valid);
            [[unroll]] for (uint j = 0; j < 4; ++j) stageB[(step + j) * kStepB + column / 4][column % 4] = v[j];
        } else {
            const uint step = i / kTileAcross, quad = i % kTileAcross, column = across + quad * 4;
            const int valid = k + step < push.l ? int(push.h) - int(column) : 0;
            stageB[step * kStepB + quad] = quadB(base + (k + step) * push.ldb + column, valid);
        }
    }
}

void store(uint product, uint row, uint column, VALUE4 value) {
    if (row >= push.e || column >= push.h) return;
    if (kBias) {
        [[unroll]] for (uint j = 0; j < 4; ++j)
            if (column + j < push.h) value[j] += VALUE(bias[column + j]);
    }
    const uint at = (product * push.e + row) * push.h + column;
    if (kWideC) {
        c4[at / 4] = ELEM4(value);
    } else {
        [[unroll]] for (uint j = 0; j < 4; ++j)
            if (column + j < push.h) c[at + j] = ELEM(value[j]);
    }
}

void main() {
    uint group = GROUP_INDEX;
    if (group >= push.groups) return;
    const uint across = group % push.tilesAcross * kTileAcross * 4;
    group /= push.tilesAcross;
    const uint down = group % push.tilesDown * kTileDown * 4;
    const uint product = group / push.tilesDown;
    const uvec2 base = operandsOf(product);
    const uint x = gl_LocalInvocationID.x % kAcross, y = gl_LocalInvocationID.x / kAcross;

    VALUE4 sums[kRowQuads * 4][kColumnQuads];
    [[unroll]] for (uint r = 0; r < kRowQuads * 4; ++r)
        [[unroll]] for (uint q = 0; q < kColumnQuads; ++q) sums[r][q] = VALUE4(0);
    for (uint k = 0; k < push.l; k += kDepth) {
        stageRows(k, base.x, down);
        stageColumns(k, base.y, across);
        barrier();
        for (uint step = 0; step < kDepth; ++step) {
            VALUE4 right[kColumnQuads];
            [[unroll]] for (uint q = 0; q < kColumnQuads; ++q) right[q] = stageB[step * kStepB + q * kAcross + x];
            [[unroll]] for (uint r = 0; r < kRowQuads; ++r) {
                const VALUE4 left = stageA[step * kStepA + r * kDown + y];
                [[unroll]] for (uint q = 0; q < kColumnQuads; ++q) {
                    sums[r * 4][q] += left.x * right[q];
                    sums[r * 4 + 1][q] += left.y * right[q];
                    sums[r * 4 + 2][q] += left.z * right[q];
                    sums[r * 4 + 3][q] += left.w * right[q];
                }
            }
        }
        barrier();
    }
    [[unroll]] for (uint r = 0; r < kRowQuads * 4; ++r)
        [[unroll]] for (uint q = 0; q < kColumnQuads; ++q)
            store(product, down + (r / 4 * kDown + y) * 4 + r % 4, across + (q * kAcross + x) * 4, sums[r][q]);
}
