// Resizes, with or without a concatenation behind them, and the convolution that alone reads them become one command,
// where the backend wants that.
#pragma once
#include <functional>
#include <vector>

#include "backend/backend.h"

namespace mnnc {

// Arguments as of chainElementwise().
void joinResizedConvolution(const std::vector<Command*>& commands, const Backend& backend,
                            const std::function<bool(const Tensor*)>& kept, std::vector<size_t>& owners);

}  // namespace mnnc
