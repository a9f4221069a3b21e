// Edits of a net as objects: operators, what they read and make, and their parameters.
#pragma once
#include <cstdint>
#include <vector>

#include "mnn_objects_generated.h"
#include "random.h"

namespace fuzz {

// Makes one change. `spare`: another net whose operators may come in; the net itself where there is none. Weights that
// are moved out of the net go to the end of `file`.
void editStructure(mnnc::wire::NetT& net, const mnnc::wire::NetT& spare, std::vector<uint8_t>& file, Random& random);

}  // namespace fuzz
