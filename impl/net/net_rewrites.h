// Nodes of a net that compute what several nodes of the file compute (Rewrite). Each function adds its rewrites to a
// graph whose nodes have been parsed; the schedule uses a rewrite where it hides no wanted output.
#pragma once
#include "net/net.h"

namespace mnnc {

// Group convolutions that a converter wrote as Slice -> one Convolution per group -> Concat become one again, where the
// tensors between them have no other consumer. `mainNet`: the formats of Input operators are valid (the inputs of a
// subgraph have the formats of the tensors that its caller passes).
void rewriteGroupedConvolutions(NetGraph& graph, bool mainNet);

// 3-D convolutions that a converter wrote as Im2Col along the depth and a 2-D convolution for each tap in depth become
// Convolution3D again, where the tensors between them have no other consumer. Takes over rewrites of the group
// convolutions among them.
void rewriteConvolutions3d(NetGraph& graph);

// Gathers from constant tables whose indices a converter wrapped as (indices + rows) mod rows, so that negative ones
// count from the end, read the indices themselves: the gather wraps them, and reports those that are out of range. The
// two operators stay for other consumers.
void rewriteWrappedIndices(NetGraph& graph);

// Loops whose body is a step of an LSTM or a GRU over products that a convolution made of all inputs, as converters
// write these layers, become LSTM or RNNSequenceGRU, which reads the sequence itself. Values that the loop only passes
// through must have no consumers. The graphs of the bodies must have been parsed.
void rewriteRecurrentLoops(Net& net, size_t graph);

}  // namespace mnnc
