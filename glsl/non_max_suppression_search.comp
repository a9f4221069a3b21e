// variants: f32
// Finds the boxes that a class of a picture keeps, by falling score and, among equal scores, by number: a box is
// removed when its overlap with one that is kept exceeds the limit. A work group searches a class, and each dispatch
// continues where the one before ended. It sorts a list of the next best scores, whose smallest key a radix selection
// finds byte by byte. It takes the list in blocks of boxes, which are compared with all that are kept so far, then with
// one another. Quotients are rounded as on the CPU, since one bit decides.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "math.glsl"

layout(constant_id = 1) const uint kBlock = 32;  // boxes of a block, a multiple of 32: at most the local size
layout(constant_id = 2) const bool kShareGiven = true;
layout(constant_id = 3) const bool kScoreGiven = true;
// maxKept: boxes of a class; quota: entries of the list; first: whether this is the first dispatch.
PUSH(uint count; uint classes; uint maxKept; uint quota; uint first;);
layout(binding = 0) readonly buffer Boxes { vec4 boxes[]; };  // two opposite corners
layout(binding = 1) readonly buffer Scores { float scores[]; };
layout(binding = 2) readonly buffer ShareLimit { float shareLimit[]; };
layout(binding = 3) readonly buffer ScoreLimit { float scoreLimit[]; };
layout(binding = 4) coherent buffer Kept { uint kept[]; };  // [group][maxKept]
layout(binding = 5) buffer Counts { uint counts[]; };
// [group]: the last entry that was taken; (0, 0): there are no others.
layout(binding = 6) buffer Ends { uvec2 ends[]; };

const uint kList = 1024;  // the longest list
const uint kWords = kBlock / 32;

// The order of scores as that of unsigned words, then the numbers of the boxes, counted from the end.
shared uvec2 list[kList];
// A block: its boxes, the boxes that they are compared with, a bit for each box that is removed, and for each box the
// bits of the later ones that it would remove.
shared vec4 candidates[kBlock], others[kBlock];
shared uint gone[kWords];
shared uint removes[kBlock * kWords];
shared uint bytes[256];  // the number of keys with each byte, during a selection
shared uint found, chosen, before, total;

// NaN gives 0, which is behind every number. Subnormal numbers count as zero.
uint scoreKey(float score) {
    const uint bits = floatBitsToUint(score), magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return 0;
    return magnitude < 0x00800000u ? 0x80000000u : (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

bool precedes(uvec2 a, uvec2 b) {
    return a.x > b.x || (a.x == b.x && a.y > b.y);
}

// Byte 7 is the highest one of the key.
uint byteOf(uvec2 key, uint byte_) {
    return ((byte_ >= 4 ? key.x : key.y) >> (byte_ % 4 * 8)) & 255u;
}

// Minimum and maximum as on the CPU, also of NaN.
float minOf(float a, float b) {
    return b < a ? b : a;
}
float maxOf(float a, float b) {
    return a < b ? b : a;
}

// Returns the lower corner, then the other one.
vec4 boxAt(uint at) {
    const vec4 box = boxes[at];
    return vec4(minOf(box.x, box.z), minOf(box.y, box.w), maxOf(box.x, box.z), maxOf(box.y, box.w));
}

float areaOf(vec4 box) {
    precise float high = box.z - box.x;
    precise float wide = box.w - box.y;
    precise float area = high * wide;
    return area;
}

bool sharesMore(vec4 a, vec4 b, float limit) {
    const float areaA = areaOf(a), areaB = areaOf(b);
    if (areaA <= 0.0 || areaB <= 0.0) return false;
    precise float high = maxOf(minOf(a.z, b.z) - maxOf(a.x, b.x), 0.0);
    precise float wide = maxOf(minOf(a.w, b.w) - maxOf(a.y, b.y), 0.0);
    precise float both = high * wide;
    precise float sum = areaA + areaB;
    precise float all = sum - both;
    const float share = both / all;
    return abs(share - limit) > 1e-5 * limit ? share > limit : quotient(both, all) > limit;
}

// Returns an entry of the order; entries without a score, with one that is too low, and those up to `last` are (0, 0).
uvec2 entryOf(uint base, uint k, uint lowest, uvec2 last) {
    const uvec2 key = uvec2(scoreKey(scores[base + k]), ~k);
    return key.x > lowest && precedes(last, key) ? key : uvec2(0);
}

// Returns where the list ends that begins behind `last` and has as many entries as push.quota allows: its last entry,
// or a key between that entry and the next one.
uvec2 endOfList(uint base, uint lowest, uvec2 last) {
    const uint thread = gl_LocalInvocationID.x, threads = gl_WorkGroupSize.x;
    uvec2 end = uvec2(0), mask = uvec2(0);
    uint missing = push.quota;
    for (uint byte_ = 8; byte_ > 0;) {
        --byte_;
        for (uint i = thread; i < 256; i += threads) bytes[i] = 0;
        barrier();
        for (uint k = thread; k < push.count; k += threads) {
            const uvec2 key = entryOf(base, k, lowest, last);
            if (key.x != 0 && (key & mask) == end) atomicAdd(bytes[byteOf(key, byte_)], 1);
        }
        barrier();
        if (thread == 0) {
            uint sum = 0, digit = 255;
            while (digit > 0 && sum + bytes[digit] < missing) sum += bytes[digit--];
            chosen = digit;
            before = sum;
        }
        barrier();
        missing -= before;
        const uint shift = byte_ % 4 * 8;
        mask |= byte_ >= 4 ? uvec2(255u << shift, 0) : uvec2(0, 255u << shift);
        end |= byte_ >= 4 ? uvec2(chosen << shift, 0) : uvec2(0, chosen << shift);
        const bool whole = bytes[chosen] == missing;
        barrier();
        if (whole) break;  // all keys with these bytes belong to the list
    }
    return end;
}

// Puts the entries behind `last`, up to `end`, into the list, in any order. Returns their number, even if it exceeds
// the list.
uint collect(uint base, uint lowest, uvec2 last, uvec2 end) {
    if (gl_LocalInvocationID.x == 0) found = 0;
    barrier();
    for (uint k = gl_LocalInvocationID.x; k < push.count; k += gl_WorkGroupSize.x) {
        const uvec2 key = entryOf(base, k, lowest, last);
        if (key.x == 0 || precedes(end, key)) continue;
        const uint slot = atomicAdd(found, 1);
        if (slot < push.quota) list[slot] = key;
    }
    barrier();
    const uint result = found;
    barrier();
    return result;
}

// Sorts bitonically, over the power of two that `length` needs.
void sortList(uint length) {
    const uint thread = gl_LocalInvocationID.x, threads = gl_WorkGroupSize.x;
    uint whole = 2;
    while (whole < length) whole *= 2;
    for (uint i = length + thread; i < whole; i += threads) list[i] = uvec2(0);
    barrier();
    for (uint size = 2; size <= whole; size *= 2)
        for (uint step_ = size / 2; step_ > 0; step_ /= 2) {
            for (uint i = thread; i < whole / 2; i += threads) {
                const uint a = i / step_ * step_ * 2 + i % step_, b = a + step_;
                const bool forward = (a & size) == 0;
                const uvec2 first = list[a], second = list[b];
                if (precedes(second, first) == forward) {
                    list[a] = second;
                    list[b] = first;
                }
            }
            barrier();
        }
}

bool isGone(uint i) {
    return (gone[i / 32] >> i % 32 & 1u) != 0;
}

// Takes the entries of the list from `begin` on, at most a block of them. `have`: the number kept before. Returns the
// number that is kept then.
uint take(uint begin, uint length, uint have, uint firstBox, uint firstKept, float limit) {
    const uint thread = gl_LocalInvocationID.x, threads = gl_WorkGroupSize.x;
    // Several invocations compare one box.
    const uint mine = thread % kBlock, part = thread / kBlock, parts = threads / kBlock;
    const bool compares = mine < length && part < parts;
    if (thread < length) candidates[thread] = boxAt(firstBox + ~list[begin + thread].y);
    for (uint i = thread; i < kWords; i += threads) gone[i] = 0;
    for (uint i = thread; i < kBlock * kWords; i += threads) removes[i] = 0;
    for (uint tile = 0; tile < have; tile += kBlock) {
        const uint size = min(kBlock, have - tile);
        barrier();
        if (thread < size) others[thread] = boxAt(firstBox + kept[firstKept + tile + thread]);
        barrier();
        if (compares && !isGone(mine))
            for (uint k = part; k < size; k += parts)
                if (sharesMore(candidates[mine], others[k], limit)) {
                    atomicOr(gone[mine / 32], 1u << mine % 32);
                    break;
                }
    }
    barrier();
    if (compares && !isGone(mine))
        for (uint k = mine + 1 + part; k < length; k += parts)
            if (sharesMore(candidates[k], candidates[mine], limit))
                atomicOr(removes[mine * kWords + k / 32], 1u << k % 32);
    barrier();
    if (thread == 0) {
        uint sum = have;
        for (uint i = 0; i < length && sum < push.maxKept; ++i) {
            if (isGone(i)) continue;
            kept[firstKept + sum++] = ~list[begin + i].y;
            for (uint word = i / 32; word < kWords; ++word) gone[word] |= removes[i * kWords + word];
        }
        total = sum;
    }
    memoryBarrierBuffer();
    barrier();
    const uint result = total;
    barrier();
    return result;
}

void main() {
    const uint group = GROUP_INDEX;
    if (group >= push.groups) return;
    const uint base = group * push.count, firstBox = group / push.classes * push.count;
    uint lowest = 0x00800000u;  // the key of the lowest float
    if (kScoreGiven) {
        lowest = scoreKey(scoreLimit[0]);
        if (lowest == 0) lowest = 0xffffffffu;  // no score is above NaN
    }
    float limit = 0.0;  // a share must be more than 0 in any case
    if (kShareGiven) {
        const float given = shareLimit[0];
        limit = isNotANumber(given) ? kInf : max(given, 0.0);
    }
    const bool first = push.first != 0;
    const uvec2 last = first ? uvec2(0xffffffffu) : ends[group];
    uint have = first ? 0 : counts[group];
    if (last.x == 0) return;

    uint length = collect(base, lowest, last, uvec2(0));
    const bool rest = length > push.quota;
    if (rest) length = collect(base, lowest, last, endOfList(base, lowest, last));
    length = min(length, push.quota);
    sortList(length);
    for (uint begin = 0; begin < length && have < push.maxKept; begin += kBlock)
        have = take(begin, min(kBlock, length - begin), have, firstBox, group * push.maxKept, limit);
    if (gl_LocalInvocationID.x != 0) return;
    counts[group] = have;
    ends[group] = rest && have < push.maxKept ? list[length - 1] : uvec2(0);
}
