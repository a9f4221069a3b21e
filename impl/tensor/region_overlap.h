// Whether regions of one Raster write to the same elements: those have to follow one another, others need
// not.
#pragma once
#include <cstdint>
#include <span>

#include "tensor/region.h"

namespace mnnc {

// True when two regions share an element of a destination of `elements`, or when that is too expensive to
// tell.
bool regionsOverlap(std::span<const Region> regions, int64_t elements);

}  // namespace mnnc
