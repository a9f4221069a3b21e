// Builds with MNN_C_TENSORS_APART: the address sanitizer reports what is read or written beside the tensors and the
// scratch of an arena. They do not share memory then, since what one step may touch must stay forbidden in all others.
// Sessions take more memory so: such builds are for cases and nets.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "backend/memory_plan.h"
#include "plan/placements.h"

namespace mnnc {

// assignOffsets(), in these builds assignOffsetsApart().
int64_t assignHostOffsets(std::vector<MemoryRequest>& requests);

// Fences off what of the arena belongs to no placement; in other builds nothing happens.
void fenceArena(std::span<const Placement> placements, const MemoryBases& bases, int64_t arenaBytes) noexcept;
// Takes the fences of an arena away, which is copied as a whole.
void unfence(void* memory, int64_t bytes) noexcept;

}  // namespace mnnc
