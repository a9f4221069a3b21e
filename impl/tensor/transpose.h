// Transposes a matrix of elements in a caller's buffer, which may have any alignment.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace mnnc {

namespace transposition {

// A vector type of the compiler, which exists for every instruction set, so that no file is compiled twice.
using Four = uint32_t __attribute__((vector_size(16)));

inline Four load(const char* p) {
    Four v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
inline void store(Four v, char* p) {
    std::memcpy(p, &v, sizeof v);
}

// Transposes a square of four by four elements of four bytes.
inline void square(const char* src, int64_t srcStride, char* dst, int64_t dstStride) {
    const Four a = load(src), b = load(src + srcStride), c = load(src + 2 * srcStride), d = load(src + 3 * srcStride);
    const Four ab0 = __builtin_shufflevector(a, b, 0, 4, 1, 5), ab1 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const Four cd0 = __builtin_shufflevector(c, d, 0, 4, 1, 5), cd1 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    store(__builtin_shufflevector(ab0, cd0, 0, 1, 4, 5), dst);
    store(__builtin_shufflevector(ab0, cd0, 2, 3, 6, 7), dst + dstStride);
    store(__builtin_shufflevector(ab1, cd1, 0, 1, 4, 5), dst + 2 * dstStride);
    store(__builtin_shufflevector(ab1, cd1, 2, 3, 6, 7), dst + 3 * dstStride);
}

}  // namespace transposition

// Sets dst[c][r] = src[r][c] for elements of kBytes bytes; strides lead from row to row, in bytes. Goes through the
// rows in strips, so that each line of src is read once and each line of dst is filled while it is in the first level
// cache.
template <size_t kBytes>
void transpose(const char* src, int64_t srcStride, int64_t rows, int64_t columns, char* dst, int64_t dstStride) {
    constexpr int64_t kStrip = 64;
    const auto element = [&](int64_t r, int64_t c) {
        std::memcpy(dst + c * dstStride + r * int64_t{kBytes}, src + r * srcStride + c * int64_t{kBytes}, kBytes);
    };
    for (int64_t r0 = 0; r0 < rows; r0 += kStrip) {
        const int64_t r1 = r0 + kStrip < rows ? r0 + kStrip : rows;
        int64_t c = 0;
        if constexpr (kBytes == 4)
            for (; c + 4 <= columns; c += 4) {
                int64_t r = r0;
                for (; r + 4 <= r1; r += 4)
                    transposition::square(src + r * srcStride + c * 4, srcStride, dst + c * dstStride + r * 4,
                                          dstStride);
                for (; r < r1; ++r)
                    for (int64_t i = c; i < c + 4; ++i) element(r, i);
            }
        for (; c < columns; ++c)
            for (int64_t r = r0; r < r1; ++r) element(r, c);
    }
}

}  // namespace mnnc
