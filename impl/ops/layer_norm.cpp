// LayerNorm (Ba, Kiros and Hinton, arXiv 1607.06450) over any axes, over the channel or over groups, and without the
// mean (RMSNorm, Zhang and Sennrich, arXiv 1910.07467).
#include "ops/layer_norm.h"

#include <algorithm>

#include "model/model.h"
#include "model/table_arrays.h"
#include "model/wire_access.h"
#include "ops/binary.h"
#include "ops/families.h"
#include "tensor/region_builder.h"

namespace mnnc {
namespace {

// The axes counted from the front, in order.
std::vector<int> normAxes(const LayerNormParams& params, int rank, const char* what) {
    if (static_cast<int64_t>(params.axes.size()) > rank)
        fail(Status::ComputeSizeError, "op '%s': %zu axes are normalised, the input has rank %d", what,
             params.axes.size(), rank);
    if (rank == 1) return {0};  // there is only one axis
    std::vector<int> axes;
    for (const int axis : params.axes) axes.push_back(normalizeAxis(axis, rank, what));
    std::sort(axes.begin(), axes.end());
    const auto twice = std::adjacent_find(axes.begin(), axes.end());
    if (twice != axes.end()) fail(Status::BadParameter, "op '%s': axis %d is normalised twice", what, *twice);
    return axes;
}

bool contiguous(const std::vector<int>& axes) {
    return axes.back() - axes.front() + 1 == static_cast<int>(axes.size());
}

}  // namespace

NormBlocks normBlocks(const LayerNormParams& params, const Shape& shape, const char* what) {
    const int rank = shape.rank();
    if (params.overChannel) {
        if (rank < 2)
            fail(Status::ComputeSizeError, "op '%s': normalising over the channel needs rank 2, the input is %s", what,
                 shape.text().c_str());
        return {shape[0], shape[1], shape.elements(2, rank)};
    }
    if (params.axes.empty()) {
        if (params.group <= 1) return {shape.elements(), 1, 1};
        const int64_t perBatch = shape.elements(rank > 0 ? 1 : 0, rank);
        if (rank < 1 || perBatch % params.group != 0)
            fail(Status::ComputeSizeError, "op '%s': %s cannot be cut into %d groups", what, shape.text().c_str(),
                 params.group);
        return {checkedMul(shape[0], params.group, what), perBatch / params.group, 1};
    }
    const std::vector<int> axes = normAxes(params, rank, what);
    const int begin = axes.front(), end = axes.back() + 1;
    if (contiguous(axes)) return {shape.elements(0, begin), shape.elements(begin, end), shape.elements(end, rank)};
    int64_t outer = 1, length = 1;
    for (int i = 0; i < rank; ++i) {
        int64_t& part = std::find(axes.begin(), axes.end(), i) == axes.end() ? outer : length;
        part = checkedMul(part, shape[i], what);
    }
    return {outer, length, 1};
}

namespace {

ParamsPtr parseLayerNorm(const wire::Op& op, const ParseContext& context) {
    const wire::LayerNorm* table = op.main_as_LayerNorm();
    const char* name = context.node.name.c_str();
    if (!table) fail(Status::BadParameter, "op '%s' carries no LayerNorm table", name);
    auto params = std::make_shared<LayerNormParams>();
    if (table->axis()) params->axes.assign(table->axis()->begin(), table->axis()->end());
    // In a static model the normalised axes have been moved to the end, but the list has their former positions.
    if (context.graph)
        for (size_t i = 0; i < params->axes.size(); ++i)
            params->axes[i] = static_cast<int>(i) - static_cast<int>(params->axes.size());
    params->epsilon = table->epsilon();
    params->group = table->group();
    params->rms = table->useRMSNorm();
    params->overChannel = context.node.defaultFormat == Format::NC4HW4;
    const FloatPair arrays = layerNormArrays(*table, context.model.weightFiles(op), name);
    params->gamma.assign(arrays.first.span().begin(), arrays.first.span().end());
    params->beta.assign(arrays.second.span().begin(), arrays.second.span().end());
    if (params->beta.empty()) params->beta.resize(params->gamma.size());
    if (params->gamma.size() != params->beta.size())
        fail(Status::BadParameter, "op '%s' has %zu gamma values but %zu beta values", name, params->gamma.size(),
             params->beta.size());
    return params;
}

void shapeLayerNorm(const ShapeContext& context) {
    const auto* params = context.node.paramsIf<LayerNormParams>();
    const Tensor& input = context.in(0);
    const size_t outputs = context.outputs.size();
    if (context.inputs.size() != outputs || (outputs == 2 && !(context.in(1).shape == input.shape)))
        fail(Status::ComputeSizeError,
             "op '%s': LayerNorm needs one input and one output, or two inputs of one shape and two outputs",
             context.name());
    const NormBlocks blocks = normBlocks(*params, input.shape, context.name());
    if (!params->gamma.empty() && static_cast<int64_t>(params->gamma.size()) != blocks.length)
        fail(Status::ComputeSizeError,
             "op '%s' has %zu gamma values for blocks of %lld elements (input %s), one for each is needed",
             context.name(), params->gamma.size(), asLong(blocks.length), input.shape.text().c_str());
    for (size_t i = 0; i < outputs; ++i) context.set(static_cast<int>(i), input.shape);
}

// Normalises axes with others between them: moves them to the end, normalises there, and moves them back.
void lowerApart(const OpContext& context, const LayerNormParams& params, const std::vector<int>& axes, Tensor* input,
                Tensor* output) {
    const int rank = input->shape.rank();
    std::vector<int> order;
    for (int i = 0; i < rank; ++i)
        if (std::find(axes.begin(), axes.end(), i) == axes.end()) order.push_back(i);
    order.insert(order.end(), axes.begin(), axes.end());
    Shape moved;
    for (const int axis : order) moved.push(input->shape[axis]);
    const Strides original = rowMajorStrides(input->shape), strides = rowMajorStrides(moved);
    std::vector<BoxAxis> there, back;
    for (int i = 0; i < rank; ++i) {
        const int64_t far = original[static_cast<size_t>(order[static_cast<size_t>(i)])],
                      near = strides[static_cast<size_t>(i)];
        there.push_back({moved[i], far, near});
        back.push_back({moved[i], near, far});
    }
    const auto move = [&](Tensor* from, Tensor* to, const std::vector<BoxAxis>& box) {
        RegionBuilder builder(context.name());
        builder.box(0, 0, 0, box);
        context.geometry.raster(to, {from}, builder.take(), context.node.name);
    };
    Tensor* before = context.geometry.temporary(moved, input->type, Format::NCHW);
    Tensor* after = context.geometry.temporary(moved, input->type, Format::NCHW);
    move(input, before, there);
    ValueCommand norm = context.command();
    auto tail = std::make_shared<LayerNormParams>(params);
    tail->axes.clear();
    for (size_t i = axes.size(); i > 0; --i) tail->axes.push_back(-static_cast<int>(i));
    norm.params = std::move(tail);
    norm.inputs = {before};
    norm.outputs = {after};
    context.geometry.emit(std::move(norm));
    move(after, output, back);
}

// Two inputs x and r give two outputs: s = x + r and y = norm(s).
void lowerLayerNorm(const OpContext& context) {
    ValueCommand norm = context.command();
    const auto& params = context.node.paramsAs<LayerNormParams>();
    if (context.outputs.size() == 2) {
        auto add = std::make_shared<BinaryParams>();
        ValueCommand sum;
        sum.type = OpType::BinaryOp;
        sum.name = context.node.name;
        sum.params = std::move(add);
        sum.inputs = {context.inputs[0], context.inputs[1]};
        sum.outputs = {context.outputs[0]};
        context.geometry.emit(std::move(sum));
        norm.inputs = {context.outputs[0]};
        norm.outputs = {context.outputs[1]};
    }
    if (!params.overChannel && !params.axes.empty()) {
        const std::vector<int> axes = normAxes(params, context.in(0).shape.rank(), context.name());
        if (!contiguous(axes)) return lowerApart(context, params, axes, norm.inputs[0], norm.outputs[0]);
    }
    context.geometry.emit(std::move(norm));
}

}  // namespace

constexpr OpDef kLayerNormOps[] = {
    {.type = OpType::LayerNorm,
     .parse = parseLayerNorm,
     .shape = shapeLayerNorm,
     .geometry = lowerLayerNorm,
     .flops = flopsPerInput<5>},
};
extern constinit const OpFamily layerNormOps = kLayerNormOps;

}  // namespace mnnc
