// variants: f32 f16
// C[batch][e][h] = A[batch][e][l] B[batch][l][h] (+ bias[h]), row-major, either operand transposed.
// A group makes a tile of kDown x kAcross quads of 4 x 4 outputs, one per invocation, from slices of kDepth steps of
// the inner extent, which it stages in shared memory as [step][quad].
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(constant_id = 1) const uint kAcross = 8;
layout(constant_id = 2) const bool kTransposeA = false;
layout(constant_id = 3) const bool kTransposeB = false;
// Whether all rows start at whole quads.
layout(constant_id = 4) const bool kWideA = false;
layout(constant_id = 5) const bool kWideB = false;
layout(constant_id = 6) const bool kWideC = false;
layout(constant_id = 7) const bool kBias = false;
const uint kDown = gl_WorkGroupSize.x / kAcross;
const uint kDepth = 16;
// One quad more than needed spreads columns over the banks.
const uint kStepA = kDown + 1;
const uint kStepB = kAcross + 1;

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

// Elements at, at + 1, ... of an operand, `valid` of them (at most four count), zeros behind.
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

void main() {
    uint group = GROUP_INDEX;
    if (group >= push.groups) return;
    const uint across = group % push.tilesAcross * kAcross * 4;
    group /= push.tilesAcross;
    const uint down = group % push.tilesDown * kDown * 4;
    const uint product = group / push.tilesDown;
    const uvec2 base = operandsOf(product);
    const uint self = gl_LocalInvocationID.x;
    const uint x = self % kAcross, y = self / kAcross;

    VALUE4 sum0 = VALUE4(0), sum1 = VALUE4(0), sum2 = VALUE4(0), sum3 = VALUE4(0);
    for (uint k = 0; k < push.l; k += kDepth) {
        for (uint i = self; i < kDepth * kDown; i += gl_WorkGroupSize.x) {
            if (kTransposeA) {
                const uint step = i / kDown, quad = i % kDown, row = down + quad * 4;
                const int valid = k + step < push.l ? int(push.e) - int(row) : 0;
                stageA[step * kStepA + quad] = quadA(base.x + (k + step) * push.lda + row, valid);
            } else {
                const uint step = i % (kDepth / 4) * 4, row = i / (kDepth / 4);
                const int valid = down + row < push.e ? int(push.l) - int(k + step) : 0;
                const VALUE4 v = quadA(base.x + (down + row) * push.lda + k + step, valid);
                for (uint j = 0; j < 4; ++j) stageA[(step + j) * kStepA + row / 4][row % 4] = v[j];
            }
        }
        for (uint i = self; i < kDepth * kAcross; i += gl_WorkGroupSize.x) {
            if (kTransposeB) {
                const uint step = i % (kDepth / 4) * 4, column = i / (kDepth / 4);
                const int valid = across + column < push.h ? int(push.l) - int(k + step) : 0;
                const VALUE4 v = quadB(base.y + (across + column) * push.ldb + k + step, valid);
                for (uint j = 0; j < 4; ++j) stageB[(step + j) * kStepB + column / 4][column % 4] = v[j];
            } else {
                const uint step = i / kAcross, quad = i % kAcross, column = across + quad * 4;
                const int valid = k + step < push.l ? int(push.h) - int(column) : 0;
                stageB[step * kStepB + quad] = quadB(base.y + (k + step) * push.ldb + column, valid);
            }
        }
        barrier();
        for (uint step = 0; step < kDepth; ++step) {
            const VALUE4 left = stageA[step * kStepA + y];
            const VALUE4 right = stageB[step * kStepB + x];
            sum0 += left.x * right;
            sum1 += left.y * right;
            sum2 += left.z * right;
            sum3 += left.w * right;
        }
        barrier();
    }

    const uint column = across + x * 4;
    if (column >= push.h) return;
    VALUE4 shift = VALUE4(0);
    if (kBias)
        for (uint j = 0; j < 4 && column + j < push.h; ++j) shift[j] = VALUE(bias[column + j]);
    VALUE4 sums[4] = {sum0, sum1, sum2, sum3};
    for (uint r = 0; r < 4; ++r) {
        const uint row = down + y * 4 + r;
        if (row >= push.e) return;
        const uint at = (product * push.e + row) * push.h + column;
        const VALUE4 value = sums[r] + shift;
        if (kWideC)
            c4[at / 4] = ELEM4(value);
        else
            for (uint j = 0; j < 4 && column + j < push.h; ++j) c[at + j] = ELEM(value[j]);
    }
}
