// The tables of int8 kernels that this CPU can use: for every instruction set and every kind of products.
#pragma once
#include <random>
#include <string>
#include <vector>

#include "backends/cpu/kernels/int8/int8_kernels.h"
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
        for (const Int8Product kind : {Int8Product::Matrix, Int8Product::Dot, Int8Product::Vnni, Int8Product::Pairs}) {
            const Int8Kernels* table = int8Kernels(kernels.id, kind);
            if (!table) continue;
            list.push_back({isa + " with " + table->name, kernels});
            list.back().kernels.int8 = table;
        }
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
