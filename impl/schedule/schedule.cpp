// Walks back from the wanted outputs to the inputs, marks values that follow from constants and shapes alone, and cuts
// the rest into stages.
#include "schedule/schedule.h"

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "net/custom.h"
#include "ops/control.h"
#include "ops/search_parts.h"

namespace mnnc {

namespace {

// The plan of a stage refers to the plans of all stages before it, so that the time and the memory for the plans of a
// run grow with the square of their number.
constexpr int kMaxStages = 2048;

// Returns, by tensor, whether it exists before the graph runs.
std::vector<bool> givenTensors(const NetGraph& graph, const std::vector<int>& inputs) {
    std::vector<bool> given(graph.source->tensorNames.size(), false);
    for (const int id : inputs) given[static_cast<size_t>(id)] = true;
    return given;
}

// Returns the graph's nodes in order. A rewritten node replaces those of the file where that hides no input or output.
std::vector<const Node*> nodesFor(const NetGraph& graph, const std::vector<bool>& given,
                                  const std::vector<int>& outputs, bool rewritten) {
    std::vector<bool> seen = given;
    for (const int id : outputs) seen[static_cast<size_t>(id)] = true;
    const auto isSeen = [&](int id) { return seen[static_cast<size_t>(id)]; };
    const auto isGiven = [&](int id) { return given[static_cast<size_t>(id)]; };
    std::vector<const Node*> byPlace;
    byPlace.reserve(graph.nodes.size());
    for (const Node& node : graph.nodes) byPlace.push_back(&node);
    for (const Rewrite& rewrite : graph.rewrites) {
        if (!rewritten || std::any_of(rewrite.hidden.begin(), rewrite.hidden.end(), isSeen) ||
            std::any_of(rewrite.bypassed.begin(), rewrite.bypassed.end(), isGiven))
            continue;
        byPlace[rewrite.place] = &rewrite.node;
        for (const size_t i : rewrite.replaced) byPlace[i] = nullptr;
    }
    std::vector<const Node*> nodes;
    nodes.reserve(byPlace.size());
    for (const uint32_t place : graph.source->order)
        if (byPlace[place]) nodes.push_back(byPlace[place]);
    return nodes;
}

const wire::Op* sourceOf(const NetGraph& graph, const Node& node) {
    const Node* first = graph.nodes.data();
    if (std::less<>()(&node, first) || !std::less<>()(&node, first + graph.nodes.size())) return nullptr;
    return graph.source->ops[static_cast<size_t>(&node - first)];
}

// Returns, by position, whether the wanted tensors depend on the node.
std::vector<bool> neededNodes(const std::vector<VersionedNode>& nodes, const std::vector<bool>& given,
                              const std::vector<int>& outputs) {
    std::vector<bool> wanted(given.size(), false);
    const auto isToMake = [&](int id) { return wanted[static_cast<size_t>(id)] && !given[static_cast<size_t>(id)]; };
    for (const int id : outputs) wanted[static_cast<size_t>(id)] = true;
    std::vector<bool> needed(nodes.size(), false);
    for (size_t i = nodes.size(); i-- > 0;) {
        const Node& node = *nodes[i].node;
        needed[i] = std::any_of(node.outputs.begin(), node.outputs.end(), isToMake);
        if (needed[i])
            for (const int id : node.inputs)
                if (id >= 0) wanted[static_cast<size_t>(id)] = true;
    }
    // A constant or an input exists before all operators run, also where it comes after its reader in the file.
    for (size_t i = 0; i < nodes.size(); ++i)
        if (const Node& node = *nodes[i].node; isLeafNode(node))
            needed[i] = std::any_of(node.outputs.begin(), node.outputs.end(), isToMake);
    return needed;
}

// Returns neededNodes() together with the operators that write constants: if one write to a constant is needed, all
// are. Only the variables that are written remain in `versions`.
std::vector<bool> neededWithUpdates(Versions& versions, const std::vector<bool>& given, const std::vector<int>& outputs,
                                    bool updates) {
    std::vector<bool> wanted(given.size(), updates);
    for (const int id : outputs) wanted[static_cast<size_t>(id)] = true;
    std::vector<int> values = outputs;
    std::vector<Variable> open = std::move(versions.variables), written;
    std::vector<bool> needed;
    do {
        const auto later = std::stable_partition(open.begin(), open.end(), [&](const Variable& variable) {
            return wanted[static_cast<size_t>(variable.constant)];
        });
        for (auto variable = open.begin(); variable != later; ++variable) values.push_back(variable->value);
        written.insert(written.end(), open.begin(), later);
        open.erase(open.begin(), later);
        needed = neededNodes(versions.nodes, given, values);
        for (size_t i = 0; i < needed.size(); ++i)
            if (needed[i] && !isLeafNode(*versions.nodes[i].node))
                for (const int id : versions.nodes[i].origin->outputs) wanted[static_cast<size_t>(id)] = true;
    } while (std::any_of(open.begin(), open.end(),
                         [&](const Variable& variable) { return wanted[static_cast<size_t>(variable.constant)]; }));
    versions.variables = std::move(written);
    return needed;
}

// Refuses graphs that are damaged in these ways: an input is listed twice, an Input operator is no input of the graph,
// or an operator produces an input. In none of these cases does the input have memory of its own, which a caller could
// fill.
void verifyInputs(const NetGraph& graph, const std::vector<VersionedNode>& nodes, const std::vector<bool>& needed) {
    const auto nameOf = [&](int id) { return graph.source->tensorNames[static_cast<size_t>(id)].c_str(); };
    std::vector<bool> listed(graph.source->tensorNames.size(), false);
    for (const int id : graph.source->inputs) {
        if (listed[static_cast<size_t>(id)]) fail(Status::BadFormat, "a graph lists its input '%s' twice", nameOf(id));
        listed[static_cast<size_t>(id)] = true;
    }
    for (size_t i = 0; i < nodes.size(); ++i)
        for (const int id : nodes[i].origin->outputs) {
            const bool isInput = nodes[i].origin->type == OpType::Input;
            if (isInput && needed[i] && !listed[static_cast<size_t>(id)])
                fail(Status::BadFormat, "a subgraph reads '%s', which is not in its list of inputs", nameOf(id));
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

// Returns a copy of a node that the schedule may change.
Node& ownNode(ScheduledOp& op, const VersionedNode& from, GraphSchedule& schedule) {
    Node& own = *schedule.own.emplace_back(std::make_unique<Node>(*from.node));
    op.node = &own;
    op.origin = from.origin;
    op.ownParams = from.ownParams;
    return own;
}

// Returns the needed nodes in order, without Input. A node whose outputs are given produces other tensors instead.
// `parted`: a node that searches for its results (ops/search_parts.h) becomes two, the search and its results.
std::vector<ScheduledOp> neededOps(const std::vector<VersionedNode>& nodes, const std::vector<bool>& needed,
                                   const std::vector<bool>& given, bool parted, GraphSchedule& schedule) {
    std::vector<ScheduledOp> ops;
    const auto isGiven = [&](int id) { return given[static_cast<size_t>(id)]; };
    const size_t firstFurther = given.size() - schedule.furtherLike.size();
    const auto further = [&](int like) {
        schedule.furtherLike.push_back(like);
        return static_cast<int>(firstFurther + schedule.furtherLike.size() - 1);
    };
    for (size_t i = 0; i < nodes.size(); ++i) {
        const Node& node = *nodes[i].node;
        if (!needed[i] || node.type == OpType::Input) continue;
        ScheduledOp& op = ops.emplace_back();
        op.node = &node;
        op.origin = nodes[i].origin;
        op.ownParams = nodes[i].ownParams;
        if (std::any_of(node.outputs.begin(), node.outputs.end(), isGiven)) {
            for (int& id : ownNode(op, nodes[i], schedule).outputs)
                if (isGiven(id)) id = further(id);
        } else if (const SearchParts* parts = parted && node.def ? findSearchParts(node.type) : nullptr) {
            Node& search = ownNode(op, nodes[i], schedule);
            search.def = &parts->search;
            search.fixed.clear();
            search.outputs = {further(-1), further(-1)};
            Node& results = ownNode(ops.emplace_back(), nodes[i], schedule);
            results.def = &parts->results;
            results.inputs = search.outputs;
        }
    }
    return ops;
}

}  // namespace

GraphSchedule scheduleGraph(const Net& net, int graphIndex, const std::vector<int>& inputs,
                            const std::vector<int>& outputs, const ScheduleOptions& options) {
    const NetGraph& graph = net.graphs[static_cast<size_t>(graphIndex)];
    std::vector<bool> given = givenTensors(graph, inputs);
    Versions versions = versionsOf(graph, nodesFor(graph, given, outputs, options.rewritten), given);
    given.resize(given.size() + versions.furtherLike.size(), false);
    const std::vector<bool> needed = neededWithUpdates(versions, given, outputs, options.updates);
    verifyInputs(graph, versions.nodes, needed);
    GraphSchedule schedule;
    schedule.graph = graphIndex;
    schedule.outputs = outputs;
    schedule.variables = std::move(versions.variables);
    schedule.furtherLike = std::move(versions.furtherLike);
    schedule.own = std::move(versions.own);
    const auto nameOf = [&](int id) { return graph.source->tensorNames[static_cast<size_t>(id)].c_str(); };
    if (graphIndex > 0 && !schedule.variables.empty())
        fail(Status::NotSupported,
             "an operator of subgraph '%s' writes its constant '%s': only constants of the main graph keep "
             "values between runs",
             graph.source->name.c_str(), nameOf(schedule.variables[0].constant));
    std::vector<ScheduledOp> ops = neededOps(versions.nodes, needed, given, options.rewritten, schedule);
    const size_t tensors = graph.source->tensorNames.size() + schedule.furtherLike.size();
    schedule.lastStage.assign(tensors, 0);
    schedule.folded.assign(tensors, false);
    schedule.fromControl.assign(tensors, false);
    // The first stage at whose planning a tensor's shape is known, and the first one at whose planning its values are
    // known.
    std::vector<int> shapeStage(tensors, 0), contentStage(tensors, 1);

    std::vector<bool> produced(tensors, false);
    for (const VersionedNode& versioned : versions.nodes)
        for (const int id : versioned.node->outputs) produced[static_cast<size_t>(id)] = true;
    for (const int id : outputs)
        if (!produced[static_cast<size_t>(id)] && !given[static_cast<size_t>(id)])
            fail(Status::BadFormat, "output '%s' is made by no operator", nameOf(id));
    std::vector<bool> isVariable(tensors, false);
    for (const Variable& variable : schedule.variables) isVariable[static_cast<size_t>(variable.constant)] = true;
    for (const VersionedNode& versioned : versions.nodes) {  // constants count at any position
        if (!isConstantNode(*versioned.node)) continue;
        const int constant = versioned.node->outputs[0];
        schedule.folded[static_cast<size_t>(constant)] = true;
        contentStage[static_cast<size_t>(constant)] = 0;
        // A variable begins with its constant, also where no operator reads it.
        if (isVariable[static_cast<size_t>(constant)]) requireSupported(*versioned.node);
    }
    for (const Variable& variable : schedule.variables) {
        schedule.folded[static_cast<size_t>(variable.constant)] = false;
        contentStage[static_cast<size_t>(variable.constant)] = 1;
    }
    for (ScheduledOp& op : ops) {
        const Node& node = *op.node;
        requireSupported(node);
        if (isConstantNode(node)) continue;

        op.source = sourceOf(graph, *op.origin);
        op.content = node.def->valueInputs ? node.def->valueInputs(node) : 0;
        const uint32_t moving = node.def->dynamicOffsetInputs ? node.def->dynamicOffsetInputs(node) : 0;
        const uint32_t shapeOnly = node.def->shapeOnlyInputs ? node.def->shapeOnlyInputs(node) : 0;
        const bool keeps = keepsState(node);
        if (keeps && graphIndex > 0)
            fail(Status::NotSupported,
                 "operator %s of node '%s' keeps a state from run to run, and stands in subgraph '%s': only the main "
                 "graph can have such operators",
                 opTypeName(node.type), node.name.c_str(), graph.source->name.c_str());
        schedule.keepers += keeps ? 1 : 0;
        op.folded = !runsSubgraphs(node) && !isHostNode(node) && !keeps;
        for (size_t k = 0; k < node.inputs.size(); ++k) {
            if (node.inputs[k] < 0) continue;
            const auto id = static_cast<size_t>(node.inputs[k]);
            op.stage = std::max(op.stage, shapeStage[id]);
            const uint32_t bit = k < 32 ? 1u << k : 0;
            if ((op.content & bit) || schedule.folded[id]) op.stage = std::max(op.stage, contentStage[id]);
            if (!(shapeOnly & bit) && !schedule.folded[id]) op.folded = false;
            if (!schedule.folded[id]) op.moving |= op.content & moving & bit;
        }
        if (op.stage >= kMaxStages)
            fail(Status::LimitExceeded,
                 "op '%s': a chain of more than %d operators before it has shapes that only a run knows",
                 node.name.c_str(), kMaxStages - 1);
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
        op.number = static_cast<int>(schedule.ops.size());
        schedule.ops.push_back(op);
    }
    for (const int id : outputs) schedule.lastStage[static_cast<size_t>(id)] = schedule.stages;
    for (const Variable& variable : schedule.variables)
        schedule.lastStage[static_cast<size_t>(variable.value)] = schedule.stages;
    return schedule;
}

}  // namespace mnnc
