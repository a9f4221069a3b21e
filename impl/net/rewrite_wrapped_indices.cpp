// Where a converter wrapped indices into the range of a constant table, gathers read the indices before the wrapping,
// so that a wrong index is reported.
#include "net/net_rewrites.h"

#include "mnn_generated.h"
#include "ops/binary.h"
#include "ops/op_helpers.h"
#include "ops/source.h"

namespace mnnc {

namespace {

class Producers {
  public:
    explicit Producers(const NetGraph& graph) : producers_(graph.source->tensorNames.size(), nullptr) {
        for (const Node& node : graph.nodes)
            for (const int id : node.outputs) producers_[static_cast<size_t>(id)] = &node;
    }
    const ConstParams* constant(int id) const {
        const Node* node = producer(id);
        return node && node->type == OpType::Const ? node->paramsIf<ConstParams>() : nullptr;
    }
    bool isScalar(int id, int64_t value) const {
        const ConstParams* params = constant(id);
        return params && params->shape.rank() == 0 && params->type == DataType::Int32 && params->data &&
               *static_cast<const int32_t*>(params->data) == value;
    }
    // Returns the producer of this tensor when it is a plain binary operator with one of these codes.
    const Node* binary(int id, std::initializer_list<wire::BinaryOpOperation> codes) const {
        const Node* node = producer(id);
        if (!node || node->type != OpType::BinaryOp || !node->params || node->inputs.size() != 2) return nullptr;
        const auto* params = node->paramsIf<BinaryParams>();
        for (const wire::BinaryOpOperation code : codes)
            if (params->code == static_cast<int>(code) && !params->relu) return node;
        return nullptr;
    }

  private:
    const Node* producer(int id) const { return id < 0 ? nullptr : producers_[static_cast<size_t>(id)]; }
    std::vector<const Node*> producers_;
};

// Returns the extent of the constant table that a gather reads along its axis; -1 where it is unknown here.
int64_t tableExtent(const Producers& producers, const Node& gather) {
    const ConstParams* table = producers.constant(gather.inputs[0]);
    if (!table) return -1;
    const auto* params = gather.paramsIf<AxisParams>();
    int64_t axis = params->axis;
    if (!params->given && gather.inputs.size() > 2) {
        const ConstParams* input = producers.constant(gather.inputs[2]);
        if (!input || input->type != DataType::Int32 || !input->data || input->shape.elements() < 1) return -1;
        axis = *static_cast<const int32_t*>(input->data);
    }
    const int rank = table->shape.rank();
    if (axis < 0) axis += rank;
    return axis >= 0 && axis < rank ? table->shape[static_cast<int>(axis)] : -1;
}

}  // namespace

void rewriteWrappedIndices(NetGraph& graph) {
    using enum wire::BinaryOpOperation;
    const Producers producers(graph);
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
        const Node& gather = graph.nodes[i];
        if (!gather.def || (gather.type != OpType::Gather && gather.type != OpType::GatherV2)) continue;
        const Node* wrapped = producers.binary(gather.inputs[1], {MOD, FLOORMOD});
        const Node* shifted = wrapped ? producers.binary(wrapped->inputs[0], {ADD}) : nullptr;
        const int64_t extent = shifted ? tableExtent(producers, gather) : -1;
        if (extent < 1 || !producers.isScalar(wrapped->inputs[1], extent) ||
            !producers.isScalar(shifted->inputs[1], extent))
            continue;
        graph.decisive.insert({wrapped->inputs[1], shifted->inputs[1]});
        if (gather.inputs.size() > 2) graph.decisive.insert(gather.inputs[2]);
        Rewrite rewrite;
        rewrite.node = gather;
        rewrite.node.inputs[1] = shifted->inputs[0];
        rewrite.place = i;
        rewrite.bypassed = {gather.inputs[1], wrapped->inputs[0]};
        graph.rewrites.push_back(std::move(rewrite));
    }
}

}  // namespace mnnc
