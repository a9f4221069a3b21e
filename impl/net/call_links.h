// How values go between a node that calls graphs (If, While) and the tensors of those graphs.
#pragma once
#include <vector>

#include "net/net.h"

namespace mnnc {

struct NetTensor {
    size_t graph = 0;
    int id = 0;
};

// `to` takes the value of `from`: an input of the node that becomes a formal input, a result that becomes an output of
// the node, a value that goes from one round of a loop to the next.
struct CallLink {
    NetTensor from, to;
};

// Of all nodes of all graphs. Names that do not resolve are skipped: the creation of a session refuses them.
std::vector<CallLink> callLinks(const Net& net);

}  // namespace mnnc
