// Tensors as a plan's text shows them.
#pragma once
#include <string>
#include <vector>

#include "base/error.h"
#include "tensor/operand.h"

namespace mnnc {

// Name, type, shape, and the mark of coordinates.
inline std::string operandText(const Operand& tensor) {
    return format("%s %s %s%s", tensor.name.empty() ? "_" : tensor.name.c_str(), dataTypeName(tensor.type),
                  tensor.shape.text().c_str(), tensor.wide ? " in 32 bits" : "");
}

// What `text` makes of each tensor, separated by commas.
template <typename Text>
std::string joined(const std::vector<Operand*>& tensors, const Text& text) {
    std::string list;
    for (const Operand* tensor : tensors) list += (list.empty() ? "" : ", ") + text(*tensor);
    return list;
}

}  // namespace mnnc
