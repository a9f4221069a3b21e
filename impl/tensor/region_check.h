// Bounds of regions: the extreme addresses of a region, overflow-checked.
#pragma once
#include <cstdint>
#include <span>

#include "tensor/region.h"

namespace mnnc {

// Throws BadRange (naming `what`) when a region reads outside [0, sourceElements) or writes outside [0,
// destinationElements), or copies more than 2^31 - 1 elements. Regions without elements pass.
void checkRegion(const Region& region, int64_t sourceElements, int64_t destinationElements, const char* what);

// Returns whether all elements that the region writes lie outside [0, destinationElements).
bool writesNothing(const Region& region, int64_t destinationElements, const char* what);

// Returns whether every element of the destination is written at most once, as far as strides alone prove it. The
// region must have passed checkRegion.
bool writesOnce(const Region& region) noexcept;

// Returns whether a region copies a range of its source, in order, to a range of its destination.
bool copiesRange(const Region& region) noexcept;

// Returns whether a region copies `elements` elements linearly from the start of its source to any place.
bool isLinear(const Region& region, int64_t elements) noexcept;

// Returns whether there is one region that copies `elements` elements linearly from the start of its source to the
// start of its destination.
bool isIdentity(std::span<const Region> regions, int64_t elements) noexcept;

}  // namespace mnnc
