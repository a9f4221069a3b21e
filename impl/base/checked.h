// Overflow-checked 64-bit arithmetic: model files are hostile.
#pragma once
#include <cstdint>

#include "base/error.h"

namespace mnnc {

inline int64_t checkedMul(int64_t a, int64_t b, const char* what) {
    int64_t result = 0;
    if (__builtin_mul_overflow(a, b, &result))
        fail(Status::Overflow, "%s: %lld x %lld overflows", what, static_cast<long long>(a), static_cast<long long>(b));
    return result;
}

inline int64_t checkedAdd(int64_t a, int64_t b, const char* what) {
    int64_t result = 0;
    if (__builtin_add_overflow(a, b, &result))
        fail(Status::Overflow, "%s: %lld + %lld overflows", what, static_cast<long long>(a), static_cast<long long>(b));
    return result;
}

constexpr int64_t ceilDiv(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}
constexpr int64_t roundUp(int64_t a, int64_t b) {
    return ceilDiv(a, b) * b;
}

}  // namespace mnnc
