// The pass compose-rasters.
#include <algorithm>
#include <optional>

#include "plan/passes.h"
#include "tensor/region_check.h"
#include "tensor/region_compose.h"
#include "tensor/region_overlap.h"

namespace mnnc {

namespace {

using Id = CommandGraph::Id;

constexpr size_t kMaxRegions = 32;        // of the inlined Raster, and of the result unless the outer one has more
constexpr size_t kMaxOuterRegions = 256;  // of the Raster that reads the inlined one

bool permutes(const Region& region) {
    return !copiesRange(region);
}

// Returns whether a Raster writes every element of its output once, from tensors of its type that do not change.
bool isComplete(const CommandGraph& graph, const Command& raster) {
    const Operand& output = *raster.outputs[0];
    if (output.empty() || graph.producerCount(&output) != 1 || graph.isLiveOut(&output)) return false;
    int64_t written = 0;
    for (const Region& region : raster.regions) {
        if (!writesOnce(region)) return false;
        written += region.count();
    }
    return written == output.elements() &&
           std::all_of(
               raster.inputs.begin(), raster.inputs.end(),
               [&](const Operand* input) { return input->type == output.type && graph.producerCount(input) <= 1; }) &&
           !regionsOverlap(raster.regions, output.elements());
}

// A permutation is composed with a Raster that puts whole tensors in order, and a Raster of ranges with a permutation
// that it reads. Ranges are not composed with ranges: those are free as views and joined outputs. A permutation does
// not move into a concatenation: a net that alternates concatenations, permutations and slices would permute each piece
// every time.
bool isProfitable(const Command& outer, const Command& inner) {
    if (outer.type != OpType::Raster || outer.outputs.size() != 1 || outer.outputs[0]->type != inner.outputs[0]->type ||
        outer.regions.size() > kMaxOuterRegions || inner.regions.size() > kMaxRegions)
        return false;
    if (std::any_of(inner.regions.begin(), inner.regions.end(), permutes))
        return outer.inputs.size() == 1 && std::none_of(outer.regions.begin(), outer.regions.end(), permutes);
    return std::any_of(outer.regions.begin(), outer.regions.end(), permutes) &&
           std::all_of(inner.regions.begin(), inner.regions.end(), [&](const Region& region) {
               return isLinear(region, inner.inputs[static_cast<size_t>(region.input)]->elements());
           });
}

// Returns `outer` with the sources of `inner` in place of its result; empty where regions cannot express it.
std::optional<Command> compose(const Command& outer, const Command& inner) {
    const Operand* between = inner.outputs[0];
    const size_t maxRegions = std::max(kMaxRegions, outer.regions.size());
    Command composed = outer;
    composed.regions.clear();
    composed.inputs.clear();
    const auto indexOf = [&](Operand* tensor) {  // in the new list, which has each tensor once
        const auto at = std::find(composed.inputs.begin(), composed.inputs.end(), tensor);
        const auto index = static_cast<int>(at - composed.inputs.begin());
        if (at == composed.inputs.end()) composed.inputs.push_back(tensor);
        return index;
    };
    for (const Region& region : outer.regions) {
        Operand* source = outer.inputs[static_cast<size_t>(region.input)];
        const bool through = source == between;
        std::vector<Region> parts{region};
        if (through) {
            if (!writesOnce(region)) return std::nullopt;  // the order of its elements matters
            auto pieces = composeRegion(region, inner.regions, maxRegions);
            if (!pieces) return std::nullopt;
            parts = std::move(*pieces);
        }
        for (Region& part : parts) {
            part.input = indexOf(through ? inner.inputs[static_cast<size_t>(part.input)] : source);
            composed.regions.push_back(part);
        }
        if (composed.regions.size() > maxRegions) return std::nullopt;
    }
    return composed;
}

// Makes all consumers of a Raster read its inputs instead, if regions can express that for each of them.
bool inlineIntoConsumers(CommandGraph& graph, Id id) {
    const Command& inner = graph.command(id);
    if (graph.isControl(id) || inner.type != OpType::Raster || inner.outputs.size() != 1) return false;
    const std::vector<Id> consumers = graph.consumers(inner.outputs[0]);
    const auto fits = [&](Id consumer) {
        return graph.runsBefore(id, consumer) && isProfitable(graph.command(consumer), inner);
    };
    if (consumers.empty() || !std::all_of(consumers.begin(), consumers.end(), fits) || !isComplete(graph, inner))
        return false;
    std::vector<Command> composed;
    for (const Id consumer : consumers) {
        std::optional<Command> one = compose(graph.command(consumer), inner);
        if (!one) return false;
        composed.push_back(std::move(*one));
    }
    for (size_t i = 0; i < consumers.size(); ++i) graph.replace(consumers[i], std::move(composed[i]));
    graph.erase(id, consumers[0]);
    return true;
}

}  // namespace

void composeRasters(CommandGraph& graph, const PlanContext&) {
    // Each success removes one Raster, so the loop ends.
    for (bool changed = true; changed;) {
        changed = false;
        const std::vector<Id> ids = graph.ids();
        for (size_t i = ids.size(); i-- > 0;) changed |= inlineIntoConsumers(graph, ids[i]);
    }
}

}  // namespace mnnc
