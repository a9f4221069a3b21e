// What follows a convolution and only scales or shifts its channels becomes a part of its weights.
#pragma once
#include "builder.h"

namespace mnnc::onnx {

void foldChannels(Builder& builder, const std::vector<V>& outputs);

}  // namespace mnnc::onnx
