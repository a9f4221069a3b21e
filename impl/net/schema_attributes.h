// The fields of a parameter table as attributes, under the names in the schema.
#pragma once
#include <vector>

#include "model/external_file.h"
#include "net/custom.h"

namespace mnnc {

// table: member `type` of the union OpParameter, or null. Numbers, enumerations and booleans are always present, with
// the schema's default where the file has none; texts, arrays and Blobs are present where the file has them; other
// tables become lists of attributes. Arrays of weights, which may still be in the file, lists of tables and unions are
// left out. Throws what a damaged Blob throws.
std::vector<NodeAttribute> schemaAttributes(const void* table, int type, const WeightFiles& files, const char* node);

}  // namespace mnnc
