// Group convolutions that a converter wrote as Slice -> one Convolution per group -> Concat, made one again.
#pragma once
#include "ops/net.h"

namespace mnnc {

// Adds a rewrite to `graph` for every such pattern whose intermediate tensors nobody else reads. `mainNet`:
// the formats of Input ops hold (a subgraph's inputs come in the format of what is passed).
void findGroupedConvolutions(NetGraph& graph, bool mainNet);

}  // namespace mnnc
