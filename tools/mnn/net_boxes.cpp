// Selects the words and colours of a drawn graph.
#include "net_boxes.h"

#include <algorithm>
#include <cmath>

namespace tool {

const std::vector<Look>& looks() {
    static const std::vector<Look> all = {
        {"cpu", "#cfe2ff", "#2f6fd0", "on the CPU"},
        {"vulkan", "#ffe0b8", "#d97706", "on the GPU (Vulkan)"},
        {"other", "#ccf2ee", "#0f766e", "on another backend, or on several"},
        {"host_shape", "#e5e7eb", "#6b7280", "shape arithmetic on the CPU"},
        {"control", "#e9ddff", "#7c3aed", "control flow"},
        {"none", "#ffffff", "#9ca3af", "computes nothing when running"},
        {"undecided", "#ffffff", "#374151", "not planned yet, or not needed"},
        {"end", "#d5f0dd", "#15803d", "input or output"},
        {"unsupported", "#ffd6d6", "#b91c1c", "not supported"},
    };
    return all;
}

namespace {

const Look& look(const std::string& key) {
    for (const Look& row : looks())
        if (key == row.key) return row;
    return look("other");
}

}  // namespace

const Look& lookOf(const Net& net, const NetGraph& graph, const GraphOp& op) {
    if (op.type == "Input" || op.type == "Output") return look("end");
    if (!op.supported) return look("unsupported");
    if (!op.bodies.empty()) return look("control");
    if (op.group >= 0) {
        const GraphGroup& group = graph.groups[static_cast<size_t>(op.group)];
        return look(group.hostShape ? "host_shape" : group.backend);
    }
    for (const int64_t id : op.outputs)
        if (net.planned && id >= 0 && graph.tensors[static_cast<size_t>(id)].planned()) return look("none");
    return look("undecided");
}

std::string heatColour(const Net& net, double ms) {
    const double heat = net.longestMs > 0 ? std::clamp(std::sqrt(ms / net.longestMs), 0.0, 1.0) : 0;
    // The colours run from white over yellow to red.
    const double other = std::min(1.0, 2 - 2 * heat), blue = std::max(0.0, 1 - 2 * heat);
    const auto channel = [](double low, double at) { return static_cast<int>(low + (255 - low) * at); };
    return fmt::format("#{:02x}{:02x}{:02x}", 255, channel(80, other), channel(70, blue));
}

std::vector<GraphEdge> edgesOf(const NetGraph& graph) {
    std::vector<GraphEdge> edges;
    for (size_t op = 0; op < graph.ops.size(); ++op)
        for (const int64_t id : graph.ops[op].inputs) {
            if (id < 0) continue;
            const auto tensor = static_cast<size_t>(id);
            const int producer = graph.tensors.at(tensor).producer;
            if (producer >= 0 && graph.ops[static_cast<size_t>(producer)].isDrawn())
                edges.push_back({static_cast<size_t>(producer), op, tensor});
        }
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    return edges;
}

std::string tensorText(const GraphTensor& tensor) {
    return tensor.planned() ? shapeText(tensor.shape) + " " + tensor.type : "";
}

std::string titleOf(const Net& net, size_t graph) {
    if (graph == 0) return "main graph";
    const NetGraph& body = net.graphs[graph];
    if (body.caller < 0) return fmt::format("graph '{}', which no operator runs", body.name);
    const GraphOp& caller = net.graphs[static_cast<size_t>(body.callerGraph)].ops[static_cast<size_t>(body.caller)];
    return fmt::format("graph '{}' of {} '{}'", body.name, caller.type, caller.name);
}

std::string timeText(const Net& net, double ms) {
    return fmt::format("{:.3f} ms, {:.1f}%", ms, net.totalMs > 0 ? ms / net.totalMs * 100 : 0.0);
}

}  // namespace tool
