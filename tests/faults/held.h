// The blocks of memory and the mappings that the library has requested and not released.
#pragma once
#include <cstddef>

namespace faults {

void addHeld(const void* block, const void* caller, size_t bytes);
// Removes any block, also one that others requested.
void removeHeld(const void* block);

}  // namespace faults
