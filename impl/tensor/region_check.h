// Bounds of regions: the extreme addresses a region touches, overflow-checked.
#pragma once
#include <cstdint>
#include <span>

#include "tensor/region.h"

namespace mnnc {

// Throws BadRange (naming `what`) when a region reads outside [0, sourceElements(region.input)) or writes
// outside [0, destinationElements), or copies more than 2^31 - 1 elements. Regions without elements pass.
void checkRegion(const Region& region, int64_t sourceElements, int64_t destinationElements, const char* what);

// Whether all that the region writes lies outside [0, destinationElements).
bool writesNothing(const Region& region, int64_t destinationElements, const char* what);

// Whether every element of the destination is written at most once, as far as strides alone tell. For a
// region that passed checkRegion.
bool writesOnce(const Region& region) noexcept;

// A region that copies a range of its source, in order, to a range of its destination.
bool copiesRange(const Region& region) noexcept;

// A region that copies `elements` elements linearly from the start of its source to some place.
bool isLinear(const Region& region, int64_t elements) noexcept;

// One region that copies `elements` elements linearly from the start of its source to the start of its
// destination.
bool isIdentity(std::span<const Region> regions, int64_t elements) noexcept;

}  // namespace mnnc
