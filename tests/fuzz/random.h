// Repeatable random numbers (splitmix64): a seed gives the same mutation in every build.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace fuzz {

class Random {
  public:
    explicit Random(uint64_t seed) : state_(seed) {}

    uint64_t next() {
        uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    // Returns 0 to limit - 1; 0 when limit is 0.
    size_t below(size_t limit) { return limit ? static_cast<size_t>(next() % limit) : 0; }
    bool oneIn(size_t times) { return below(times) == 0; }
    template <typename List>
    auto& pick(List& list) {
        return *std::next(std::begin(list), static_cast<std::ptrdiff_t>(below(std::size(list))));
    }
    // Returns a number that is likely to exceed bounds: mostly a small one, or an end of a type.
    int64_t number() {
        static constexpr int64_t kEnds[] = {127,       128,          255,        256,       32767,      32768,
                                            65535,     65536,        1000000,    1 << 20,   INT32_MAX,  INT32_MIN,
                                            1 << 28,   1 << 30,      0x7ffffffe, INT64_MAX, INT64_MIN,  1LL << 32,
                                            1LL << 40, -(1LL << 33), -127,       -128,      0x3fffffff, 0x55555556};
        if (oneIn(6)) return pick(kEnds);
        if (oneIn(6)) return static_cast<int64_t>(below(300)) - 20;
        return static_cast<int64_t>(below(13)) - 3;
    }

  private:
    uint64_t state_;
};

}  // namespace fuzz
