// Steps through memory by a stride.
#pragma once
#include <cstddef>

namespace mnnc {

// Returns the address `stride` numbers behind `at`, computed when it is needed: compilers would compute those of all
// points of a tile before its loop, and keep them in memory.
template <typename T>
[[gnu::always_inline]] inline T* nextAddress(T* at, ptrdiff_t stride) {
    at += stride;
    asm("" : "+r"(at));
    return at;
}

}  // namespace mnnc
