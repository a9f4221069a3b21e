// A grouped convolution that a converter wrote as slices, convolutions and a concatenation becomes one operator.
#include "net/net_rewrites.h"

#include <algorithm>
#include <optional>

#include "mnn_generated.h"
#include "net/rewrite_nodes.h"
#include "ops/convolution.h"
#include "ops/op_helpers.h"
#include "ops/source.h"

namespace mnnc {

namespace {

// Returns whether the output of an operator has the format of its first input (or of one of its operands, when there
// are several).
bool keepsFormat(OpType type) {
    switch (type) {
        case OpType::Convolution:
        case OpType::ConvolutionDepthwise:
        case OpType::Deconvolution:
        case OpType::DeconvolutionDepthwise:
        case OpType::Pooling:
        case OpType::Pooling3D:
        case OpType::Interp:
        case OpType::Slice:
        case OpType::Concat:
        case OpType::ReLU:
        case OpType::ReLU6:
        case OpType::PReLU:
        case OpType::ELU:
        case OpType::UnaryOp:
        case OpType::Sigmoid:
        case OpType::TanH:
        case OpType::Scale:
        case OpType::BatchNorm:
        case OpType::Padding:
        case OpType::BinaryOp:
        case OpType::Eltwise:
            return true;
        default:
            return false;
    }
}

// Returns whether axis 1 of the outputs of node `i` is the channel axis of convolutions, given that of its inputs.
bool makesChannelFirst(const NetGraph& graph, size_t i, bool mainNet, const std::vector<bool>& channelFirst) {
    const Node& node = graph.nodes[i];
    switch (node.type) {
        case OpType::Input:
            return mainNet && node.params && node.paramsAs<InputParams>().format != Format::NHWC;
        case OpType::Const:
            return node.params && node.paramsAs<ConstParams>().format != Format::NHWC;
        case OpType::ConvertTensor: {
            const wire::TensorConvertInfo* table = graph.source->ops[i]->main_as_TensorConvertInfo();
            return table && table->dest() != wire::MNN_DATA_FORMAT::NHWC;
        }
        default:
            break;
    }
    if (!keepsFormat(node.type) || node.inputs.empty()) return false;
    const bool operands = node.type == OpType::BinaryOp || node.type == OpType::Eltwise;
    const auto end = operands ? node.inputs.end() : node.inputs.begin() + 1;
    return std::all_of(node.inputs.begin(), end,
                       [&](int id) { return id >= 0 && channelFirst[static_cast<size_t>(id)]; });
}

// By tensor: whether axis 1 is the channel axis of convolutions in every session.
std::vector<bool> channelFirstTensors(const NetGraph& graph, bool mainNet) {
    std::vector<bool> channelFirst(graph.source->tensorNames.size(), false);
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
        const Node& node = graph.nodes[i];
        const bool first = node.def && makesChannelFirst(graph, i, mainNet, channelFirst);
        for (const int id : node.outputs) channelFirst[static_cast<size_t>(id)] = first;
    }
    return channelFirst;
}

// Returns whether a node is a plain convolution with its weights in the file and explicit channels.
bool isPart(const Node& node) {
    if (node.type != OpType::Convolution || !node.def || !node.params || node.inputs.size() != 1) return false;
    const auto& p = node.paramsAs<ConvParams>();
    return p.group == 1 && p.inputCount > 0 && p.outputCount > 0 && p.parts.empty();
}

// Returns whether axis 1 is cut into equal parts of `channels`, written as cut positions.
bool cutsEvenly(const wire::Op& op, size_t parts, int64_t channels) {
    const wire::Slice* table = op.main_as_Slice();
    if (!table || table->axis() != 1 || table->sourceType() != wire::NetSource::CAFFE) return false;
    const auto* points = table->slicePoints();
    if (!points || points->size() + 1 != parts) return false;
    for (size_t i = 0; i + 1 < parts; ++i)
        if (points->Get(static_cast<flatbuffers::uoffset_t>(i)) != static_cast<int64_t>(i + 1) * channels) return false;
    return true;
}

ParamsPtr joinedParams(const NetGraph& graph, const std::vector<size_t>& parts) {
    const int64_t count = static_cast<int64_t>(parts.size());
    const auto& first = graph.nodes[parts[0]].paramsAs<ConvParams>();
    if (first.inputCount * count > INT32_MAX || first.outputCount * count > INT32_MAX) return nullptr;
    auto joined = std::make_shared<ConvParams>(first);
    joined->group = static_cast<int>(count);
    joined->inputCount *= joined->group;
    joined->outputCount *= joined->group;
    joined->op = nullptr;
    joined->table = nullptr;
    joined->storedWeights = 0;
    for (const size_t part : parts) {
        const auto params = std::static_pointer_cast<const ConvParams>(graph.nodes[part].params);
        if (params->storedWeights < 0)
            joined->storedWeights = -1;
        else if (joined->storedWeights >= 0)
            joined->storedWeights += params->storedWeights;
        joined->parts.push_back(params);
    }
    return joined;
}

std::optional<Rewrite> groupedAt(const NetGraph& graph, const RewriteNodes& nodes,
                                 const std::vector<bool>& channelFirst, size_t slice) {
    const Node& cut = graph.nodes[slice];
    const size_t count = cut.outputs.size();
    if (cut.type != OpType::Slice || !cut.def || cut.inputs.size() != 1 || count < 2) return {};
    if (nodes.producer(cut.inputs[0]) == kNoNode || !channelFirst[static_cast<size_t>(cut.inputs[0])]) return {};

    std::vector<size_t> parts;
    size_t join = kNoNode;
    for (size_t i = 0; i < count; ++i) {
        const size_t part = nodes.onlyConsumer(cut.outputs[i]);
        if (part == kNoNode || part <= slice || !isPart(graph.nodes[part])) return {};
        const size_t consumer = nodes.onlyConsumer(graph.nodes[part].outputs[0]);
        if (consumer == kNoNode || consumer <= part || (i > 0 && consumer != join)) return {};
        join = consumer;
        parts.push_back(part);
    }
    const auto& first = graph.nodes[parts[0]].paramsAs<ConvParams>();
    for (const size_t part : parts)
        if (!sameButWeights(first, graph.nodes[part].paramsAs<ConvParams>())) return {};
    // Wide groups of 3x3 windows stay separate: each of them runs by Winograd, which the grouped kernel does not
    // support.
    constexpr int kWideGroup = 16;
    if (first.kernelX == 3 && first.kernelY == 3 && first.strideX == 1 && first.strideY == 1 && first.dilateX == 1 &&
        first.dilateY == 1 && first.inputCount >= kWideGroup)
        return {};
    if (!cutsEvenly(*graph.source->ops[slice], count, first.inputCount)) return {};

    const Node& concat = graph.nodes[join];
    if (concat.type != OpType::Concat || !concat.def || !concat.params || concat.inputs.size() != count ||
        concat.paramsAs<AxisParams>().axis != 1 || nodes.producer(concat.outputs[0]) == kNoNode)
        return {};
    Rewrite rewrite;
    for (size_t i = 0; i < count; ++i) {
        const int made = graph.nodes[parts[i]].outputs[0];
        if (concat.inputs[i] != made) return {};
        rewrite.hidden.push_back(cut.outputs[i]);
        rewrite.hidden.push_back(made);
    }
    rewrite.node = graph.nodes[parts[0]];
    rewrite.node.name = concat.name;
    rewrite.node.inputs = cut.inputs;
    rewrite.node.outputs = concat.outputs;
    rewrite.node.params = joinedParams(graph, parts);
    if (!rewrite.node.params) return {};
    rewrite.place = join;
    rewrite.replaced = std::move(parts);
    rewrite.replaced.push_back(slice);
    return rewrite;
}

}  // namespace

void rewriteGroupedConvolutions(NetGraph& graph, bool mainNet) {
    // Int8 scales belong to the parts, not to the whole.
    if (!graph.quants.empty()) return;
    const bool any = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                                 [](const Node& node) { return node.type == OpType::Slice; });
    if (!any) return;
    const RewriteNodes nodes(graph);
    const std::vector<bool> channelFirst = channelFirstTensors(graph, mainNet);
    for (size_t i = 0; i < graph.nodes.size(); ++i)
        if (std::optional<Rewrite> rewrite = groupedAt(graph, nodes, channelFirst, i))
            graph.rewrites.push_back(std::move(*rewrite));
}

}  // namespace mnnc
