// Makes one convolution of several that read the same tensor and whose results are only added.
#pragma once
#include "builder.h"

namespace mnnc::onnx {

// Returns whether it changed the net.
bool foldBranches(Builder& builder, const std::vector<V>& outputs);

}  // namespace mnnc::onnx
