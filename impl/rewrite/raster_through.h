// Rasters read through one another: a concatenation, a transposition and the slices of it become slices that read what
// was concatenated, and what lay between is never made.
#pragma once
#include <functional>
#include <vector>

#include "ops/command.h"

namespace mnnc {

// `kept` and `owners` as of chainElementwise(). Rasters that do no more than copy ranges stay among themselves: those
// cost nothing as views and joined outputs.
void readThroughRasters(const std::vector<Command*>& commands, const std::function<bool(const Tensor*)>& kept,
                        std::vector<size_t>& owners);

}  // namespace mnnc
