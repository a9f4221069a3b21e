// In builds with MNN_C_TENSORS_APART the address sanitizer reports accesses beside the tensors and the scratch of an
// arena. These share no memory then, because memory that one step may touch must be forbidden in all others. Sessions
// need more memory in such builds, so only tests use them.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "backend/memory_plan.h"
#include "plan/placements.h"

namespace mnnc {

// Calls assignOffsets(), or assignOffsetsApart() in these builds.
int64_t assignHostOffsets(std::vector<MemoryRequest>& requests);

// Fences off all bytes of the arena that belong to no placement; does nothing in other builds.
void fenceArena(std::span<const Placement> placements, const MemoryBases& bases, int64_t arenaBytes) noexcept;
// Removes the fences of an arena that is about to be copied completely.
void unfence(void* memory, int64_t bytes) noexcept;

}  // namespace mnnc
