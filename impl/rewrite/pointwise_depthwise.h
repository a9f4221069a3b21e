// A 1x1 convolution and the depthwise one behind it become one command, where the backend wants that.
#pragma once
#include <functional>
#include <vector>

#include "backend/backend.h"

namespace mnnc {

// Arguments as of chainElementwise().
void joinPointwiseDepthwise(const std::vector<Command*>& commands, const Backend& backend,
                            const std::function<bool(const Tensor*)>& kept, std::vector<size_t>& owners);

}  // namespace mnnc
