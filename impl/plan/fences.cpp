// The fences of an arena, by the address sanitizer's interface.
#include "plan/fences.h"

#ifdef MNN_C_TENSORS_APART
#include <sanitizer/asan_interface.h>
#endif

namespace mnnc {

#ifdef MNN_C_TENSORS_APART

int64_t assignHostOffsets(std::vector<MemoryRequest>& requests) {
    return assignOffsetsApart(requests);
}

void fenceArena(std::span<const Placement> placements, const MemoryBases& bases, int64_t arenaBytes) noexcept {
    __asan_poison_memory_region(bases.host, static_cast<size_t>(arenaBytes));
    for (const Placement& placement : placements) {
        if (!placement.onHost) continue;
        __asan_unpoison_memory_region(bases.host + placement.offset, static_cast<size_t>(placement.bytes));
    }
}

void unfence(void* memory, int64_t bytes) noexcept {
    __asan_unpoison_memory_region(memory, static_cast<size_t>(bytes));
}

#else

int64_t assignHostOffsets(std::vector<MemoryRequest>& requests) {
    return assignOffsets(requests);
}

void fenceArena(std::span<const Placement>, const MemoryBases&, int64_t) noexcept {}

void unfence(void*, int64_t) noexcept {}

#endif

}  // namespace mnnc
