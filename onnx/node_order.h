// Orders nodes so that each follows the producers of its inputs. ONNX requires this order of files; onnxruntime does
// not.
#pragma once
#include <vector>

#include "model.h"

namespace mnnc::onnx {

// Returns the order of the file where it is valid, else a topological one close to it. Nodes of a cycle, and
// those that wait for one, come last.
std::vector<const Node*> inOrder(const std::vector<Node>& nodes);

}  // namespace mnnc::onnx
