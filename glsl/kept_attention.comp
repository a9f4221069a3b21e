// variants: f32 f16
// Attention over one page of kept keys and values: the part of softmax(scale q k^T + mask) v that the page adds. Each
// page has a dispatch of its own. A work group computes some queries of the heads that read one head of keys, with a
// running maximum and sum for each query (Milakov and Gimelshein, "Online normalizer calculation for softmax", arXiv
// 1805.02867). It leaves both in a slot, together with the sum of values. Pages with the same slot are computed one
// after another, and continue with the contents of the slot; kept_attention_combine adds the slots.
//
// The new keys and values are read from the inputs of the run. The groups of the first queries store them in the page,
// from which nothing else in this run reads them. A word has the number of rows of earlier runs.
#version 440
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "common.glsl"

layout(constant_id = 1) const uint kRows = 1;        // queries of a group: 1, 2, 4 or 8
layout(constant_id = 2) const bool kHalves = false;  // the page has 16-bit numbers
layout(constant_id = 3) const uint kMask = 0;        // 0: causal order; 1: a mask of ELEM; 2: a mask of floats
layout(constant_id = 4) const bool kWhole = false;   // rows of keys and of queries are whole quads

PUSH(uint rows;  // of the run
     uint heads; uint keyHeads; uint depth; uint valueDepth;
     uint blocks;    // groups for each head of keys
     uint pageRow;   // the first row of the page
     uint isFirst;   // of its slot
     uint maskRow;   // of the first query
     float scale;);
layout(binding = 0) readonly buffer Queries { ELEM queries[]; };
layout(binding = 0) readonly buffer QueryQuads { ELEM4 queryQuads[]; };
layout(binding = 1) readonly buffer Keys { ELEM keys[]; };
layout(binding = 1) readonly buffer KeyQuads { ELEM4 keyQuads[]; };
layout(binding = 2) readonly buffer Values { ELEM values[]; };
layout(binding = 3) buffer Page { float page[]; };
layout(binding = 3) buffer PageQuads { vec4 pageQuads[]; };
layout(binding = 3) buffer PageWords { uint pageWords[]; };
layout(binding = 4) readonly buffer Length { uint past; };
// For each query of each head of keys: its sum of values, the maximum of its scores, and the sum of their exponentials.
layout(binding = 5) buffer Slot { float slot[]; };
layout(binding = 6) readonly buffer Mask { ELEM mask[]; };
layout(binding = 6) readonly buffer FloatMask { float floatMask[]; };

const uint kPage = 256;  // rows
const uint kLanes = 64;
const uint kChunk = 64;  // of the depth
const uint kKeys = kPage / kLanes;  // of an invocation
const uint kShare = kLanes / kRows;  // invocations that share a row of scores
const float kLowest = -3.40282347e38;

shared float scores[kRows * kPage];
shared vec4 queryChunk[kRows * kChunk / 4];
shared float part[kLanes];
shared float factor[kRows];

float exponential(float x) {
    return x < -88.0 ? 0.0 : exp(x);
}

// Rounds new keys and values as storing them in a page does, so that this run sees them like later ones.
vec4 rounded(vec4 x) {
    return kHalves ? vec4(unpackHalf2x16(packHalf2x16(x.xy)), unpackHalf2x16(packHalf2x16(x.zw))) : x;
}

float pageElement(uint at) {
    return kHalves ? unpackHalf2x16(pageWords[at / 2])[at & 1] : page[at];
}

float newKey(uint row, uint head, uint column) {
    return float(keys[(row * push.keyHeads + head) * push.depth + column]);
}

float newValue(uint row, uint head, uint column) {
    return float(values[(row * push.keyHeads + head) * push.valueDepth + column]);
}

// Four elements of a key, from a column that is a multiple of four; those behind the last one are 0.
vec4 keyQuad(uint past, uint head, uint key, uint column) {
    const uint row = push.pageRow + key;
    if (row >= past) {
        const uint at = ((row - past) * push.keyHeads + head) * push.depth + column;
        if (kWhole) return rounded(vec4(keyQuads[at / 4]));
        vec4 k = vec4(0);
        for (uint i = 0; i < 4; ++i)
            if (column + i < push.depth) k[i] = float(keys[at + i]);
        return rounded(k);
    }
    const uint at = (head * kPage + key) * push.depth + column;
    if (kWhole) {
        if (!kHalves) return pageQuads[at / 4];
        return vec4(unpackHalf2x16(pageWords[at / 2]), unpackHalf2x16(pageWords[at / 2 + 1]));
    }
    vec4 k = vec4(0);
    for (uint i = 0; i < 4; ++i)
        if (column + i < push.depth) k[i] = pageElement(at + i);
    return k;
}

float valueElement(uint past, uint head, uint key, uint column) {
    const uint row = push.pageRow + key;
    if (row >= past) return rounded(vec4(newValue(row - past, head, column))).x;
    return pageElement(push.keyHeads * kPage * push.depth + (head * kPage + key) * push.valueDepth + column);
}

// Stores columns of the new rows among the first `end` ones of the page. `from`: where the head's rows begin.
#define STORE(name, element)                                                                                      \
    void name(uint past, uint head, uint end, uint from, uint width) {                                            \
        const uint first = past > push.pageRow ? past - push.pageRow : 0;                                         \
        if (!kHalves) {                                                                                           \
            for (uint i = first * width + gl_LocalInvocationID.x; i < end * width; i += kLanes)                   \
                page[from + i] = element(push.pageRow + i / width - past, head, i % width);                       \
            return;                                                                                               \
        }                                                                                                         \
        /* A word may have the last number of an old row before the first one of a new row. */                    \
        for (uint i = first * width / 2 + gl_LocalInvocationID.x; i < (end * width + 1) / 2; i += kLanes) {       \
            vec2 two = vec2(0);                                                                                   \
            for (uint k = max(2 * i, first * width); k < min(2 * i + 2, end * width); ++k)                        \
                two[k & 1] = element(push.pageRow + k / width - past, head, k % width);                           \
            const uint word = packHalf2x16(two);                                                                  \
            const bool hasOld = 2 * i < first * width;                                                            \
            pageWords[from / 2 + i] = hasOld ? pageWords[from / 2 + i] & 0xffffu | word & 0xffff0000u : word;     \
        }                                                                                                         \
    }
STORE(storeKeys, newKey)
STORE(storeValues, newValue)
#undef STORE

void main() {
    const uint all = past + push.rows;  // rows in all
    if (GROUP_INDEX >= push.groups || push.pageRow >= all) return;
    const uint lane = gl_LocalInvocationID.x;
    const uint head = GROUP_INDEX / push.blocks, block = GROUP_INDEX % push.blocks;
    const uint share = push.heads / push.keyHeads, queryRows = push.rows * share;
    const uint firstRow = block * kRows, rows = min(kRows, queryRows - firstRow);
    const uint end = min(all - push.pageRow, kPage);
    if (block == 0 && push.pageRow + end > past) {
        storeKeys(past, head, end, head * kPage * push.depth, push.depth);
        storeValues(past, head, end, (push.keyHeads * push.depth + head * push.valueDepth) * kPage, push.valueDepth);
    }
    // The keys of the page that the last query sees.
    const uint seen = past + (firstRow + rows - 1) / share + 1;
    const uint count = kMask != 0 ? end : min(end, seen > push.pageRow ? seen - push.pageRow : 0);
    const bool isFirst = push.isFirst != 0;
    if (count == 0 && !isFirst) return;

    float product[kKeys * kRows];
    [[unroll]] for (uint i = 0; i < kKeys * kRows; ++i) product[i] = 0.0;
    for (uint chunk = 0; chunk < push.depth; chunk += kChunk) {
        barrier();
        for (uint i = lane; i < kRows * kChunk / 4; i += kLanes) {
            const uint row = firstRow + i / (kChunk / 4), column = chunk + i % (kChunk / 4) * 4;
            vec4 q = vec4(0);
            if (row < queryRows && column < push.depth) {
                const uint at = (row / share * push.heads + head * share + row % share) * push.depth + column;
                if (kWhole) {
                    q = vec4(queryQuads[at / 4]);
                } else {
                    for (uint k = 0; k < 4; ++k)
                        if (column + k < push.depth) q[k] = float(queries[at + k]);
                }
            }
            queryChunk[i] = q * push.scale;
        }
        barrier();
        const uint quads = (min(kChunk, push.depth - chunk) + 3) / 4;
        [[unroll]] for (uint k = 0; k < kKeys; ++k) {
            const uint key = lane + k * kLanes;
            if (key >= count) break;
            for (uint d = 0; d < quads; ++d) {
                const vec4 elements = keyQuad(past, head, key, chunk + 4 * d);
                [[unroll]] for (uint r = 0; r < kRows; ++r)
                    product[k * kRows + r] += dot(elements, queryChunk[r * (kChunk / 4) + d]);
            }
        }
    }
    [[unroll]] for (uint k = 0; k < kKeys; ++k) {
        const uint key = lane + k * kLanes;
        if (key >= count) break;
        [[unroll]] for (uint r = 0; r < kRows; ++r) {
            if (r >= rows) break;
            const uint query = (firstRow + r) / share, row = push.pageRow + key;
            float score = product[k * kRows + r];
            if (kMask == 1) score += float(mask[(push.maskRow + query) * all + row]);
            if (kMask == 2) score += floatMask[(push.maskRow + query) * all + row];
            if (kMask == 0 && row > past + query) score = kMinusInfinity;
            scores[r * kPage + key] = score;
        }
    }

    // kShare invocations find the maximum and the sum of a row together.
    const uint row = lane / kShare, own = lane % kShare;
    const uint width = push.valueDepth + 2;
    const uint at = (head * queryRows + firstRow + row) * width + push.valueDepth;  // in the slot
    const bool isThere = row < rows;
    const bool goesOn = isThere && !isFirst;
    barrier();
    const float before = goesOn ? slot[at] : kLowest;
    float best = before;
    if (isThere)
        for (uint key = own; key < count; key += kShare) best = max(best, scores[row * kPage + key]);
    part[lane] = best;
    barrier();
    for (uint step = kShare / 2; step > 0; step /= 2) {
        if (own < step) part[lane] = max(part[lane], part[lane + step]);
        barrier();
    }
    best = part[row * kShare];
    barrier();
    float sum = 0.0;
    if (isThere)
        for (uint key = own; key < count; key += kShare) {
            const float p = exponential(scores[row * kPage + key] - best);
            scores[row * kPage + key] = p;
            sum += p;
        }
    part[lane] = sum;
    barrier();
    for (uint step = kShare / 2; step > 0; step /= 2) {
        if (own < step) part[lane] += part[lane + step];
        barrier();
    }
    if (own == 0 && isThere) {
        const float scale = goesOn ? exponential(before - best) : 0.0;
        factor[row] = scale;
        slot[at] = best;
        slot[at + 1] = part[lane] + (goesOn ? slot[at + 1] * scale : 0.0);
    }
    barrier();

    for (uint column = lane; column < push.valueDepth; column += kLanes) {
        float total[kRows];
        [[unroll]] for (uint r = 0; r < kRows; ++r) total[r] = 0.0;
        for (uint key = 0; key < count; ++key) {
            const float v = valueElement(past, head, key, column);
            [[unroll]] for (uint r = 0; r < kRows; ++r) total[r] += scores[r * kPage + key] * v;
        }
        [[unroll]] for (uint r = 0; r < kRows; ++r) {
            if (r >= rows) break;
            const uint to = (head * queryRows + firstRow + r) * width + column;
            slot[to] = isFirst ? total[r] : slot[to] * factor[r] + total[r];
        }
    }
}
