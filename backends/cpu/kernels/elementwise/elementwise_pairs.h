// Applies one function to the elements of two rows, and finds functions by the codes of operators, for kernels that are
// compiled once.
#pragma once
#include "backends/cpu/kernels/elementwise/elementwise.h"

namespace mnnc {

template <class A, class B, class R, R (*F)(A, B)>
void pairScalar(const void* a, Elements aMode, const void* b, Elements bMode, void* y, size_t n, size_t lanes) {
    const A* ta = static_cast<const A*>(a);
    const B* tb = static_cast<const B*>(b);
    R* ty = static_cast<R*>(y);
    if (aMode == Elements::Each && bMode == Elements::Each) {
        for (size_t i = 0; i < n; ++i) ty[i] = F(ta[i], tb[i]);
    } else if (aMode == Elements::Each) {
        const size_t mask = bMode == Elements::Lanes ? lanes - 1 : 0;
        for (size_t i = 0; i < n; ++i) ty[i] = F(ta[i], tb[i & mask]);
    } else {
        const size_t mask = aMode == Elements::Lanes ? lanes - 1 : 0;
        for (size_t i = 0; i < n; ++i) ty[i] = F(ta[i & mask], tb[i]);
    }
}

template <class Function>
struct Coded {
    int code;
    Function function;
};

// Returns the function of a code, null where there is none.
template <class Function, size_t N>
constexpr Function withCode(const Coded<Function> (&functions)[N], int code) noexcept {
    for (const Coded<Function>& each : functions)
        if (each.code == code) return each.function;
    return nullptr;
}

}  // namespace mnnc
