// See node_order.h.
#include "node_order.h"

#include <functional>
#include <queue>
#include <string_view>
#include <unordered_map>

namespace mnnc::onnx {
namespace {

// Calls function(name) for each name that a node and its bodies read, also for values of the bodies themselves.
void forNamesRead(const Node& node, const std::function<void(std::string_view)>& function) {
    for (const std::string_view name : node.inputs) function(name);
    for (const Attribute& attribute : node.attributes) {
        if (!attribute.graph) continue;
        for (const Node& inner : attribute.graph->nodes) forNamesRead(inner, function);
        for (const ValueInfo& output : attribute.graph->outputs) function(output.name);
    }
}

}  // namespace

std::vector<const Node*> inOrder(const std::vector<Node>& nodes) {
    std::unordered_map<std::string_view, size_t> producers;
    for (size_t i = 0; i < nodes.size(); ++i)
        for (const std::string_view name : nodes[i].outputs)
            if (!name.empty()) producers.try_emplace(name, i);
    std::vector<size_t> missing(nodes.size());  // results that a node reads and that have no producer in `order` yet
    std::vector<std::vector<size_t>> consumers(nodes.size());
    bool sorted = true;
    for (size_t i = 0; i < nodes.size(); ++i)
        forNamesRead(nodes[i], [&](std::string_view name) {
            const auto producer = producers.find(name);
            if (producer == producers.end() || producer->second == i) return;
            consumers[producer->second].push_back(i);
            ++missing[i];
            sorted = sorted && producer->second < i;
        });
    std::vector<const Node*> order;
    order.reserve(nodes.size());
    if (sorted) {
        for (const Node& node : nodes) order.push_back(&node);
        return order;
    }
    std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
    for (size_t i = 0; i < nodes.size(); ++i)
        if (missing[i] == 0) ready.push(i);
    while (!ready.empty()) {
        const size_t next = ready.top();
        ready.pop();
        order.push_back(&nodes[next]);
        for (const size_t consumer : consumers[next])
            if (--missing[consumer] == 0) ready.push(consumer);
    }
    for (size_t i = 0; i < nodes.size(); ++i)
        if (missing[i] != 0) order.push_back(&nodes[i]);
    return order;
}

}  // namespace mnnc::onnx
