// Nets of one or two random operators, which a seed reproduces.
#pragma once
#include <cstdint>
#include <vector>

#include "mnn_objects_generated.h"

namespace fuzz {

struct RandomNet {
    mnnc::wire::OpType type = mnnc::wire::OpType::AbsVal;  // the type of its first operator
    std::vector<uint8_t> model;
};

// Makes a net whose first operator has the type `wanted`, or any type.
RandomNet randomNet(uint64_t seed, const mnnc::wire::OpType* wanted);

}  // namespace fuzz
