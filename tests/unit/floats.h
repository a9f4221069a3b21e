// Vectors of floats for tests of kernels.
#pragma once
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace mnnc::testing {

using Floats = std::vector<float>;

inline Floats randomFloats(size_t n, unsigned seed, float scale = 1.0f) {
    std::mt19937 rng(seed);
    std::uniform_real_distribution<float> dist(-scale, scale);
    Floats out(n);
    for (float& x : out) x = dist(rng);
    return out;
}

// To nearest even.
inline Floats roundedToBf16(Floats values) {
    for (float& x : values) {
        uint32_t bits;
        std::memcpy(&bits, &x, 4);
        bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
        std::memcpy(&x, &bits, 4);
    }
    return values;
}

}  // namespace mnnc::testing
