// Locates an array of an operator's table: in the model's bytes, or in a range of the external file. The field
// `external` of a table (schema/mnn.fbs) has the offset of the first range, then the size of each range in bytes; the
// ranges are adjacent. Errors are BadWeights, Truncated, Overflow, and what reading a file throws.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "model/external_file.h"
#include "model/stored_floats.h"
#include "model/wire_access.h"

namespace mnnc {

using ExternalEntries = flatbuffers::Vector<int64_t>;

bool isExternal(const ExternalEntries* entries);
// 0 where there is no entry.
int64_t externalEntry(const ExternalEntries* entries, uint32_t i);
// Returns range number `range` (1-based, as in the entries).
StoredBytes externalRange(const ExternalEntries* entries, uint32_t range, const WeightFiles& files, const char* opName);

// Throws BadWeights where the array `what` ends inside an element of `unit` bytes.
void requireMultiple(const StoredBytes& bytes, size_t unit, const char* what, const char* opName);

FloatView floatsFrom(const StoredBytes& stored, const char* what, const char* opName);
std::vector<float> halvesFrom(std::span<const uint8_t> bytes);

}  // namespace mnnc
