// The pass read-mask-entries: attention over kept keys reads its mask in the input, and needs no copy of an entry.
#include "ops/attention.h"
#include "plan/mask_entries.h"
#include "plan/passes.h"
#include "tensor/region_check.h"

namespace mnnc {

namespace {

using Id = CommandGraph::Id;

// Returns whether a command copies a range of its one input.
bool takesRange(const Command& command) {
    return command.type == OpType::Raster && command.inputs.size() == 1 && command.outputs.size() == 1 &&
           command.regions.size() == 1 && command.views.empty() && !command.epilogue.residual &&
           command.inputs[0]->type == command.outputs[0]->type && copiesRange(command.regions[0]) &&
           command.regions[0].dst.offset == 0 && command.regions[0].count() == command.outputs[0]->elements();
}

}  // namespace

std::optional<MaskRead> maskRead(const CommandGraph& graph, Id attention) {
    if (graph.isControl(attention)) return std::nullopt;
    const Command& command = graph.command(attention);
    const auto* form = command.paramsIf<KeptAttentionForm>();
    if (!form || !form->masked || form->maskEntry != 0) return std::nullopt;
    MaskRead read;
    read.source = command.inputs[3];
    const int64_t elements = read.source->elements(), keys = read.source->shape[read.source->shape.rank() - 1];
    int64_t offset = 0;
    while (graph.producerCount(read.source) > 0) {
        const Id producer = graph.producer(read.source);
        if (producer == CommandGraph::kNone || graph.isControl(producer)) return std::nullopt;
        const Command& raster = graph.command(producer);
        if (!takesRange(raster)) return std::nullopt;
        offset += raster.regions[0].src.offset;
        read.rasters.push_back(producer);
        read.source = raster.inputs[0];
    }
    const Shape& shape = read.source->shape;
    if (read.source->usage != Usage::Input || read.source->format == Format::NC4HW4 || shape.rank() < 2 ||
        shape[shape.rank() - 1] != keys || shape[shape.rank() - 2] != form->rows || elements == 0 ||
        offset % elements != 0)
        return std::nullopt;
    read.entry = static_cast<int>(offset / elements);
    return read;
}

void readMaskEntries(CommandGraph& graph, const PlanContext&) {
    for (const Id id : graph.ids()) {
        const std::optional<MaskRead> read = maskRead(graph, id);
        if (!read || read->rasters.empty()) continue;
        Command attention = graph.command(id);
        auto form = std::make_shared<KeptAttentionForm>(attention.paramsAs<KeptAttentionForm>());
        form->maskEntry = read->entry;
        attention.params = std::move(form);
        attention.inputs[3] = read->source;
        graph.replace(id, std::move(attention));
        for (const Id raster : read->rasters) {
            const Operand* made = graph.command(raster).outputs[0];
            if (!graph.consumers(made).empty() || graph.isLiveOut(made)) break;
            graph.erase(raster, id);
        }
    }
}

}  // namespace mnnc
