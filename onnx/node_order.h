// Nodes behind those whose results they read. ONNX asks files for this order, and onnxruntime does not.
#pragma once
#include <vector>

#include "model.h"

namespace mnnc::onnx {

// The order of the file where it is possible; nodes of a cycle come last.
std::vector<const Node*> inOrder(const std::vector<Node>& nodes);

}  // namespace mnnc::onnx
