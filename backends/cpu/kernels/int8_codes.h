// Reading the codes of int8 weights for packing.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace mnnc {

// `count` codes that lie `step` apart, as numbers side by side.
template <typename T>
inline void gatherCodes(const int8_t* from, int step, int count, T* to) {
    if (step == 1)
        std::copy(from, from + count, to);
    else
        for (int i = 0; i < count; ++i) to[i] = from[size_t(i) * step];
}

}  // namespace mnnc
