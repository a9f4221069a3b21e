// Reads the reports "graph" of a model and of a session.
#include "net_graph.h"

#include <algorithm>

#include "op_groups.h"

namespace tool {
namespace {

NetGraph readGraph(const nlohmann::json& json) {
    NetGraph graph;
    graph.name = json.at("name").get<std::string>();
    graph.inputs = json.at("inputs").get<std::vector<int64_t>>();
    graph.outputs = json.at("outputs").get<std::vector<int64_t>>();
    for (const nlohmann::json& name : json.at("tensors")) {
        GraphTensor& tensor = graph.tensors.emplace_back();
        tensor.name = name.get<std::string>();
    }
    for (const nlohmann::json& row : json.at("operators")) {
        GraphOp op;
        op.type = row.at("type").get<std::string>();
        op.name = row.at("name").get<std::string>();
        op.inputs = row.at("inputs").get<std::vector<int64_t>>();
        op.outputs = row.at("outputs").get<std::vector<int64_t>>();
        op.bodies = row.at("graphs").get<std::vector<int64_t>>();
        for (const int64_t id : op.outputs)
            if (id >= 0) graph.tensors.at(static_cast<size_t>(id)).producer = static_cast<int>(graph.ops.size());
        graph.ops.push_back(std::move(op));
    }
    return graph;
}

// Adds operators for the outputs of a graph, and for inputs that no operator produces, so that all of them are drawn.
void addEnds(NetGraph& graph) {
    for (const int64_t id : graph.inputs) {
        GraphTensor& tensor = graph.tensors.at(static_cast<size_t>(id));
        if (tensor.producer >= 0) continue;
        tensor.producer = static_cast<int>(graph.ops.size());
        GraphOp op;
        op.type = "Input";
        op.name = tensor.name;
        op.outputs = {id};
        graph.ops.push_back(std::move(op));
    }
    for (const int64_t id : graph.outputs) {
        GraphOp op;
        op.type = "Output";
        op.name = graph.tensors.at(static_cast<size_t>(id)).name;
        op.inputs = {id};
        graph.ops.push_back(std::move(op));
    }
}

// Reads the plan of the session. If several operators run a graph, the first plan with operators is used.
PlannedOps readPlan(Net& net, const Session& session) {
    PlannedOps planned;
    const nlohmann::json report = parseJson(reportOf(session, "graph"));
    for (NetGraph& graph : net.graphs) {
        graph.groups.clear();
        for (GraphOp& op : graph.ops) op.group = -1;
    }
    for (const nlohmann::json& entry : report.at("graphs")) {
        const auto number = static_cast<size_t>(entry.at("graph").get<uint64_t>());
        NetGraph& graph = net.graphs.at(number);
        if (!graph.groups.empty()) continue;
        for (const nlohmann::json& row : entry.at("tensors")) {
            GraphTensor& tensor = graph.tensors.at(static_cast<size_t>(row.at("tensor").get<uint64_t>()));
            tensor.type = row.at("type").get<std::string>();
            tensor.shape = row.at("shape").get<std::vector<int64_t>>();
            tensor.constant = row.at("constant").get<bool>();
        }
        groupOperators(net.graphs, number, entry.at("operators"), planned);
    }
    net.planned = true;
    return planned;
}

}  // namespace

Net readNet(const Interpreter& model) {
    Net net;
    const nlohmann::json report = parseJson(reportOf(model, "graph"));
    size_t index = 0;
    for (const nlohmann::json& json : report.at("graphs")) {
        NetGraph graph = readGraph(json);
        for (GraphOp& op : graph.ops) check(mnn_interpreter_op_supported(model.get(), index++, &op.supported));
        addEnds(graph);
        net.graphs.push_back(std::move(graph));
    }
    for (size_t g = 0; g < net.graphs.size(); ++g)
        for (size_t i = 0; i < net.graphs[g].ops.size(); ++i)
            for (const int64_t body : net.graphs[g].ops[i].bodies) {
                NetGraph& called = net.graphs.at(static_cast<size_t>(body));
                called.caller = static_cast<int>(i);
                called.callerGraph = static_cast<int>(g);
            }
    return net;
}

void addPlan(Net& net, const Session& session) {
    readPlan(net, session);
}

void addTimes(Net& net, const RunTimes& times, const Session& session) {
    // Bodies of control flow have a plan only now.
    const PlannedOps planned = readPlan(net, session);
    std::map<std::pair<std::string, std::string>, size_t> seen;
    for (const OpTimes& op : times.ops) {
        const auto found = planned.find({op.type, op.name});
        const double ms = op.median();
        if (found == planned.end()) {
            net.copiesMs += ms;
            continue;
        }
        const auto [graph, group] = found->second[seen[found->first]++ % found->second.size()];
        double& sum = net.graphs[graph].groups[group].ms;
        sum = std::max(sum, 0.0) + ms;
        net.longestMs = std::max(net.longestMs, sum);
    }
    net.runMs = times.wallMs;
    net.totalMs = times.totalMs();
}

}  // namespace tool
