// Tensors that the model gives a scale for kept in int8: which commands run over int8 tensors, and where
// values change between float and int8.
#pragma once
#include <functional>
#include <vector>

#include "backend/backend.h"

namespace mnnc {

// What goes around a command.
struct QuantizedPlace {
    std::vector<Command> before, after;
};

// Rewrites `commands`, which run in this order. The tensors of the model stay what they are; their int8 forms
// are new tensors from `make`, which gets a name, a shape and a format. `kept`: tensors that others than
// these commands read; they are made as floats. Returns one place per command.
std::vector<QuantizedPlace> quantizeCommands(const std::vector<Command*>& commands, const Backend& backend,
                                             const std::function<bool(const Tensor*)>& kept,
                                             const std::function<Tensor*(const Tensor& like)>& make);

}  // namespace mnnc
