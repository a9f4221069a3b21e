// ScatterNd and ScatterElements: a copy of the data, then the updates in index order. Negative indices count from the
// end, those outside are refused: while planning when they are constants, by the command otherwise.
#include "ops/scatter.h"

#include "base/checked.h"
#include "mnn_generated.h"
#include "ops/families.h"
#include "ops/op_helpers.h"
#include "tensor/region_builder.h"

namespace mnnc {

namespace {

struct ReductionParams : ParamsOf<ReductionParams> {
    int reduction = -1;
};

ParamsPtr parseReduction(const wire::Op& op, const ParseContext&) {
    auto params = std::make_shared<ReductionParams>();
    if (const wire::BinaryOp* table = op.main_as_BinaryOp())
        params->reduction = static_cast<int>(table->opType());
    if (params->reduction < 0) params->reduction = -1;
    return params;
}

// Arithmetic is done for float32 and int32 only; replacing copies any width.
void checkReduction(const ShapeContext& context, DataType type) {
    const int reduction = context.node.paramsAs<ReductionParams>().reduction;
    if (reduction >= 0 && type != DataType::Float32 && type != DataType::Int32)
        fail(Status::NotSupported, "op '%s': scatter with arithmetic on %s", context.name(),
             dataTypeName(type));
}

void shapeScatterNd(const ShapeContext& context) {
    requireInt32(context, 0);
    const Shape& indices = context.in(0).shape;
    const Shape shape = checkedShape(context.ints(2), context.name());
    if (indices.rank() < 1)
        fail(Status::ComputeSizeError, "op '%s': the indices are a scalar", context.name());
    const int64_t depth = indices[indices.rank() - 1];
    if (depth > shape.rank())
        fail(Status::ComputeSizeError, "op '%s': %lld indices per row for a result of rank %d",
             context.name(), asLong(depth), shape.rank());
    const int64_t needed = checkedMul(indices.elements(0, indices.rank() - 1),
                                      shape.elements(static_cast<int>(depth), shape.rank()), context.name());
    if (context.in(1).elements() < needed)
        fail(Status::ComputeSizeError, "op '%s': %lld update elements where %lld are needed", context.name(),
             asLong(context.in(1).elements()), asLong(needed));
    if (context.inputCount() > 3) {
        requireSameWidth(context, 1, 3);
        if (context.in(3).elements() != shape.elements())
            fail(Status::ComputeSizeError, "op '%s': initial data of shape %s for a result of %s",
                 context.name(), context.in(3).shape.text().c_str(), shape.text().c_str());
    }
    checkReduction(context, context.in(1).type);
    context.set(0, shape, context.in(1).type, context.in(1).format);
}

void geometryScatterNd(const OpContext& context) {
    const Shape &indices = context.in(0).shape, &shape = context.out(0).shape;
    auto params = std::make_shared<ScatterNdParams>();
    const int depth = static_cast<int>(indices[indices.rank() - 1]);
    params->rows = indices.elements(0, indices.rank() - 1);
    params->slice = shape.elements(depth, shape.rank());
    params->reduction = context.node.paramsAs<ReductionParams>().reduction;
    const Strides strides = rowMajorStrides(shape);
    params->bounds.depth = depth;
    for (int j = 0; j < depth; ++j) {
        params->bounds.extent[j] = shape[j];
        params->stride[j] = strides[static_cast<size_t>(j)];
    }
    params->bounds.checkKnown(context, 0);
    Command command = context.command();
    command.params = std::move(params);
    command.inputs.erase(command.inputs.begin() + 2);
    context.geometry.emit(std::move(command));
}

int scatterAxis(const ShapeContext& context) {
    return normalizeAxis(context.inputCount() > 3 ? context.intAt(3) : 0, context.in(0).shape.rank(),
                         context.name());
}

void shapeScatterElements(const ShapeContext& context) {
    requireInt32(context, 1);
    requireSameWidth(context, 0, 2);
    const int axis = scatterAxis(context);
    const Shape &data = context.in(0).shape, &indices = context.in(1).shape;
    if (data.rank() != indices.rank() || context.in(2).elements() < indices.elements())
        fail(Status::ComputeSizeError, "op '%s': data %s, indices %s and updates %s do not fit together",
             context.name(), data.text().c_str(), indices.text().c_str(), context.in(2).shape.text().c_str());
    requireOwnPositions(context, data, indices, axis);
    checkReduction(context, context.in(0).type);
    context.set(0, data);
}

void geometryScatterElements(const OpContext& context) {
    auto params = std::make_shared<ElementsParams>();
    params->axis = scatterAxis(context);
    IndexBounds::ofAxis(context.in(0).shape[params->axis]).checkKnown(context, 1);
    params->reduction = context.node.paramsAs<ReductionParams>().reduction;
    Command command = context.command();
    command.params = std::move(params);
    command.inputs.resize(3);
    context.geometry.emit(std::move(command));
}

constexpr OpDef kScatterOps[] = {
    {.type = OpType::ScatterNd,
     .parse = parseReduction,
     .shape = shapeScatterNd,
     .geometry = geometryScatterNd,
     .valueInputs = [](const Node&) { return 4u; }},
    {.type = OpType::ScatterElements,
     .parse = parseReduction,
     .shape = shapeScatterElements,
     .geometry = geometryScatterElements,
     .valueInputs = [](const Node& node) { return hasInput(node, 3) ? 8u : 0u; }},
};

}  // namespace

OpFamily scatterOps() {
    return kScatterOps;
}

}  // namespace mnnc
