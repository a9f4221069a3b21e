// Counts the writers of each tensor, and renames the tensors in its writers and readers.
#include "schedule/versions.h"

#include <algorithm>
#include <map>

#include "base/error.h"

namespace mnnc {

namespace {

class Renaming {
  public:
    Renaming(const NetGraph& graph, const std::vector<const Node*>& nodes, const std::vector<bool>& given)
        : graph_(graph), given_(given), writers_(given.size(), 0), current_(given.size(), kNone) {
        std::vector<bool> isLeaf(given.size(), false), isConstant(given.size(), false);
        for (const Node* node : nodes)
            for (const int output : node->outputs) {
                const auto id = static_cast<size_t>(output);
                if (!isLeafNode(*node)) {
                    ++writers_[id];
                    continue;
                }
                if (isLeaf[id])
                    fail(Status::BadFormat, "tensor '%s' is the output of two constants or inputs", nameOf(output));
                isLeaf[id] = true;
                isConstant[id] = isConstantNode(*node);
            }
        for (size_t id = 0; id < given.size(); ++id) {
            const bool written = isConstant[id] && writers_[id] > 0 && !given[id];
            if (written) {
                variable_.resize(given.size(), kNone);
                variable_[id] = static_cast<int>(result_.variables.size());
                result_.variables.push_back({static_cast<int>(id), kNone});
                current_[id] = static_cast<int>(id);
            }
            renamed_ |= written || (writers_[id] > 1 && !given[id]);
        }
    }

    Versions rename(const std::vector<const Node*>& nodes) {
        for (const Node* node : nodes)
            if (renamed_ && !isLeafNode(*node))
                add(*node);
            else
                result_.nodes.push_back({node, node, false});
        return std::move(result_);
    }

  private:
    static constexpr int kNone = -1;

    const char* nameOf(int id) const { return graph_.source->tensorNames[static_cast<size_t>(id)].c_str(); }
    bool isVariable(int id) const { return !variable_.empty() && variable_[static_cast<size_t>(id)] != kNone; }
    bool hasVersions(int id) const {
        return id >= 0 && !given_[static_cast<size_t>(id)] && (writers_[static_cast<size_t>(id)] > 1 || isVariable(id));
    }

    void add(const Node& node) {
        const auto versioned = [&](int id) { return hasVersions(id); };
        if (std::none_of(node.inputs.begin(), node.inputs.end(), versioned) &&
            std::none_of(node.outputs.begin(), node.outputs.end(), versioned)) {
            result_.nodes.push_back({&node, &node, false});
            return;
        }
        Node& own = *result_.own.emplace_back(std::make_unique<Node>(node));
        for (int& id : own.inputs)
            if (hasVersions(id)) id = read(id);
        std::vector<EarlierOutput> earlier;  // collected before the node writes any, because it may name a tensor twice
        for (size_t i = 0; i < own.outputs.size(); ++i)
            if (hasVersions(own.outputs[i]) && current_[static_cast<size_t>(own.outputs[i])] != kNone)
                earlier.push_back({i, current_[static_cast<size_t>(own.outputs[i])]});
        for (int& id : own.outputs)
            if (hasVersions(id)) id = write(id);
        const bool ownParams = !earlier.empty() && own.def && own.def->keepRest && own.def->keepRest(own, earlier);
        result_.nodes.push_back({&own, &node, ownParams});
    }

    int read(int id) {
        const int current = current_[static_cast<size_t>(id)];
        return current == kNone ? id : current;
    }

    // Makes a version for one more writer.
    int write(int id) {
        const auto at = static_cast<size_t>(id);
        const bool isLast = ++written_[id] == writers_[at];
        int version = id;
        if (!isLast || isVariable(id)) {
            version = static_cast<int>(given_.size() + result_.furtherLike.size());
            result_.furtherLike.push_back(id);
        }
        current_[at] = version;
        if (isVariable(id)) result_.variables[static_cast<size_t>(variable_[at])].value = version;
        return version;
    }

    const NetGraph& graph_;
    const std::vector<bool>& given_;
    std::vector<int> writers_;    // by tensor: operators that write it
    std::vector<int> current_;    // by tensor: its latest version so far
    std::vector<int> variable_;   // by tensor: its index in the list; empty where there is none
    std::map<int, int> written_;  // by tensor: the number of its versions
    bool renamed_ = false;        // some tensor has versions
    Versions result_;
};

}  // namespace

Versions versionsOf(const NetGraph& graph, const std::vector<const Node*>& nodes, const std::vector<bool>& given) {
    return Renaming(graph, nodes, given).rename(nodes);
}

}  // namespace mnnc
