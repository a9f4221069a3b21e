// variants: f32 f16
// softmax(scale q k^T + mask) v. A work group of 64 invocations makes 32 queries of a head, and of the values as many
// columns as fit its registers. It walks the keys 32 at a time with a running maximum and sum for each query (Milakov
// and Gimelshein, "Online normalizer calculation for softmax", arXiv 1805.02867): no matrix of all scores exists.
//
// Row-major: queries [batch][queries][heads][depth], keys and values [batch][keys][keyHeads][depth or valueDepth].
#version 440
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "common.glsl"

layout(constant_id = 1) const uint kQuads = 1;      // of columns per invocation, of 8 that share a query
layout(constant_id = 2) const uint kMask = 0;       // 0: none, 1: is added to the scores, 2: says which scores count
layout(constant_id = 3) const bool kSinks = false;  // a score without a value for each head
layout(constant_id = 4) const bool kWhole = false;  // rows of values are whole quads

PUSH(uint queries; uint keys; uint heads; uint keyHeads; uint depth; uint valueDepth; uint queryBlocks;
     uint slices;  // of the columns
     float scale; uint maskBatch; uint maskHead; uint maskRow; uint maskColumn;);
layout(binding = 0) readonly buffer Queries { ELEM queries[]; };
layout(binding = 1) readonly buffer Keys { ELEM keys[]; };
layout(binding = 2) readonly buffer Values { ELEM values[]; };
layout(binding = 2) readonly buffer ValueQuads { ELEM4 valueQuads[]; };
layout(binding = 3) writeonly buffer Destination { ELEM destination[]; };
layout(binding = 4) readonly buffer Mask { ELEM mask[]; };
layout(binding = 4) readonly buffer Keep { int keep[]; };
layout(binding = 5) readonly buffer Sinks { ELEM sinks[]; };

const uint kTile = 32;    // queries, and keys
const uint kChunk = 16;   // of the depth
const uint kPitch = 33, kChunkPitch = 17;  // odd: columns lie in different banks
const float kLowest = -3.40282347e38;

shared float scores[kTile * kPitch];
shared float queryChunk[kTile * kChunkPitch];
shared float keyChunk[kTile * kChunkPitch];
shared float top[kTile];
shared float sum[kTile];
shared float kept[kTile];  // what a new maximum leaves of earlier sums

float exponential(float x) {
    return x < -88.0 ? 0.0 : exp(x);
}

vec4 valueQuad(uint row, uint column) {
    if (kWhole) return vec4(valueQuads[(row + column) / 4]);
    vec4 v = vec4(0);
    for (uint lane = 0; lane < 4; ++lane)
        if (column + lane < push.valueDepth) v[lane] = float(values[row + column + lane]);
    return v;
}

void main() {
    uint rest = GROUP_INDEX;
    if (rest >= push.groups) return;
    const uint slice = rest % push.slices;
    rest /= push.slices;
    const uint firstQuery = rest % push.queryBlocks * kTile;
    rest /= push.queryBlocks;
    const uint head = rest % push.heads, batch = rest / push.heads;
    const uint keyHead = head / (push.heads / push.keyHeads);
    const uint lane = gl_LocalInvocationID.x, tx = lane % 8, ty = lane / 8;
    const uint firstColumn = slice * kQuads * 32 + tx * 4;  // then every 32

    if (lane < kTile) {
        top[lane] = kSinks ? max(float(sinks[head]), kLowest) : kLowest;
        sum[lane] = kSinks ? 1.0 : 0.0;
    }
    vec4 total[4 * kQuads];
    [[unroll]] for (uint i = 0; i < 4 * kQuads; ++i) total[i] = vec4(0);

    for (uint firstKey = 0; firstKey < push.keys; firstKey += kTile) {
        // The invocation makes the scores of queries ty * 4 + i and keys tx + 8 * j.
        vec4 product[4] = vec4[](vec4(0), vec4(0), vec4(0), vec4(0));
        for (uint chunk = 0; chunk < push.depth; chunk += kChunk) {
            barrier();
            for (uint i = lane; i < kTile * kChunk; i += 64) {
                const uint row = i / kChunk, d = chunk + i % kChunk;
                const uint query = firstQuery + row, key = firstKey + row;
                const uint to = row * kChunkPitch + i % kChunk;
                queryChunk[to] = 0.0;
                keyChunk[to] = 0.0;
                if (d < push.depth && query < push.queries)
                    queryChunk[to] =
                        float(queries[((batch * push.queries + query) * push.heads + head) * push.depth + d]);
                if (d < push.depth && key < push.keys)
                    keyChunk[to] =
                        float(keys[((batch * push.keys + key) * push.keyHeads + keyHead) * push.depth + d]);
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
                float score = push.scale * product[i][j];
                if (kMask != 0 && query < push.queries && key < push.keys) {
                    const uint at = batch * push.maskBatch + head * push.maskHead + query * push.maskRow +
                                    key * push.maskColumn;
                    if (kMask == 1)
                        score += float(mask[at]);
                    else if (keep[at] == 0)
                        score = kLowest;
                }
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
            const uint row = ((batch * push.keys + firstKey + j) * push.keyHeads + keyHead) * push.valueDepth;
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
        const uint row = ((batch * push.queries + query) * push.heads + head) * push.valueDepth;
        // The largest score adds 1: a smaller sum is a query without a finite score, whose result is 0 as in Softmax.
        const bool none = sum[ty * 4 + i] < 0.5;
        [[unroll]] for (uint q = 0; q < kQuads; ++q) {
            const uint column = firstColumn + 32 * q;
            const vec4 y = none ? vec4(0) : total[i * kQuads + q] / sum[ty * 4 + i];
            for (uint c = 0; c < 4; ++c)
                if (column + c < push.valueDepth) destination[row + column + c] = ELEM(y[c]);
        }
    }
}
