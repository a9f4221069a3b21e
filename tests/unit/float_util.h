// Vectors of floats: random ones, rounding, distances.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace mnnc::test {

using Floats = std::vector<float>;

inline Floats randomFloats(size_t n, unsigned seed, float scale = 1.0f) {
    std::mt19937 rng(seed);
    std::uniform_real_distribution<float> dist(-scale, scale);
    Floats out(n);
    for (float& x : out) x = dist(rng);
    return out;
}

// Rounds to nearest even.
inline Floats roundedToBf16(Floats values) {
    for (float& x : values) {
        uint32_t bits;
        std::memcpy(&bits, &x, 4);
        bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
        std::memcpy(&x, &bits, 4);
    }
    return values;
}

// Largest difference relative to 1 or to the value; infinity when the sizes differ or a value is NaN.
inline double distance(const Floats& a, const Floats& b) {
    if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
    double worst = 0;
    for (size_t i = 0; i < a.size(); ++i) {
        const double d = std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i])) /
                         std::fmax(1.0, std::fabs(static_cast<double>(b[i])));
        if (!(d <= worst)) worst = std::isnan(d) ? std::numeric_limits<double>::infinity() : d;
    }
    return worst;
}

// The same divided by the largest value of b: for results whose errors do not depend on their own size.
inline double distanceToLargest(Floats a, Floats b) {
    float largest = 1e-30f;
    for (const float x : b) largest = std::max(largest, std::fabs(x));
    for (Floats* values : {&a, &b})
        for (float& x : *values) x /= largest;
    return distance(a, b);
}

}  // namespace mnnc::test
