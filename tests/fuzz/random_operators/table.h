// Parameter tables with random fields, made from the types that flatc writes down: every field of every table.
#pragma once
#include "mnn_objects_generated.h"
#include "random.h"

namespace fuzz {

// `wild`: with numbers that break bounds; else with small ones and enumeration values that exist.
void fillTable(mnnc::wire::OpParameterUnion& parameters, mnnc::wire::OpParameter type, bool wild, Random& random);

}  // namespace fuzz
