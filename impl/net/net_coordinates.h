// Finds the tensors of a net that operators read as coordinates, and the tensors from which these are computed.
#pragma once
#include "net/net.h"

namespace mnnc {

// Sets NetGraph::coordinates of all graphs by the rules of ops/coordinates.h.
void findCoordinates(Net& net);

}  // namespace mnnc
