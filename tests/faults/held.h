// The blocks of memory and the mappings that the library has asked for and that are not freed.
#pragma once
#include <cstddef>

namespace faults {

void addHeld(const void* block, const void* caller, size_t bytes);
// Of any block, also of those that others asked for.
void removeHeld(const void* block);

}  // namespace faults
