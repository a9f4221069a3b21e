// The order of floats in Unique, for its shape rule and its execution.
#pragma once
#include <cstdint>

namespace mnnc {

// Returns the bits of a float as an integer in the same order: both zeros are one value, and so are all NaN, which come
// last.
inline int32_t floatKey(int32_t bits) noexcept {
    const int32_t magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return 0x7fc00000;
    if (magnitude == 0) return 0;
    return bits < 0 ? bits ^ 0x7fffffff : bits;
}

// Returns the bits of the float with this key.
inline int32_t floatOfKey(int32_t key) noexcept {
    return key < 0 ? key ^ 0x7fffffff : key;
}

}  // namespace mnnc
