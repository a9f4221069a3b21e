// The fields of a parameter table as attributes, under the names that the schema gives them.
#pragma once
#include <vector>

#include "model/external_file.h"
#include "net/custom.h"

namespace mnnc {

// table: of member `type` of the union OpParameter, or null. Numbers, enumerations and booleans are always there, with
// the schema's default where the file has none; texts, arrays and Blobs where the file has them; other tables become
// lists of attributes. Arrays of weights, which may be still in the file, lists of tables and unions are left out.
// Throws what a damaged Blob throws.
std::vector<NodeAttribute> schemaAttributes(const void* table, int type, const WeightFiles& files, const char* node);

}  // namespace mnnc
