// Distributions of random numbers. They are written out, because each C++ library computes those of <random> in a way
// of its own, and results must not depend on it. They give the numbers of libstdc++.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

namespace mnnc::cpu {

// G: a generator of <random> with at least 24 bits.
template <typename G>
class Uniform {
  public:
    Uniform(float low, float high) : low_(low), high_(high) {}
    float operator()(G& generator) const {
        constexpr float kRange = static_cast<float>(uint64_t{G::max()} - G::min() + 1);
        const float part = static_cast<float>(generator() - G::min()) / kRange;
        return std::min(part, 1 - 0x1p-24f) * (high_ - low_) + low_;
    }

  private:
    const float low_, high_;
};

// The polar method, which makes two numbers at a time (Marsaglia and Bray, "A convenient method for generating normal
// variables", SIAM Review 6, 1964).
template <typename G>
class Normal {
  public:
    Normal(float mean, float deviation) : mean_(mean), deviation_(deviation) {}
    float operator()(G& generator) {
        if (saved_) {
            saved_ = false;
            return second_ * deviation_ + mean_;
        }
        const Uniform<G> uniform(0, 1);
        float x = 0, y = 0, square = 0;
        do {
            x = 2 * uniform(generator) - 1;
            y = 2 * uniform(generator) - 1;
            square = x * x + y * y;
        } while (square > 1 || square == 0);
        const float scale = std::sqrt(-2 * std::log(square) / square);
        second_ = x * scale;
        saved_ = true;
        return y * scale * deviation_ + mean_;
    }

  private:
    const float mean_, deviation_;
    float second_ = 0;
    bool saved_ = false;
};

}  // namespace mnnc::cpu
