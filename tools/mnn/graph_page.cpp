// Describes graphs for their page: boxes of one operator or of several that are computed together, and edges.
#include "graph_page.h"

#include <array>
#include <map>
#include <set>

#include "net_boxes.h"

namespace tool {
namespace {

Json tensorJson(const NetGraph& graph, int64_t id) {
    if (id < 0) return Json::object({{"name", ""}, {"text", "absent"}});
    const GraphTensor& tensor = graph.tensors.at(static_cast<size_t>(id));
    std::string text = tensorText(tensor);
    if (tensor.constant) text += ", constant";
    return Json::object({{"name", tensor.name}, {"text", text}});
}

Json tensorList(const NetGraph& graph, const std::vector<int64_t>& tensors) {
    Json list = Json::array();
    for (const int64_t id : tensors) list.push_back(tensorJson(graph, id));
    return list;
}

class GraphJson {
  public:
    GraphJson(const Net& net, size_t number) : net_(net), number_(number), graph_(net.graphs[number]) {}

    Json make() {
        Json boxes = Json::array();
        for (size_t op = 0; op < graph_.ops.size(); ++op) addBox(op, boxes);
        return Json::object({{"title", titleOf(net_, number_)}, {"boxes", boxes}, {"edges", edges()}});
    }
    // Returns the box of an operator, which make() has described.
    size_t boxOf(size_t op) const { return boxOf_.at(op); }

  private:
    void addBox(size_t op, Json& boxes) {
        const GraphOp& first = graph_.ops[op];
        if (!first.isDrawn() || boxOf_.count(op) > 0) return;
        const GraphGroup* group = first.group >= 0 ? &graph_.groups[static_cast<size_t>(first.group)] : nullptr;
        const std::vector<size_t> members = group ? group->ops : std::vector<size_t>{op};
        Json ops = Json::array();
        for (const size_t member : members) {
            const GraphOp& row = graph_.ops[member];
            boxOf_[member] = count_;
            ops.push_back(Json::object({{"type", row.type},
                                        {"name", row.name},
                                        {"inputs", tensorList(graph_, row.inputs)},
                                        {"outputs", tensorList(graph_, row.outputs)}}));
        }
        ++count_;
        const Look& look = lookOf(net_, graph_, first);
        Json box = Json::object({{"ops", ops}, {"look", look.key}, {"fill", look.fill}, {"line", look.line}});
        if (group) {
            Json commands = Json::array();
            for (const std::string& command : group->commands) commands.push_back(command);
            box["commands"] = commands;
            box["backend"] = group->backend;
            box["algorithm"] = group->algorithm;
            box["reason"] = group->reason;
            if (group->ms >= 0) {
                box["ms"] = group->ms;
                box["time"] = timeText(net_, group->ms);
                box["fill"] = heatColour(net_, group->ms);
            }
        }
        boxes.push_back(std::move(box));
    }

    Json edges() const {
        Json list = Json::array();
        std::set<std::array<size_t, 3>> seen;
        for (const GraphEdge& edge : edgesOf(graph_)) {
            const size_t from = boxOf(edge.from), to = boxOf(edge.to);
            if (from == to || !seen.insert({from, to, edge.tensor}).second) continue;
            const GraphTensor& tensor = graph_.tensors[edge.tensor];
            list.push_back(
                Json::object({{"from", from}, {"to", to}, {"name", tensor.name}, {"text", tensorText(tensor)}}));
        }
        return list;
    }

    const Net& net_;
    const size_t number_;
    const NetGraph& graph_;
    std::map<size_t, size_t> boxOf_;
    size_t count_ = 0;
};

}  // namespace

Json graphPageData(const Net& net, const Json& facts) {
    std::vector<GraphJson> makers;
    Json graphs = Json::array();
    for (size_t graph = 0; graph < net.graphs.size(); ++graph) {
        makers.emplace_back(net, graph);
        Json made = makers.back().make();
        graphs.push_back(std::move(made));
    }
    Json calls = Json::array();
    for (size_t graph = 0; graph < net.graphs.size(); ++graph) {
        const NetGraph& body = net.graphs[graph];
        if (body.caller < 0) continue;
        const auto caller = static_cast<size_t>(body.callerGraph);
        calls.push_back(Json::object(
            {{"graph", caller}, {"box", makers[caller].boxOf(static_cast<size_t>(body.caller))}, {"body", graph}}));
    }
    Json legend = Json::array();
    for (const Look& look : looks())
        legend.push_back(
            Json::object({{"key", look.key}, {"fill", look.fill}, {"line", look.line}, {"meaning", look.meaning}}));
    return Json::object(
        {{"facts", facts}, {"graphs", graphs}, {"calls", calls}, {"legend", legend}, {"timed", net.runMs >= 0}});
}

}  // namespace tool
