// Counts the weights of a model without decoding them.
#pragma once
#include <cstdint>

#include "model/model.h"

namespace mnnc {

// Elements of every weight, bias, slope, scale and constant of all graphs, including external ones.
uint64_t countParameters(const Model& model);

}  // namespace mnnc
