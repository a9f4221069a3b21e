// Gathers from constant tables whose indices a converter wrapped as (indices + rows) mod rows, so that negative ones
// count from the end. Read without that, the gather does so itself, and sees indices that are outside.
#pragma once
#include "ops/net.h"

namespace mnnc {

// Adds a rewrite to `graph` for every such gather. The two operators stay for others that read them.
void findWrappedIndices(NetGraph& graph);

}  // namespace mnnc
