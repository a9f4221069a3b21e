// ScatterNd and ScatterElements: a copy of the data, then the updates in index order. Negative indices count from the
// end, indices outside are refused: while planning when they are constants, by the command otherwise.
#include "ops/scatter.h"

#include <algorithm>

#include "base/checked.h"
#include "mnn_generated.h"
#include "ops/binary.h"
#include "ops/families.h"
#include "ops/op_helpers.h"
#include "tensor/region_builder.h"

namespace mnnc {

namespace {

struct ScatterReductionParams : ParamsOf<ScatterReductionParams> {
    Scatter reduction = Scatter::Replace;
};

Scatter reductionOf(int code) {
    constexpr int kMaxTemp = 4, kMinTemp = 5;  // MAX_TEMP and MIN_TEMP of BinaryOpOperation (schema/mnn.fbs)
    switch (code) {
        case -1:  // no operation
            return Scatter::Replace;
        case kBinaryAdd:
            return Scatter::Add;
        case kBinarySub:
            return Scatter::Sub;
        case kBinaryMul:
            return Scatter::Mul;
        case kBinaryMinimum:
        case kMinTemp:
            return Scatter::Min;
        case kBinaryMaximum:
        case kMaxTemp:
            return Scatter::Max;
        default:
            fail(Status::NotSupported, "a scatter that combines by binary code %d is not supported", code);
    }
}

ParamsPtr parseScatterReduction(const wire::Op& op, const ParseContext&) {
    auto params = std::make_shared<ScatterReductionParams>();
    if (const wire::BinaryOp* table = op.main_as_BinaryOp())
        params->reduction = reductionOf(std::max(static_cast<int>(table->opType()), -1));
    return params;
}

// Refuses arithmetic on bfloat16, which is only a storage type; replacing copies any width.
void checkReduction(const ShapeContext& context, DataType type) {
    if (context.node.paramsAs<ScatterReductionParams>().reduction != Scatter::Replace && type == DataType::BFloat16)
        fail(Status::NotSupported, "op '%s': arithmetic scatters of %s are not supported", context.name(),
             dataTypeName(type));
}

void shapeScatterNd(const ShapeContext& context) {
    requireInt32(context, 0);
    const Shape& indices = context.in(0).shape;
    const Shape shape = checkedShape(context.ints(2), context.name());
    if (indices.rank() < 1) fail(Status::ComputeSizeError, "op '%s': the indices are a scalar", context.name());
    const int64_t depth = indices[indices.rank() - 1];
    if (depth > shape.rank())
        fail(Status::ComputeSizeError, "op '%s': a row has %lld indices, more than the rank %d of the result",
             context.name(), asLong(depth), shape.rank());
    const int64_t needed = checkedMul(indices.elements(0, indices.rank() - 1),
                                      shape.elements(static_cast<int>(depth), shape.rank()), context.name());
    if (context.in(1).elements() < needed)
        fail(Status::ComputeSizeError, "op '%s' has %lld update elements, %lld are needed", context.name(),
             asLong(context.in(1).elements()), asLong(needed));
    if (context.inputCount() > 3) {
        requireSameWidth(context, 1, 3);
        if (context.in(3).elements() != shape.elements())
            fail(Status::ComputeSizeError, "op '%s': the initial data has the shape %s, the result has %s",
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
    params->reduction = context.node.paramsAs<ScatterReductionParams>().reduction;
    const Strides strides = rowMajorStrides(shape);
    params->bounds.depth = depth;
    for (int j = 0; j < depth; ++j) {
        params->bounds.extent[j] = shape[j];
        params->stride[j] = strides[static_cast<size_t>(j)];
    }
    params->bounds.checkKnown(context, 0);
    ValueCommand command = context.command();
    command.params = std::move(params);
    command.inputs.erase(command.inputs.begin() + 2);
    context.geometry.emit(std::move(command));
}

int scatterAxis(const ShapeContext& context) {
    return normalizeAxis(context.inputCount() > 3 ? context.intAt(3) : 0, context.in(0).shape.rank(), context.name());
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
    auto params = std::make_shared<ScatterElementsParams>();
    params->axis = scatterAxis(context);
    IndexBounds::ofAxis(context.in(0).shape[params->axis]).checkKnown(context, 1);
    params->reduction = context.node.paramsAs<ScatterReductionParams>().reduction;
    ValueCommand command = context.command();
    command.params = std::move(params);
    command.inputs.resize(3);
    context.geometry.emit(std::move(command));
}

}  // namespace

constexpr OpDef kScatterOps[] = {
    {.type = OpType::ScatterNd,
     .parse = parseScatterReduction,
     .shape = shapeScatterNd,
     .geometry = geometryScatterNd,
     .valueInputs = [](const Node&) { return 1u << 2; }},  // the shape
    {.type = OpType::ScatterElements,
     .parse = parseScatterReduction,
     .shape = shapeScatterElements,
     .geometry = geometryScatterElements,
     .valueInputs = [](const Node& node) { return hasInput(node, 3) ? 1u << 3 : 0u; }},  // the axis
};
extern constinit const OpFamily scatterOps = kScatterOps;

}  // namespace mnnc
