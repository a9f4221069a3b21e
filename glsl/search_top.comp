// variants: f32 f16 i32
// Finds the `count` largest or smallest elements of each row, in order, and their positions. Of equal ones the first
// comes first; NaN counts as larger than any number. A work group takes a row: a radix selection finds the smallest key
// of the list byte by byte, then the list is sorted in shared memory. Rows that fit there are sorted directly.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(constant_id = 1) const uint kCapacity = 64;  // of the list: a power of two
layout(constant_id = 2) const bool kLargest = true;
PUSH(uint extent; uint inner; uint count;);
layout(binding = 0) readonly buffer Source { ELEM source[]; };
layout(binding = 1) writeonly buffer Values { ELEM values[]; };
layout(binding = 2) writeonly buffer Positions { int positions[]; };

// The order of elements as that of unsigned words, then their positions, counted from the end.
shared uvec2 list[kCapacity];
shared uint counts[256];
shared uint chosen, before, found;

uint valueKey(uint at) {
#ifdef INT
    const uint key = uint(source[at]) ^ 0x80000000u;
#else
    const uint bits = floatBitsToUint(float(source[at]));
    const uint magnitude = bits & 0x7fffffffu;
    uint key = magnitude == 0 ? 0x80000000u : (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
    if (magnitude > 0x7f800000u) key = 0xffffffffu;
#endif
    return kLargest ? key : ~key;
}

bool precedes(uvec2 a, uvec2 b) {
    return a.x > b.x || (a.x == b.x && a.y > b.y);
}

// Byte 7 is the highest one of the key.
uint byteOf(uvec2 key, uint byte_) {
    return ((byte_ >= 4 ? key.x : key.y) >> (byte_ % 4 * 8)) & 255u;
}

void main() {
    const uint group = GROUP_INDEX;
    if (group >= push.groups) return;
    const uint thread = gl_LocalInvocationID.x, threads = gl_WorkGroupSize.x;
    const uint outer = group / push.inner, column = group - outer * push.inner;
    const uint base = outer * push.extent * push.inner + column;

    uvec2 smallest = uvec2(0);
    if (push.extent > kCapacity) {
        uint missing = push.count;
        uvec2 mask = uvec2(0);
        for (uint byte_ = 8; byte_ > 0;) {
            --byte_;
            for (uint i = thread; i < 256; i += threads) counts[i] = 0;
            barrier();
            for (uint k = thread; k < push.extent; k += threads) {
                const uvec2 key = uvec2(valueKey(base + k * push.inner), ~k);
                if ((key & mask) == smallest) atomicAdd(counts[byteOf(key, byte_)], 1);
            }
            barrier();
            if (thread == 0) {
                uint sum = 0, digit = 255;
                while (digit > 0 && sum + counts[digit] < missing) sum += counts[digit--];
                chosen = digit;
                before = sum;
            }
            barrier();
            missing -= before;
            const uint shift = byte_ % 4 * 8;
            mask |= byte_ >= 4 ? uvec2(255u << shift, 0) : uvec2(0, 255u << shift);
            smallest |= byte_ >= 4 ? uvec2(chosen << shift, 0) : uvec2(0, chosen << shift);
            const bool whole = counts[chosen] == missing;
            barrier();
            if (whole) break;  // all keys with these bytes belong to the list
        }
    }

    for (uint i = thread; i < kCapacity; i += threads) list[i] = uvec2(0);  // behind every key
    if (thread == 0) found = 0;
    barrier();
    for (uint k = thread; k < push.extent; k += threads) {
        const uvec2 key = uvec2(valueKey(base + k * push.inner), ~k);
        if (precedes(smallest, key)) continue;
        const uint slot = atomicAdd(found, 1);
        if (slot < kCapacity) list[slot] = key;
    }
    barrier();
    // Bitonic sort.
    for (uint size = 2; size <= kCapacity; size *= 2)
        for (uint step_ = size / 2; step_ > 0; step_ /= 2) {
            for (uint i = thread; i < kCapacity / 2; i += threads) {
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
    for (uint i = thread; i < push.count; i += threads) {
        const uint position = min(~list[i].y, push.extent - 1);
        const uint to = (outer * push.count + i) * push.inner + column;
        values[to] = source[base + position * push.inner];
        positions[to] = int(position);
    }
}
