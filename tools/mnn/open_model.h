// Opens models for all commands.
#pragma once
#include <string>

#include "common.h"

namespace tool {

// The path "-" is standard input, a .mnn model. Weights in a file beside the model are found only for a path. A model
// whose path ends with .onnx is converted in memory, where it needs it for `shapes` alone. `attentionScale`: as in
// mnn_interpreter_options_t.
Interpreter openModel(const std::string& path, const InputShapes& shapes = {}, float attentionScale = 0);

}  // namespace tool
