// Follows coordinates of a net from the operators that read them back to their sources, also through calls of graphs.
// Each tensor and each node is visited once.
#include "net/net_coordinates.h"

#include <algorithm>

#include "net/call_links.h"
#include "ops/cast.h"
#include "ops/coordinates.h"

namespace mnnc {

namespace {

// Returns the inputs that a node reads as coordinates. A float that is cast to an integer is a count or an index.
uint32_t readsOf(const Node& node) {
    const auto* cast = node.type == OpType::Cast ? node.paramsIf<CastParams>() : nullptr;
    return cast && cast->type != DataType::Float32 ? 1u << 0 : coordinateRule(node.type).reads;
}

class Search {
  public:
    explicit Search(Net& net) : net_(net), producers_(net.graphs.size()), sources_(net.graphs.size()) {
        for (size_t g = 0; g < net.graphs.size(); ++g) {
            const size_t tensors = net.graphs[g].source->tensorNames.size();
            net.graphs[g].coordinates.assign(tensors, false);
            producers_[g].resize(tensors);
            sources_[g].resize(tensors);
        }
        for (const CallLink& link : callLinks(net)) sourcesOf(link.to).push_back(link.from);
    }

    void run() {
        for (size_t g = 0; g < net_.graphs.size(); ++g)
            for (const Node& node : net_.graphs[g].nodes) {
                for (const int id : node.outputs) producers_[g][static_cast<size_t>(id)].push_back(&node);
                const uint32_t reads = readsOf(node);
                for (size_t i = 0; i < std::min<size_t>(node.inputs.size(), 32); ++i)
                    if (reads >> i & 1) mark({g, node.inputs[i]});
            }
        while (!open_.empty()) {
            const NetTensor tensor = open_.back();
            open_.pop_back();
            for (const NetTensor& source : sourcesOf(tensor)) mark(source);
            for (const Node*& producer : producers_[tensor.graph][static_cast<size_t>(tensor.id)]) {
                if (!coordinateRule(producer->type).carries) continue;
                for (const int id : producer->inputs) mark({tensor.graph, id});
            }
        }
    }

  private:
    void mark(NetTensor tensor) {
        if (tensor.id < 0) return;
        std::vector<bool>::reference mark = net_.graphs[tensor.graph].coordinates[static_cast<size_t>(tensor.id)];
        if (mark) return;
        mark = true;
        open_.push_back(tensor);
    }
    std::vector<NetTensor>& sourcesOf(NetTensor tensor) {
        return sources_[tensor.graph][static_cast<size_t>(tensor.id)];
    }

    Net& net_;
    std::vector<std::vector<std::vector<const Node*>>> producers_;  // by graph and tensor
    std::vector<std::vector<std::vector<NetTensor>>> sources_;  // by graph and tensor: tensors that calls pass to it
                                                                // or from it
    std::vector<NetTensor> open_;                               // marked, but not yet followed
};

}  // namespace

void findCoordinates(Net& net) {
    Search(net).run();
}

}  // namespace mnnc
