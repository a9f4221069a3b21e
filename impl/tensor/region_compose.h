// Composes two Rasters, of which the second reads the first, into one list of regions.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tensor/region.h"

namespace mnnc {

// The regions that copy to the destination of `outer` what it would read from the tensor that `inner` writes, each
// element of it once. They read the sources of `inner`. Nothing where that takes more than `most` regions, or where
// neither side of a pair copies a range. Regions that passed checkRegion.
std::optional<std::vector<Region>> composeRegion(const Region& outer, std::span<const Region> inner, size_t most);

}  // namespace mnnc
