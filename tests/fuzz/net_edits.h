// Edits of a net as objects: operators, their inputs and outputs, and their parameters.
#pragma once
#include <cstdint>
#include <vector>

#include "mnn_objects_generated.h"
#include "random.h"

namespace fuzz {

// Makes one change. `spare`: another net whose operators may be inserted; the net itself where there is none. Weights
// that are moved out of the net are appended to `file`.
void editStructure(mnnc::wire::NetT& net, const mnnc::wire::NetT& spare, std::vector<uint8_t>& file, Random& random);

}  // namespace fuzz
