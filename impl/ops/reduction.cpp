// Reduction: axes from the parameter table or the content of input 1, resolved before a command is made.
#include <algorithm>

#include "model/model.h"
#include "model/wire_access.h"
#include "ops/families.h"
#include "ops/op_helpers.h"
#include "ops/reduction.h"

namespace mnnc {
namespace {

ParamsPtr parseReduction(const wire::Op& op, const ParseContext& context) {
    const wire::ReductionParam* table = op.main_as_ReductionParam();
    const char* name = context.node.name.c_str();
    if (!table) fail(Status::BadParameter, "op '%s' carries no ReductionParam table", name);
    const int code = static_cast<int>(table->operation());
    if (code < 0 || code > 8) fail(Status::BadParameter, "op '%s': reduction code %d is unknown (0..8)", name, code);
    auto params = std::make_shared<ReductionParams>();
    params->operation = static_cast<Reduce>(code);
    if (table->dim()) params->axes.assign(table->dim()->begin(), table->dim()->end());
    params->keepDims = table->keepDims();
    const ModelSource source = context.model.sourceType();
    params->emptyIsAll = source != ModelSource::TensorFlow && source != ModelSource::TfLite;
    return params;
}

std::vector<int> resolveAxes(const ShapeContext& context) {
    const auto* params = context.node.paramsIf<ReductionParams>();
    const int rank = context.in(0).shape.rank();
    std::vector<int> axes;
    if (context.inputCount() > 1) {
        for (const int64_t axis : context.ints(1)) axes.push_back(normalizeAxis(axis, rank, context.name()));
        // https://onnx.ai/onnx/operators/onnx__ReduceSum.html: all axes, because files lack noop_with_empty_axes, which
        // is 0 by default.
        for (int axis = 0; params->emptyIsAll && context.in(1).empty() && axis < rank; ++axis) axes.push_back(axis);
    } else if (!params->axes.empty()) {
        for (const int axis : params->axes) axes.push_back(normalizeAxis(axis, rank, context.name()));
    } else {
        for (int axis = 0; axis < rank; ++axis) axes.push_back(axis);
    }
    std::sort(axes.begin(), axes.end());
    axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
    return axes;
}

void shapeReduction(const ShapeContext& context) {
    const std::vector<int> axes = resolveAxes(context);
    Shape shape = context.in(0).shape;
    const bool keep = context.node.paramsAs<ReductionParams>().keepDims;
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
        if (keep)
            shape[*axis] = 1;
        else
            shape.erase(*axis);
    }
    context.set(0, shape);
}

void lowerReduction(const OpContext& context) {
    const auto* params = &context.node.paramsAs<ReductionParams>();
    auto resolved = std::make_shared<ReductionParams>();
    resolved->operation = params->operation;
    resolved->keepDims = params->keepDims;
    resolved->axes = resolveAxes(context);
    if (resolved->axes.empty() && params->operation != Reduce::Any && params->operation != Reduce::All &&
        params->operation != Reduce::AbsSum && params->operation != Reduce::SquareSum)
        return context.geometry.copyLinear(context.outputs[0], context.inputs[0], context.node.name);
    ValueCommand command = context.command();
    command.params = std::move(resolved);
    command.inputs.resize(1);
    context.geometry.emit(std::move(command));
}

}  // namespace

constexpr OpDef kReductionOps[] = {
    {.type = OpType::Reduction,
     .parse = parseReduction,
     .shape = shapeReduction,
     .geometry = lowerReduction,
     .valueInputs = contentOfInput1,
     .flops = flopsPerInput<1>},
};
extern constinit const OpFamily reductionOps = kReductionOps;

}  // namespace mnnc
