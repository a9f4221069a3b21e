// Element-wise commands that feed one another become one, so that memory is passed over once.
#pragma once
#include <functional>
#include <vector>

#include "backend/backend.h"

namespace mnnc {

// Rewrites `commands`, which run in this order. `owners`: for every command the one that does its work, as
// fuseCommands() tells; kept up to date. `kept`: tensors that others than these commands read.
void chainElementwise(const std::vector<Command*>& commands, const Backend& backend,
                      const std::function<bool(const Tensor*)>& kept, std::vector<size_t>& owners);

}  // namespace mnnc
