// The links between values of a node that calls graphs (If, While) and the tensors of those graphs.
#pragma once
#include <vector>

#include "net/net.h"

namespace mnnc {

struct NetTensor {
    size_t graph = 0;
    int id = 0;
};

// `to` takes the value of `from`: an input of the node becomes a formal input, a result becomes an output of the node,
// or a value passes from one round of a loop to the next.
struct CallLink {
    NetTensor from, to;
};

// Returns the links of all nodes in all graphs. Names that do not resolve are skipped: the creation of a session
// refuses them.
std::vector<CallLink> callLinks(const Net& net);

}  // namespace mnnc
