// Resolves the names by which If and While call graphs; the loop of ONNX matches values by position.
#include "net/call_links.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "ops/control.h"

namespace mnnc {

namespace {

using Ids = std::unordered_map<std::string_view, int>;

Ids idsByName(const Graph& graph, const std::vector<int32_t>& ids) {
    Ids byName;
    for (const int id : ids) byName.emplace(graph.tensorNames[static_cast<size_t>(id)], id);
    return byName;
}

class Linker {
  public:
    explicit Linker(const Net& net) : net_(net) {
        for (size_t g = 0; g < net.graphs.size(); ++g) {
            const Graph& graph = *net.graphs[g].source;
            bodies_.push_back({g, &graph, idsByName(graph, graph.inputs), idsByName(graph, graph.outputs)});
            if (g > 0) numbers_.emplace(graph.name, g);  // graph 0 is the main graph, which no node calls
        }
    }

    std::vector<CallLink> links() {
        for (caller_ = 0; caller_ < net_.graphs.size(); ++caller_)
            for (const Node& node : net_.graphs[caller_].nodes)
                if (node.def && runsSubgraphs(node)) addNode(node);
        return std::move(links_);
    }

  private:
    // A graph that nodes call.
    struct Body {
        size_t number;
        const Graph* graph;
        Ids inputs, outputs;
    };

    const Body* bodyOf(const std::string& name) const {
        const auto found = numbers_.find(name);
        return found == numbers_.end() ? nullptr : &bodies_[found->second];
    }
    void add(NetTensor from, NetTensor to) { links_.push_back({from, to}); }
    NetTensor own(int id) const { return {caller_, id}; }

    void addNode(const Node& node) {
        if (node.type == OpType::If) return addBranches(node, node.paramsAs<IfParams>());
        const auto& loop = node.paramsAs<WhileParams>();
        const Body* body = bodyOf(loop.bodyGraph);
        if (!body) return;
        if (loop.condGraph.empty()) return addCountedLoop(node, *body);
        if (const Body* condition = bodyOf(loop.condGraph)) addConditionLoop(node, loop, *condition, *body);
    }

    void addInputs(const Node& node, const NameLists& aliases, const Body& body) {
        for (size_t i = 0; i < std::min(aliases.size(), node.inputs.size()); ++i)
            for (const std::string& alias : aliases[i])
                if (const auto formal = body.inputs.find(alias); formal != body.inputs.end())
                    add(own(node.inputs[i]), {body.number, formal->second});
    }

    void addBranches(const Node& node, const IfParams& params) {
        const std::string* const names[] = {&params.thenGraph, &params.elseGraph};
        for (size_t side = 0; side < 2; ++side) {
            const Body* branch = bodyOf(*names[side]);
            if (!branch) continue;
            addInputs(node, params.inputAliases, *branch);
            for (size_t i = 0; i < node.outputs.size(); ++i) {
                if (i < params.outputAliases.size() && params.outputAliases[i].size() > side) {
                    const auto result = branch->outputs.find(params.outputAliases[i][side]);
                    if (result != branch->outputs.end()) add({branch->number, result->second}, own(node.outputs[i]));
                } else if (i < branch->graph->outputs.size()) {
                    add({branch->number, branch->graph->outputs[i]}, own(node.outputs[i]));
                }
            }
        }
    }

    // The node's inputs are limit, condition and carried values. The body gets the number of the round in place of the
    // limit; its outputs are a condition, the carried values and parts of stacks.
    void addCountedLoop(const Node& node, const Body& body) {
        const std::vector<int32_t>&formals = body.graph->inputs, &results = body.graph->outputs;
        for (size_t i = 1; i < std::min(node.inputs.size(), formals.size()); ++i)
            add(own(node.inputs[i]), {body.number, formals[i]});
        for (size_t i = 1; i < results.size(); ++i) {
            const NetTensor result{body.number, results[i]};
            if (i - 1 < node.outputs.size()) add(result, own(node.outputs[i - 1]));
            if (i + 1 >= node.inputs.size() || i + 1 >= formals.size()) continue;  // not carried
            add(result, {body.number, formals[i + 1]});
            if (i - 1 < node.outputs.size()) add(own(node.inputs[i + 1]), own(node.outputs[i - 1]));
        }
    }

    // Formal inputs of the same name share one value, which updates replace. An output of the node is such a value, or
    // an output of the body.
    void addConditionLoop(const Node& node, const WhileParams& params, const Body& condition, const Body& body) {
        const Body* const both[] = {&condition, &body};
        for (const Body* one : both) addInputs(node, params.inputAliases, *one);
        const auto addFormals = [&](const std::string& name, const auto& use) {
            for (const Body* one : both)
                if (const auto formal = one->inputs.find(name); formal != one->inputs.end())
                    use(NetTensor{one->number, formal->second});
        };
        std::unordered_map<std::string_view, std::string_view> updated;
        for (const std::vector<std::string>& update : params.updates) {
            if (update.size() != 2) continue;
            for (const Body* one : both)
                if (const auto result = one->outputs.find(update[0]); result != one->outputs.end())
                    addFormals(update[1], [&](NetTensor formal) { add({one->number, result->second}, formal); });
            updated.emplace(update[0], update[1]);
        }
        for (size_t i = 0; i < std::min(params.outputAliases.size(), node.outputs.size()); ++i) {
            const std::string& alias = params.outputAliases[i];
            const auto addOutput = [&](NetTensor from) { add(from, own(node.outputs[i])); };
            addFormals(alias, addOutput);
            if (const auto result = body.outputs.find(alias); result != body.outputs.end())
                addOutput({body.number, result->second});
            // Before the first round the output has the initial value of the updated slot.
            if (const auto slot = updated.find(alias); slot != updated.end())
                addFormals(std::string(slot->second), addOutput);
        }
    }

    const Net& net_;
    size_t caller_ = 0;
    std::vector<Body> bodies_;  // by graph number
    std::unordered_map<std::string_view, size_t> numbers_;
    std::vector<CallLink> links_;
};

}  // namespace

std::vector<CallLink> callLinks(const Net& net) {
    return Linker(net).links();
}

}  // namespace mnnc
