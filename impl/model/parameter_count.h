// Counts the weights of a model without decoding them.
#pragma once
#include <cstdint>

#include "model/model.h"

namespace mnnc {

// Returns the number of elements of the weights, biases, slopes, scales and constants of all graphs, including external
// ones. Tables without a case in parameter_count.cpp, such as those of recurrent layers, count nothing.
uint64_t countParameters(const Model& model);

}  // namespace mnnc
