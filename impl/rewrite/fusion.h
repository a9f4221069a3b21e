// Element-wise commands that follow a product taken into its epilogue, activations that were written as arithmetic
// recognised, and what is left of element-wise commands chained.
#pragma once
#include <functional>
#include <vector>

#include "backend/backend.h"

namespace mnnc {

// Rewrites `commands`, which run in this order. `kept`: tensors that others than these commands read.
// Returns for every command the index of the one that does its work now, its own where nothing changed.
std::vector<size_t> fuseCommands(const std::vector<Command*>& commands, const Backend& backend,
                                 const std::function<bool(const Tensor*)>& kept);

}  // namespace mnnc
