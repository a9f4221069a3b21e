// Values that the model quantises are codes times a step. Where an operator computes them with floats, and one that
// computes with floats reads them, they are rounded to codes and cut to their range in between, as the model has it.
#pragma once
#include <map>
#include <string>

#include "builder.h"

namespace mnnc::onnx {

// Returns the operators of the format that make quantised values with floats, with their number.
std::map<std::string, int64_t> roundCodes(Builder& builder, const std::vector<V>& outputs);

}  // namespace mnnc::onnx
