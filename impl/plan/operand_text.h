// Describes tensors in a plan's text.
#pragma once
#include <string>
#include <vector>

#include "base/error.h"
#include "tensor/operand.h"

namespace mnnc {

// Returns name, type, whether codes begin at 0, shape, the mark of coordinates, and the storage unless it is row-major
// on the host.
inline std::string operandText(const Operand& tensor) {
    std::string text = format("%s %s%s %s%s", tensor.name.empty() ? "_" : tensor.name.c_str(),
                              dataTypeName(tensor.type), tensor.quant.nonNegative ? " from 0" : "",
                              tensor.shape.text().c_str(), tensor.wide ? " in 32 bits" : "");
    if (tensor.channelBlock > 1) text += format(" in blocks of %d channels", tensor.channelBlock);
    if (tensor.onDevice) text += " on the device";
    return text;
}

// Joins the results of `text` for all tensors with commas.
template <typename Text>
std::string joined(const std::vector<Operand*>& tensors, const Text& text) {
    std::string list;
    for (const Operand* tensor : tensors) list += (list.empty() ? "" : ", ") + text(*tensor);
    return list;
}

}  // namespace mnnc
