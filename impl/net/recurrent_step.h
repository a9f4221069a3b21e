// Recognises the computation in the body of a loop that a converter wrote for an LSTM or a GRU.
#pragma once
#include <optional>

#include "net/rewrite_nodes.h"

namespace mnnc {

// Returns the 1 x 1 convolution that produces `id` and is a product with float weights of its own, or null.
const Node* plainProduct(const RewriteNodes& nodes, int id);
// Returns the input of the Reshape to these extents that produces `id`, or -1.
int reshapedFrom(const RewriteNodes& nodes, int id, const List& extents);

// A graph that a loop calls. Tensors are identified by their numbers.
class LoopBody {
  public:
    explicit LoopBody(NetGraph& graph) : nodes(graph), graph_(*graph.source) {}

    int inputs() const { return static_cast<int>(graph_.inputs.size()); }
    int outputs() const { return static_cast<int>(graph_.outputs.size()); }
    int input(int at) const { return graph_.inputs[static_cast<size_t>(at)]; }
    int output(int at) const { return graph_.outputs[static_cast<size_t>(at)]; }
    // Returns the position of this input, or -1.
    int inputAt(int id) const;
    // Returns whether the body passes the input at this position unchanged to the next round.
    bool passesThrough(int at) const { return at > 1 && at <= outputs() && output(at - 1) == input(at); }
    // Returns the input of the Identity that produces `id`, or the tensor itself.
    int behindIdentity(int id) const;

    const RewriteNodes nodes;

  private:
    const Graph& graph_;
};

// The computation of one round.
struct RecurrentStep {
    OpType type = OpType::LSTM;
    int state = -1, cell = -1;      // inputs of the body; -1: none
    int rows = -1;                  // the tensor with the products of the step's inputs
    const Node* product = nullptr;  // the product of the state
    int64_t hidden = 0;
};

// Recognises a body whose new state is the tensor `result`; empty where the body computes something else.
std::optional<RecurrentStep> recurrentStep(const LoopBody& body, int result);

}  // namespace mnnc
