// Edits inside the bytes of a well-formed .mnn file, by the types of its tables' fields.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "random.h"

namespace fuzz {

// The bytes must have been verified. Changes up to `edits` places: numbers, members of enumerations, characters,
// lengths of vectors, offsets (sometimes to another table of the same kind), union types.
void editTables(std::vector<uint8_t>& bytes, size_t edits, Random& random);

}  // namespace fuzz
