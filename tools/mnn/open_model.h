// The one place where commands open models.
#pragma once
#include <string>

#include "common.h"

namespace tool {

// "-" is standard input, a .mnn model. Weights in a file beside the model are found for a path only. A path that ends
// with .onnx is converted in memory.
Interpreter openModel(const std::string& path);

}  // namespace tool
