// Puts the codes of int8 weights into the orders that packing needs.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace mnnc {

// Copies `count` codes that lie `step` apart to contiguous numbers.
template <typename T>
inline void gatherCodes(const int8_t* from, int step, int count, T* to) {
    if (step == 1)
        std::copy(from, from + count, to);
    else
        for (int i = 0; i < count; ++i) to[i] = from[size_t(i) * step];
}

// Adds 128 times the sum of the codes of each of `count` rows, which have `steps` fours of codes, to `sums`. These wrap
// like all sums.
inline void addRowSums(const float* rows, int steps, int count, int32_t* sums) {
    for (int l = 0; l < count; ++l) {
        const auto* codes = reinterpret_cast<const int8_t*>(rows + size_t(l) * steps);
        int32_t sum = 0;
        for (int i = 0; i < steps * 4; ++i) sum += codes[i];
        sums[l] = static_cast<int32_t>(static_cast<uint32_t>(sums[l]) + 128u * static_cast<uint32_t>(sum));
    }
}

// The largest sum of four weights whose products with codes from 0 to 127 fit 16 bits.
constexpr int kMaxTogether = 32767 / 127;

// Returns whether sums of 16 bits hold the products of two steps of four codes with codes from 0 to 127: the first two
// products of both steps are added, and the last two.
inline bool fitTogether(const int8_t* codes) {
    for (int half = 0; half < 4; half += 2) {
        int positive = 0, negative = 0;
        for (const int code : {codes[half], codes[half + 1], codes[half + 4], codes[half + 5]})
            (code > 0 ? positive : negative) += code;
        if (positive > kMaxTogether || negative < -kMaxTogether) return false;
    }
    return true;
}

// Separates `vectors` of `lanes` pairs of numbers, each in place: the first of all pairs, then the second ones.
inline void takePairsApart(char* vectors, int64_t count, int lanes) {
    constexpr int kMaxNumbers = 32;
    int16_t pairs[kMaxNumbers];
    const size_t bytes = size_t(lanes) * 4;
    for (int64_t i = 0; i < count; ++i, vectors += bytes) {
        std::memcpy(pairs, vectors, bytes);
        int16_t apart[kMaxNumbers];
        for (int l = 0; l < lanes; ++l) {
            apart[l] = pairs[2 * l];
            apart[lanes + l] = pairs[2 * l + 1];
        }
        std::memcpy(vectors, apart, bytes);
    }
}

// Stores pairs of steps of `lanes` rows side by side, of which `count` exist; the next pair follows `width` pairs
// later.
inline void pairsToPanel(const float* rows, int steps, int count, char* out, int lanes, int width) {
    for (int i = 0; i < steps; i += 2, out += ptrdiff_t(width) * 8)
        for (int l = 0; l < lanes; ++l) {
            if (l < count)
                std::memcpy(out + ptrdiff_t(l) * 8, rows + size_t(l) * steps + i, 8);
            else
                std::memset(out + ptrdiff_t(l) * 8, 0, 8);
        }
}

}  // namespace mnnc
