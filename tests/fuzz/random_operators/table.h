// Parameter tables with random fields, made from the types that flatc writes: every field of every table.
#pragma once
#include "mnn_objects_generated.h"
#include "random.h"

namespace fuzz {

// `wild`: with numbers that exceed bounds; otherwise with small ones and enumeration values that exist.
void fillTable(mnnc::wire::OpParameterUnion& parameters, mnnc::wire::OpParameter type, bool wild, Random& random);

}  // namespace fuzz
