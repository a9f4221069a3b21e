// Replaces chains of operators that exporters write for one operator: layer normalisation and GELU.
#pragma once
#include "builder.h"

namespace mnnc::onnx {

void foldPatterns(Builder& builder, const std::vector<V>& outputs);

}  // namespace mnnc::onnx
