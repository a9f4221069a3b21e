// Writes a model's graphs, and the plan of a session, as JSON.
#include "c_api/graph_text.h"

#include "base/json_text.h"
#include "c_api/session_info.h"
#include "ops/control.h"

namespace mnnc {

namespace {

// Joins the results of `text` for all elements with commas.
template <typename List, typename Text>
std::string listed(const List& list, const Text& text) {
    std::string result = "[";
    for (const auto& element : list) {
        if (result.size() > 1) result += ",\n";
        result += text(element);
    }
    return result + "]";
}

const char* truth(bool value) {
    return value ? "true" : "false";
}

// Returns the subgraphs that an operator calls.
std::vector<int> bodiesOf(const Model& model, const Node& node) {
    std::vector<std::string> names;
    if (const auto* branches = node.paramsIf<IfParams>())
        names = {branches->thenGraph, branches->elseGraph};
    else if (const auto* loop = node.paramsIf<WhileParams>())
        names = {loop->condGraph, loop->bodyGraph};
    std::vector<int> bodies;
    for (const std::string& name : names)
        if (const int graph = name.empty() ? -1 : model.findGraph(name); graph > 0) bodies.push_back(graph);
    return bodies;
}

std::string nodeText(const Model& model, const Node& node) {
    return format(R"({"type":%s,"name":%s,"inputs":%s,"outputs":%s,"graphs":%s})",
                  jsonString(typeText(node.type)).c_str(), jsonString(node.name).c_str(),
                  jsonNumbers(node.inputs).c_str(), jsonNumbers(node.outputs).c_str(),
                  jsonNumbers(bodiesOf(model, node)).c_str());
}

std::string candidatesText(const std::vector<AlgorithmCandidate>& candidates) {
    if (candidates.empty()) return "";
    std::string text;
    for (const AlgorithmCandidate& one : candidates) {
        text += format(R"(%s{"algorithm":%s,"chosen":%s,"cycles":%s)", text.empty() ? "" : ",",
                       jsonString(one.name).c_str(), truth(one.chosen), numberText(one.cycles).c_str());
        if (one.ms >= 0) text += format(R"(,"ms":%s,"slow":%s)", numberText(one.ms).c_str(), truth(one.slow));
        text += "}";
    }
    return R"(,"candidates":[)" + text + "]";
}

std::string callText(const PlannedCall& call, const Session& session) {
    const mnn_op_info_t info = describe(call.record, session);
    const auto text = [](const char* string) { return jsonString(string ? string : ""); };
    return format(
        R"({"type":%s,"name":%s,"backend":%s,"algorithm":%s,"reason":%s,"host_shape":%s,"inputs":%s,"outputs":%s%s})",
        text(info.type_name).c_str(), text(info.name).c_str(), text(info.backend_name).c_str(),
        text(info.algorithm).c_str(), text(info.reason).c_str(), truth(info.host_shape != 0),
        jsonNumbers(call.inputs).c_str(), jsonNumbers(call.outputs).c_str(),
        candidatesText(call.record.candidates).c_str());
}

std::string tensorText(const std::pair<const int, PlannedTensor>& entry) {
    const PlannedTensor& tensor = entry.second;
    return format(R"({"tensor":%d,"type":"%s","shape":%s,"constant":%s})", entry.first, dataTypeName(tensor.type),
                  jsonNumbers(tensor.shape).c_str(), truth(tensor.constant));
}

std::string graphText(const Net& net, const NetGraph& graph) {
    const Graph& source = *graph.source;
    return "{\"name\":" + jsonString(source.name) + ",\"inputs\":" + jsonNumbers(source.inputs) +
           ",\"outputs\":" + jsonNumbers(source.outputs) +
           ",\n\"tensors\":" + listed(source.tensorNames, [](const std::string& name) { return jsonString(name); }) +
           ",\n\"operators\":" + listed(graph.nodes, [&](const Node& node) { return nodeText(*net.model, node); }) +
           "}";
}

std::string plannedText(const Session& session, const PlannedGraph& graph) {
    return format("{\"graph\":%d,\n\"tensors\":", graph.graph) + listed(graph.tensors, tensorText) +
           ",\n\"operators\":" + listed(graph.calls, [&](const PlannedCall& call) { return callText(call, session); }) +
           "}";
}

}  // namespace

std::string typeText(OpType type) {
    const char* name = opTypeName(type);
    return name ? name : format("Unknown(%d)", static_cast<int>(type));
}

std::string modelGraphText(const Net& net) {
    const auto text = [&](const NetGraph& graph) { return graphText(net, graph); };
    return "{\"graphs\":" + listed(net.graphs, text) + "}\n";
}

std::string planGraphText(const Session& session) {
    if (session.needsResize()) fail(Status::BadState, "the session has to be resized first");
    const auto text = [&](const PlannedGraph& graph) { return plannedText(session, graph); };
    return "{\"graphs\":" + listed(session.plannedGraphs(), text) + "}\n";
}

}  // namespace mnnc
