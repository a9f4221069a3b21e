// Decides whether regions of one Raster write to the same elements: such regions must run in order, others need not.
#pragma once
#include <cstdint>
#include <span>

#include "tensor/region.h"

namespace mnnc {

// Returns true when two regions share an element of a destination of `elements`, or when the decision is too expensive.
bool regionsOverlap(std::span<const Region> regions, int64_t elements);

}  // namespace mnnc
