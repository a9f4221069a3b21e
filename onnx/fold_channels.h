// Makes operators after a convolution that only scale or shift its channels part of its weights.
#pragma once
#include "builder.h"

namespace mnnc::onnx {

void foldChannels(Builder& builder, const std::vector<V>& outputs);

}  // namespace mnnc::onnx
