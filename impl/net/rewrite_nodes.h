// Views of a graph for rewrites: its present nodes, values that follow from shapes, and the nodes that a rewrite
// replaces.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "net/net.h"

namespace mnnc {

using List = std::vector<int64_t>;

// The nodes of a graph with its present rewrites.
class RewriteNodes {
  public:
    explicit RewriteNodes(NetGraph& graph);

    size_t size() const { return nodes_.size(); }
    // Returns null where another node replaces it.
    const Node* node(size_t i) const { return i == kNoNode ? nullptr : nodes_[i]; }
    const wire::Op& op(size_t i) const { return *graph_.source->ops[i]; }
    const std::vector<size_t>& consumers(int id) const { return consumers_[static_cast<size_t>(id)]; }
    // kNoNode where several nodes produce the tensor.
    size_t producer(int id) const { return id < 0 ? kNoNode : producers_[static_cast<size_t>(id)]; }
    // Returns the node when it has this type and can run, or null.
    const Node* ofType(size_t i, OpType type) const;
    // Returns the only consumer of a tensor that has one producer, or kNoNode.
    size_t onlyConsumer(int id) const;
    // Returns whether the node is a Transpose to this order of the axes.
    bool isTranspose(size_t i, const List& order) const;
    // Returns the node when it is a Reshape that keeps the order of the data, with the new extents as an input, or
    // null.
    const Node* plainReshape(size_t i) const;
    // Returns the node when it is a change of layout that keeps the order of the data, or null.
    const Node* plainConvert(size_t i) const;
    // Returns the values of a short constant of integers, which a rewrite then depends on.
    std::optional<List> constant(int id) const;
    // Begins a search for a rewrite.
    void beginMatch() const { read_.clear(); }
    // Makes the constants that constant() has returned since beginMatch() decisive (NetGraph::decisive).
    void keepMatch() const { graph_.decisive.merge(read_); }

  private:
    NetGraph& graph_;
    mutable std::set<int> read_;
    std::vector<const Node*> nodes_;
    std::vector<size_t> producers_;
    std::vector<std::vector<size_t>> consumers_;
};

// The values of integer tensors that are computed from given values, and from the shapes of tensors with given shapes.
class ExtentValues {
  public:
    explicit ExtentValues(const RewriteNodes& nodes) : nodes_(nodes) {}
    void setShape(int id, List shape) { shapes_[id] = std::move(shape); }
    void setValues(int id, List values) { values_[id] = std::move(values); }
    std::optional<List> operator()(int id, int depth = 0) const;

  private:
    std::optional<List> joined(const Node& node, int depth) const;
    std::optional<List> slice(const Node& node, int depth) const;
    std::optional<List> binary(const Node& node, int depth) const;

    const RewriteNodes& nodes_;
    std::map<int, List> shapes_, values_;
};

// The nodes that a rewrite replaces, including those that only compute extents for them.
class ReplacedNodes {
  public:
    explicit ReplacedNodes(const RewriteNodes& nodes) : nodes_(nodes) {}
    void add(size_t i) { indices_.insert(i); }
    // Fills the rewrite's replaced nodes, except for its place; returns false where a tensor between them has another
    // consumer.
    bool close(size_t place, Rewrite& rewrite);

  private:
    const RewriteNodes& nodes_;
    std::set<size_t> indices_;
};

}  // namespace mnnc
