// Values that the model quantises are codes times a step. Where one operator computes them with floats and another one
// reads them as floats, they are rounded to codes and clamped to their range in between, as in the model.
#pragma once
#include <map>
#include <string>

#include "builder.h"

namespace mnnc::onnx {

// Returns, by name, the operators of the format that compute quantised values with floats, with their number.
std::map<std::string, int64_t> roundCodes(Builder& builder, const std::vector<V>& outputs);

}  // namespace mnnc::onnx
