// Composes two Rasters, of which the second reads the result of the first, into one list of regions.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tensor/region.h"

namespace mnnc {

// Returns the regions that copy directly from the sources of `inner` to the destination of `outer`, writing each
// element once. Empty where that takes more than `maxRegions` regions, or where neither side of a pair copies a range.
// All regions must have passed checkRegion.
std::optional<std::vector<Region>> composeRegion(const Region& outer, std::span<const Region> inner, size_t maxRegions);

}  // namespace mnnc
