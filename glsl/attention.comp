// variants: f32 f16 many_f32 many_f16
// softmax(scale q k^T + mask) v. A work group of 64 invocations computes 32 queries of a head, and as many columns of
// the values as fit its registers. It walks the keys 32 at a time with a running maximum and sum for each query
// (Milakov and Gimelshein, "Online normalizer calculation for softmax", arXiv 1805.02867), so that the matrix of all
// scores is never stored.
//
// Every head has its own place in each operand. Between the products the scores go through steps. Each step multiplies
// them by its scale, and then by an element of its operand; or it adds the element, or keeps only those scores that an
// integer chooses.
#version 440
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "common.glsl"

layout(constant_id = 1) const uint kQuads = 1;      // quads of columns per invocation, of the 8 that share a query
layout(constant_id = 2) const uint kSteps = 0;
layout(constant_id = 3) const uint kKinds = 0;  // four bits for each step: 0 multiply, 1 add, 2 keep, 6 keep zeros
layout(constant_id = 4) const bool kSinks = false;  // a score without a value for each head
layout(constant_id = 5) const bool kWhole = false;  // rows of values are whole quads
layout(constant_id = 6) const bool kQueriesTransposed = false;  // neighbours belong to neighbouring queries
layout(constant_id = 7) const bool kKeysTransposed = false;

PUSH(uint queries; uint keys; uint depth; uint valueDepth; uint queryBlocks;
     uint slices;  // of the columns
     uint headWords; uint stepsAt; float scale;
     uint queryRow; uint queryColumn; uint keyRow; uint keyColumn; uint valueRow; uint valueColumn; uint outRow;
     uint outColumn;);
layout(binding = 0) readonly buffer Queries { ELEM queries[]; };
layout(binding = 1) readonly buffer Keys { ELEM keys[]; };
layout(binding = 2) readonly buffer Values { ELEM values[]; };
layout(binding = 2) readonly buffer ValueQuads { ELEM4 valueQuads[]; };
layout(binding = 3) writeonly buffer Destination { ELEM destination[]; };
// For each head its places in queries, keys, values, results, sinks and the steps' operands; then kStepWords for each
// step; then the columns of steps whose places are not multiples of a distance.
layout(binding = 4) readonly buffer Table { uint table[]; };
layout(binding = 5) readonly buffer Sinks { ELEM sinks[]; };
#define STEP(i)                                                      \
    layout(binding = 6 + i) readonly buffer Mask##i { ELEM mask##i[]; }; \
    layout(binding = 6 + i) readonly buffer Keep##i { int keep##i[]; };
STEP(0)
STEP(1)
#ifdef MANY
STEP(2)
STEP(3)
STEP(4)
STEP(5)
STEP(6)
STEP(7)
const uint kMaxSteps = 8;
#else
const uint kMaxSteps = 2;
#endif

const uint kTile = 32;    // queries, and keys
const uint kChunk = 16;   // of the depth
const uint kPitch = 33, kChunkPitch = 17;  // odd, so that the elements of a column lie in different banks
const float kLowest = -3.40282347e38;
const uint kStepWords = 5, kFirstStep = 5;

shared float scores[kTile * kPitch];
shared float queryChunk[kTile * kChunkPitch];
shared float keyChunk[kTile * kChunkPitch];
shared float top[kTile];
shared float sum[kTile];
shared float kept[kTile];  // the factor of earlier sums after a new maximum

float exponential(float x) {
    return x < -88.0 ? 0.0 : exp(x);
}

vec4 valueQuad(uint row, uint column) {
    if (kWhole) return vec4(valueQuads[(row + column) / 4]);
    vec4 v = vec4(0);
    for (uint lane = 0; lane < 4; ++lane)
        if (column + lane < push.valueDepth) v[lane] = float(values[row + (column + lane) * push.valueColumn]);
    return v;
}

// maskAt() returns an element of a step's operand, keepAt() whether it is not 0 as an integer.
#define READ(i) \
    case i:     \
        return float(mask##i[at]);
float maskAt(uint step, uint at) {
    switch (step) {
        READ(1)
#ifdef MANY
        READ(2)
        READ(3)
        READ(4)
        READ(5)
        READ(6)
        READ(7)
#endif
    }
    return float(mask0[at]);
}
#undef READ
#define READ(i) \
    case i:     \
        return keep##i[at] != 0;
bool keepAt(uint step, uint at) {
    switch (step) {
        READ(1)
#ifdef MANY
        READ(2)
        READ(3)
        READ(4)
        READ(5)
        READ(6)
        READ(7)
#endif
    }
    return keep0[at] != 0;
}

float stepped(float score, uint head, uint query, uint key) {
    [[unroll]] for (uint i = 0; i < kMaxSteps; ++i) {
        if (i >= kSteps) break;
        const uint own = push.stepsAt + i * kStepWords;
        const uint columns = table[own + 2];
        const uint column = columns == 0 ? key * table[own + 1] : table[columns + key];
        const uint at = table[head + kFirstStep + i] + query * table[own] + column;
        score *= uintBitsToFloat(table[own + 3]);
        const uint kind = kKinds >> 4 * i & 15;
        if (kind == 0)
            score *= maskAt(i, at);
        else if (kind == 1)
            score += maskAt(i, at);
        else if (keepAt(i, at) == (kind >= 4))
            score = uintBitsToFloat(table[own + 4]);
    }
    return score * push.scale;
}

void main() {
    uint rest = GROUP_INDEX;
    if (rest >= push.groups) return;
    const uint slice = rest % push.slices;
    rest /= push.slices;
    const uint firstQuery = rest % push.queryBlocks * kTile;
    rest /= push.queryBlocks;
    const uint head = rest * push.headWords;  // in the table
    const uint queriesAt = table[head], keysAt = table[head + 1], valuesAt = table[head + 2];
    const uint destinationAt = table[head + 3];
    const uint lane = gl_LocalInvocationID.x, tx = lane % 8, ty = lane / 8;
    const uint firstColumn = slice * kQuads * 32 + tx * 4;  // then every 32

    if (lane < kTile) {
        top[lane] = kSinks ? max(float(sinks[table[head + 4]]), kLowest) : kLowest;
        sum[lane] = kSinks ? 1.0 : 0.0;
    }
    vec4 total[4 * kQuads];
    [[unroll]] for (uint i = 0; i < 4 * kQuads; ++i) total[i] = vec4(0);

    for (uint firstKey = 0; firstKey < push.keys; firstKey += kTile) {
        // The invocation computes the scores of queries ty * 4 + i and keys tx + 8 * j.
        vec4 product[4] = vec4[](vec4(0), vec4(0), vec4(0), vec4(0));
        for (uint chunk = 0; chunk < push.depth; chunk += kChunk) {
            barrier();
            for (uint i = lane; i < kTile * kChunk; i += 64) {
                const uint row = kQueriesTransposed ? i % kTile : i / kChunk;
                const uint column = kQueriesTransposed ? i / kTile : i % kChunk;
                const uint query = firstQuery + row, d = chunk + column;
                queryChunk[row * kChunkPitch + column] =
                    d < push.depth && query < push.queries
                        ? float(queries[queriesAt + query * push.queryRow + d * push.queryColumn])
                        : 0.0;
            }
            for (uint i = lane; i < kTile * kChunk; i += 64) {
                const uint row = kKeysTransposed ? i % kTile : i / kChunk;
                const uint column = kKeysTransposed ? i / kTile : i % kChunk;
                const uint key = firstKey + row, d = chunk + column;
                keyChunk[row * kChunkPitch + column] =
                    d < push.depth && key < push.keys
                        ? float(keys[keysAt + key * push.keyRow + d * push.keyColumn])
                        : 0.0;
            }
            barrier();
            for (uint d = 0; d < kChunk; ++d) {
                vec4 k;
                [[unroll]] for (uint j = 0; j < 4; ++j) k[j] = keyChunk[(tx + 8 * j) * kChunkPitch + d];
                [[unroll]] for (uint i = 0; i < 4; ++i) product[i] += queryChunk[(ty * 4 + i) * kChunkPitch + d] * k;
            }
        }
        [[unroll]] for (uint i = 0; i < 4; ++i) {
            [[unroll]] for (uint j = 0; j < 4; ++j) {
                const uint row = ty * 4 + i, column = tx + 8 * j;
                const uint query = firstQuery + row, key = firstKey + column;
                const bool isThere = query < push.queries && key < push.keys;
                const float score = isThere ? stepped(product[i][j], head, query, key) : 0.0;
                scores[row * kPitch + column] = score;
            }
        }
        barrier();
        const uint count = min(kTile, push.keys - firstKey);
        if (lane < kTile) {
            const float before = top[lane];
            float best = before;
            for (uint j = 0; j < count; ++j) best = max(best, scores[lane * kPitch + j]);
            float part = 0.0;
            for (uint j = 0; j < count; ++j) {
                const float p = exponential(scores[lane * kPitch + j] - best);
                scores[lane * kPitch + j] = p;
                part += p;
            }
            kept[lane] = exponential(before - best);
            sum[lane] = sum[lane] * kept[lane] + part;
            top[lane] = best;
        }
        barrier();
        [[unroll]] for (uint i = 0; i < 4; ++i) {
            [[unroll]] for (uint q = 0; q < kQuads; ++q) total[i * kQuads + q] *= kept[ty * 4 + i];
        }
        for (uint j = 0; j < count; ++j) {
            const uint row = valuesAt + (firstKey + j) * push.valueRow;
            vec4 v[kQuads];
            [[unroll]] for (uint q = 0; q < kQuads; ++q)
                v[q] = firstColumn + 32 * q < push.valueDepth ? valueQuad(row, firstColumn + 32 * q) : vec4(0);
            [[unroll]] for (uint i = 0; i < 4; ++i) {
                const float p = scores[(ty * 4 + i) * kPitch + j];
                [[unroll]] for (uint q = 0; q < kQuads; ++q) total[i * kQuads + q] += p * v[q];
            }
        }
    }

    [[unroll]] for (uint i = 0; i < 4; ++i) {
        const uint query = firstQuery + ty * 4 + i;
        if (query >= push.queries) continue;
        const uint row = destinationAt + query * push.outRow;
        // The largest score adds 1: with a smaller sum, a query has no finite score, and its result is 0 as in Softmax.
        const bool none = sum[ty * 4 + i] < 0.5;
        [[unroll]] for (uint q = 0; q < kQuads; ++q) {
            const uint column = firstColumn + 32 * q;
            const vec4 y = none ? vec4(0) : total[i * kQuads + q] / sum[ty * 4 + i];
            for (uint c = 0; c < 4; ++c)
                if (column + c < push.valueDepth)
                    destination[row + (column + c) * push.outColumn] = ELEM(y[c]);
        }
    }
}
