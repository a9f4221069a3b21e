// Nets of one or two random operators, which a seed makes again.
#pragma once
#include <cstdint>
#include <vector>

#include "mnn_objects_generated.h"

namespace fuzz {

struct RandomNet {
    mnnc::wire::OpType type = mnnc::wire::OpType::AbsVal;  // of its first operator
    std::vector<uint8_t> model;
};

// With a first operator of type `wanted`, or of any.
RandomNet randomNet(uint64_t seed, const mnnc::wire::OpType* wanted);

}  // namespace fuzz
