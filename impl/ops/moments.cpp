// Moments: mean and variance over some axes, lowered to reductions (as tf.nn.moments, which divides by the count).
#include <algorithm>

#include "mnn_generated.h"
#include "ops/binary.h"
#include "ops/families.h"
#include "ops/op_helpers.h"
#include "ops/reduction.h"

namespace mnnc {

namespace {

struct MomentsParams : ParamsOf<MomentsParams> {
    std::vector<int> axes;  // as in the file; empty: all axes
    bool keepDims = true;
};

ParamsPtr parseMoments(const wire::Op& op, const ParseContext& context) {
    const wire::MomentsParam* table = op.main_as_MomentsParam();
    if (!table) fail(Status::BadParameter, "op '%s' carries no MomentsParam table", context.node.name.c_str());
    auto params = std::make_shared<MomentsParams>();
    if (table->dim()) params->axes.assign(table->dim()->begin(), table->dim()->end());
    params->keepDims = table->keepDims();
    return params;
}

// The axes, ascending and unique.
std::vector<int> reducedAxes(const ShapeContext& context) {
    const int rank = context.in(0).shape.rank();
    std::vector<int> axes;
    for (const int axis : context.node.paramsAs<MomentsParams>().axes)
        axes.push_back(normalizeAxis(axis, rank, context.name()));
    if (axes.empty())
        for (int axis = 0; axis < rank; ++axis) axes.push_back(axis);
    std::sort(axes.begin(), axes.end());
    axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
    return axes;
}

Shape reducedShape(const Shape& shape, const std::vector<int>& axes, bool keep) {
    Shape out = shape;
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
        if (keep)
            out[*axis] = 1;
        else
            out.erase(*axis);
    }
    return out;
}

void shapeMoments(const ShapeContext& context) {
    const Tensor& x = context.in(0);
    if (x.type != DataType::Float32)
        fail(Status::NotSupported, "op '%s': moments of %s are not implemented", context.name(), dataTypeName(x.type));
    const Shape out = reducedShape(x.shape, reducedAxes(context), context.node.paramsAs<MomentsParams>().keepDims);
    context.set(0, out);
    context.set(1, out);
}

void emitMean(const OpContext& context, Tensor* from, Tensor* to, bool keepDims, const char* part) {
    auto params = std::make_shared<ReductionParams>();
    params->operation = Reduce::Mean;
    params->axes = reducedAxes(context);
    params->keepDims = keepDims;
    ValueCommand command;
    command.type = OpType::Reduction;
    command.name = context.node.name + part;
    command.params = std::move(params);
    command.inputs = {from};
    command.outputs = {to};
    context.geometry.emit(std::move(command));
}

Tensor* binaryOf(const OpContext& context, int code, Tensor* a, Tensor* b, const char* part) {
    auto params = std::make_shared<BinaryParams>();
    params->code = code;
    ValueCommand command;
    command.type = OpType::BinaryOp;
    command.name = context.node.name + part;
    command.params = std::move(params);
    command.inputs = {a, b};
    command.outputs = {context.geometry.temporary(a->shape, a->type, a->format)};
    Tensor* const result = command.outputs[0];
    context.geometry.emit(std::move(command));
    return result;
}

// The variance is the mean of the squared distances to the mean, because the difference of two large means would lose
// digits.
void geometryMoments(const OpContext& context) {
    Tensor* const x = context.inputs[0];
    const std::vector<int> axes = reducedAxes(context);
    if (axes.empty()) {
        context.geometry.copyLinear(context.outputs[0], x, context.node.name);
        return context.geometry.raster(context.outputs[1], {}, {}, context.node.name);
    }
    const bool keeps = context.node.paramsAs<MomentsParams>().keepDims;
    Tensor* const mean =
        keeps ? context.outputs[0] : context.geometry.temporary(reducedShape(x->shape, axes, true), x->type, x->format);
    emitMean(context, x, mean, true, "/mean");
    if (!keeps) context.geometry.copyLinear(context.outputs[0], mean, context.node.name);
    Tensor* const distance = binaryOf(context, kBinarySub, x, mean, "/distance");
    Tensor* const square = binaryOf(context, kBinaryMul, distance, distance, "/square");
    emitMean(context, square, context.outputs[1], keeps, "/variance");
}

}  // namespace

constexpr OpDef kMomentsOps[] = {{.type = OpType::Moments,
                                  .parse = parseMoments,
                                  .shape = shapeMoments,
                                  .geometry = geometryMoments,
                                  .flops = flopsPerInput<4>}};
extern constinit const OpFamily momentsOps = kMomentsOps;

}  // namespace mnnc
