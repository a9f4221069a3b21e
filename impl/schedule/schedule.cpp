// Walks back from the wanted outputs to the inputs, marks what follows from constants and shapes alone, and cuts the rest into
// stages.
#include "schedule/schedule.h"

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "ops/control.h"
#include "ops/custom.h"
#include "ops/search_parts.h"

namespace mnnc {

namespace {

bool isConstant(OpType type) {
    return type == OpType::Const || type == OpType::TrainableParam;
}

// By tensor: whether it is there before the graph runs.
std::vector<bool> givenTensors(const NetGraph& graph, const std::vector<int>& inputs) {
    std::vector<bool> given(graph.source->tensorNames.size(), false);
    for (const int id : inputs) given[static_cast<size_t>(id)] = true;
    return given;
}

// The graph's nodes in order, rewritten ones in place of the file's where no input or output is hidden by that.
std::vector<const Node*> nodesFor(const NetGraph& graph, const std::vector<bool>& given,
                                  const std::vector<int>& outputs, bool rewritten) {
    std::vector<bool> seen = given;
    for (const int id : outputs) seen[static_cast<size_t>(id)] = true;
    const auto isSeen = [&](int id) { return seen[static_cast<size_t>(id)]; };
    const auto isGiven = [&](int id) { return given[static_cast<size_t>(id)]; };
    std::vector<const Node*> nodes;
    nodes.reserve(graph.nodes.size());
    for (const Node& node : graph.nodes) nodes.push_back(&node);
    if (!rewritten) return nodes;
    for (const Rewrite& rewrite : graph.rewrites) {
        if (std::any_of(rewrite.hidden.begin(), rewrite.hidden.end(), isSeen) ||
            std::any_of(rewrite.bypassed.begin(), rewrite.bypassed.end(), isGiven))
            continue;
        nodes[rewrite.place] = &rewrite.node;
        for (const size_t i : rewrite.replaced) nodes[i] = nullptr;
    }
    std::erase(nodes, nullptr);
    return nodes;
}

const wire::Op* sourceOf(const NetGraph& graph, const Node& node) {
    const Node* first = graph.nodes.data();
    if (std::less<>()(&node, first) || !std::less<>()(&node, first + graph.nodes.size())) return nullptr;
    return graph.source->ops[static_cast<size_t>(&node - first)];
}

// The nodes that the outputs depend on, by position.
std::vector<bool> neededNodes(const std::vector<const Node*>& nodes, const std::vector<bool>& given,
                              const std::vector<int>& outputs) {
    std::vector<bool> wanted(given.size(), false);
    const auto isToMake = [&](int id) {
        return wanted[static_cast<size_t>(id)] && !given[static_cast<size_t>(id)];
    };
    for (const int id : outputs) wanted[static_cast<size_t>(id)] = true;
    std::vector<bool> needed(nodes.size(), false);
    for (size_t i = nodes.size(); i-- > 0;) {
        const Node& node = *nodes[i];
        needed[i] = std::any_of(node.outputs.begin(), node.outputs.end(), isToMake);
        if (needed[i])
            for (const int id : node.inputs)
                if (id >= 0) wanted[static_cast<size_t>(id)] = true;
    }
    return needed;
}

// A damaged graph may list an input twice, read an Input that is no input of it, or have an operator make an input:
// none of these has memory of its own that a caller fills.
void verifyInputs(const NetGraph& graph, const std::vector<const Node*>& nodes,
                  const std::vector<bool>& needed) {
    const auto nameOf = [&](int id) { return graph.source->tensorNames[static_cast<size_t>(id)].c_str(); };
    std::vector<bool> listed(graph.source->tensorNames.size(), false);
    for (const int id : graph.source->inputs) {
        if (listed[static_cast<size_t>(id)])
            fail(Status::BadFormat, "a graph lists its input '%s' twice", nameOf(id));
        listed[static_cast<size_t>(id)] = true;
    }
    for (size_t i = 0; i < nodes.size(); ++i)
        for (const int id : nodes[i]->outputs) {
            const bool isInput = nodes[i]->type == OpType::Input;
            if (isInput && needed[i] && !listed[static_cast<size_t>(id)])
                fail(Status::BadFormat, "a subgraph reads '%s', which is not in its list of inputs",
                     nameOf(id));
            if (!isInput && listed[static_cast<size_t>(id)])
                fail(Status::BadFormat, "an operator makes '%s', which is an input of its graph", nameOf(id));
        }
}

void requireSupported(const Node& node) {
    const char* type = opTypeName(node.type);
    if (!node.def)
        fail(Status::NotSupported, "operator %s of node '%s' cannot run: %s",
             type ? type : format("number %d", static_cast<int>(node.type)).c_str(), node.name.c_str(),
             node.unsupported.c_str());
}

// A node of the schedule's own in the place of one of the net.
Node& ownNode(ScheduledOp& op, const Node& node, GraphSchedule& schedule) {
    Node& own = *schedule.own.emplace_back(std::make_unique<Node>(node));
    op.node = &own;
    op.origin = &node;
    return own;
}

// The nodes that are needed, in order, but for Input. One with outputs that are given makes others in their place. `parted`:
// one that searches for its results becomes two.
std::vector<ScheduledOp> neededOps(const std::vector<const Node*>& nodes, const std::vector<bool>& needed,
                                   const std::vector<bool>& given, bool parted, GraphSchedule& schedule) {
    std::vector<ScheduledOp> ops;
    const auto isGiven = [&](int id) { return given[static_cast<size_t>(id)]; };
    const auto further = [&](int like) {
        schedule.furtherLike.push_back(like);
        return static_cast<int>(given.size() + schedule.furtherLike.size() - 1);
    };
    for (size_t i = 0; i < nodes.size(); ++i) {
        const Node& node = *nodes[i];
        if (!needed[i] || node.type == OpType::Input) continue;
        ScheduledOp& op = ops.emplace_back();
        op.node = op.origin = &node;
        if (std::any_of(node.outputs.begin(), node.outputs.end(), isGiven)) {
            for (int& id : ownNode(op, node, schedule).outputs)
                if (isGiven(id)) id = further(id);
        } else if (const SearchParts* parts = parted && node.def ? findSearchParts(node.type) : nullptr) {
            Node& search = ownNode(op, node, schedule);
            search.def = &parts->search;
            search.fixed.clear();
            search.outputs = {further(-1), further(-1)};
            Node& results = ownNode(ops.emplace_back(), node, schedule);
            results.def = &parts->results;
            results.inputs = search.outputs;
        }
    }
    return ops;
}

}  // namespace

GraphSchedule scheduleGraph(const Net& net, int graphIndex, const std::vector<int>& inputs,
                            const std::vector<int>& outputs, bool rewritten) {
    const NetGraph& graph = net.graphs[static_cast<size_t>(graphIndex)];
    const std::vector<bool> given = givenTensors(graph, inputs);
    GraphSchedule schedule;
    schedule.graph = graphIndex;
    schedule.outputs = outputs;
    const std::vector<const Node*> nodes = nodesFor(graph, given, outputs, rewritten);
    const std::vector<bool> needed = neededNodes(nodes, given, outputs);
    verifyInputs(graph, nodes, needed);
    std::vector<ScheduledOp> ops = neededOps(nodes, needed, given, rewritten, schedule);
    const size_t tensors = given.size() + schedule.furtherLike.size();
    schedule.lastStage.assign(tensors, 0);
    schedule.folded.assign(tensors, false);
    schedule.fromControl.assign(tensors, false);
    // The first stage in whose planning a tensor's shape is known, and the one in which its values are.
    std::vector<int> shapeStage(tensors, 0), contentStage(tensors, 1);

    std::vector<bool> produced(tensors, false);
    for (const Node* node : nodes)
        for (const int id : node->outputs) {
            // Plans are per tensor: two producers would disagree about its size.
            if (produced[static_cast<size_t>(id)])
                fail(Status::BadFormat, "tensor '%s' is made by more than one operator",
                     graph.source->tensorNames[static_cast<size_t>(id)].c_str());
            produced[static_cast<size_t>(id)] = true;
        }
    for (const int id : outputs)
        if (!produced[static_cast<size_t>(id)] && !given[static_cast<size_t>(id)])
            fail(Status::BadFormat, "output '%s' is made by no operator",
                 graph.source->tensorNames[static_cast<size_t>(id)].c_str());
    for (const Node* node : nodes) {  // constants count wherever they stand
        if (!isConstant(node->type)) continue;
        const auto id = static_cast<size_t>(node->outputs[0]);
        schedule.folded[id] = true;
        contentStage[id] = 0;
    }
    for (ScheduledOp& op : ops) {
        const Node& node = *op.node;
        requireSupported(node);
        if (isConstant(node.type)) continue;

        op.source = sourceOf(graph, *op.origin);
        op.content = node.def->valueInputs ? node.def->valueInputs(node) : 0;
        const uint32_t moving = node.def->dynamicOffsetInputs ? node.def->dynamicOffsetInputs(node) : 0;
        const uint32_t shapeOnly = node.def->shapeOnlyInputs ? node.def->shapeOnlyInputs(node) : 0;
        op.folded = !runsSubgraphs(node) && !isHostNode(node);
        for (size_t k = 0; k < node.inputs.size(); ++k) {
            if (node.inputs[k] < 0) continue;
            const auto id = static_cast<size_t>(node.inputs[k]);
            op.stage = std::max(op.stage, shapeStage[id]);
            const uint32_t bit = k < 32 ? 1u << k : 0;
            if ((op.content & bit) || schedule.folded[id]) op.stage = std::max(op.stage, contentStage[id]);
            if (!(shapeOnly & bit) && !schedule.folded[id]) op.folded = false;
            if (!schedule.folded[id]) op.moving |= op.content & moving & bit;
        }
        const bool control = runsSubgraphs(node);
        for (const int output : node.outputs) {
            const auto id = static_cast<size_t>(output);
            shapeStage[id] = control ? op.stage + 1 : op.stage;
            contentStage[id] = op.folded ? op.stage : op.stage + 1;
            schedule.folded[id] = op.folded;
            schedule.fromControl[id] = control;
        }
        for (const int input : node.inputs)
            if (input >= 0) {
                int& last = schedule.lastStage[static_cast<size_t>(input)];
                last = std::max(last, op.stage);
            }
        schedule.stages = std::max(schedule.stages, op.stage + 1);
        schedule.ops.push_back(op);
    }
    for (const int id : outputs) schedule.lastStage[static_cast<size_t>(id)] = schedule.stages;
    return schedule;
}

}  // namespace mnnc
