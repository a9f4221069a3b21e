// The tables of int8 kernels that this CPU has: of every instruction set, with VNNI and without.
#pragma once
#include <random>
#include <string>
#include <vector>

#include "backends/cpu/kernels/int8_kernels.h"
#include "backends/cpu/kernels/kernels.h"

namespace mnnc::test {

using Bytes = std::vector<int8_t>;

struct Variant {
    std::string name;
    Kernels kernels;
};

inline std::vector<Variant> variants() {
    std::vector<Variant> list;
    for (const std::string& isa : availableIsas()) {
        const Kernels& kernels = selectKernels(isa);
        list.push_back({isa, kernels});
        Kernels plain = kernels;
        plain.int8 = &int8Kernels(kernels.id, false);
        if (plain.int8 != kernels.int8) list.push_back({isa + " without vnni", plain});
    }
    return list;
}

inline Bytes randomBytes(size_t n, unsigned seed) {
    std::mt19937 random(seed);
    Bytes bytes(n);
    for (int8_t& value : bytes) value = static_cast<int8_t>(random());
    return bytes;
}

}  // namespace mnnc::test
