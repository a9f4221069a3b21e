// Gather, GatherV2, GatherND, GatherElements. Geometry resolves axes and strides, so that the commands are plain index
// loops; one or two indices that are known while planning become regions. Negative indices count from the end, indices
// outside are refused: while planning when they are known, by the command otherwise.
#include "ops/gather.h"

#include "mnn_generated.h"
#include "ops/families.h"
#include "ops/op_helpers.h"
#include "tensor/region_builder.h"

namespace mnnc {

namespace {

ParamsPtr parseGatheredAxis(const wire::Op& op, const ParseContext&) {
    if (const wire::Axis* table = op.main_as_Axis()) return axisParams(table->axis());
    return std::make_shared<AxisParams>();
}

int gatherAxis(const ShapeContext& context) {
    const auto* params = &context.node.paramsAs<AxisParams>();
    const int rank = context.in(0).shape.rank();
    int64_t axis = 0;
    if (params->given)
        axis = params->axis;
    else if (context.inputCount() > 2)
        axis = context.intAt(2);
    if (axis < -rank || axis >= rank)
        fail(Status::BadRange, "op '%s': axis %lld is outside a tensor of rank %d", context.name(), asLong(axis), rank);
    return static_cast<int>(axis < 0 ? axis + rank : axis);
}

void shapeGather(const ShapeContext& context) {
    requireInt32(context, 1);
    const Shape &data = context.in(0).shape, &indices = context.in(1).shape;
    const int axis = gatherAxis(context);
    Shape shape;
    for (int i = 0; i < axis; ++i) shape.push(data[i]);
    for (const int64_t extent : indices) shape.push(extent);
    for (int i = axis + 1; i < data.rank(); ++i) shape.push(data[i]);
    shape.elements();
    context.set(0, shape);
}

void geometryGather(const OpContext& context) {
    const AxisSplit split(context.in(0).shape, gatherAxis(context));
    const Tensor& indices = context.in(1);
    const int64_t count = indices.elements();
    const bool checked = IndexBounds::ofAxis(split.axis).checkKnown(context, 1);
    if (checked && count <= 2) {
        RegionBuilder builder(context.name());
        for (int64_t i = 0; i < count; ++i) {
            const int64_t index = placeOnAxis(context.node.name, indices.known<int32_t>()[i], i, split.axis);
            const BoxAxis axes[] = {{split.outer, split.axis * split.inner, count * split.inner}, {split.inner, 1, 1}};
            builder.box(0, index * split.inner, i * split.inner, axes);
        }
        context.geometry.raster(context.outputs[0], {context.inputs[0]}, builder.take(), context.node.name);
        return;
    }
    auto params = std::make_shared<GatherParams>();
    params->outer = split.outer;
    params->extent = split.axis;
    params->inner = split.inner;
    params->count = count;
    params->indicesChecked = checked;
    ValueCommand command = context.command();
    command.type = OpType::GatherV2;
    command.params = std::move(params);
    command.inputs.resize(2);
    context.geometry.emit(std::move(command));
}

int64_t batchAxes(const ShapeContext& context) {
    return context.node.paramsAs<AxisParams>().axis;
}

void shapeGatherNd(const ShapeContext& context) {
    requireInt32(context, 1);
    const Shape &data = context.in(0).shape, &indices = context.in(1).shape;
    const int64_t batch = batchAxes(context);
    if (data.rank() < 1 || indices.rank() < 1)
        fail(Status::ComputeSizeError, "op '%s': data %s and indices %s must have axes", context.name(),
             data.text().c_str(), indices.text().c_str());
    const int64_t depth = indices[indices.rank() - 1];
    if (batch < 0 || batch > data.rank() || depth > data.rank() - batch)
        fail(Status::ComputeSizeError,
             "op '%s': %lld indices per row behind %lld batch axes do not fit a tensor of rank %d", context.name(),
             asLong(depth), asLong(batch), data.rank());
    for (int i = 0; i < batch; ++i)
        if (i + 1 >= indices.rank() || indices[i] != data[i])
            fail(Status::ComputeSizeError, "op '%s': data %s and indices %s differ in their %lld batch axes",
                 context.name(), data.text().c_str(), indices.text().c_str(), asLong(batch));
    Shape shape;
    for (int i = 0; i + 1 < indices.rank(); ++i) shape.push(indices[i]);
    for (int i = static_cast<int>(batch + depth); i < data.rank(); ++i) shape.push(data[i]);
    shape.elements();
    context.set(0, shape);
}

void geometryGatherNd(const OpContext& context) {
    const Shape &data = context.in(0).shape, &indices = context.in(1).shape;
    const int batch = static_cast<int>(batchAxes(context));
    auto params = std::make_shared<GatherNdParams>();
    const int depth = static_cast<int>(indices[indices.rank() - 1]);
    params->rows = indices.elements(0, indices.rank() - 1);
    params->slice = data.elements(batch + depth, data.rank());
    params->bounds.depth = depth;
    const Strides strides = rowMajorStrides(data);
    for (int j = 0; j < depth; ++j) {
        const int axis = batch + j;
        params->bounds.extent[j] = data[axis];
        params->stride[j] = strides[static_cast<size_t>(axis)];
    }
    if (batch > 0) {
        params->bounds.rowsPerBatch = indices.elements(batch, indices.rank() - 1);
        params->bounds.batchStep = data.elements(batch, batch + depth);
    }
    params->indicesChecked = params->bounds.checkKnown(context, 1);
    ValueCommand command = context.command();
    command.params = std::move(params);
    context.geometry.emit(std::move(command));
}

int elementsAxis(const ShapeContext& context) {
    return normalizeAxis(context.inputCount() > 2 ? context.intAt(2) : 0, context.in(0).shape.rank(), context.name());
}

void shapeGatherElements(const ShapeContext& context) {
    requireInt32(context, 1);
    const int axis = elementsAxis(context);
    if (context.in(0).shape.rank() != context.in(1).shape.rank())
        fail(Status::ComputeSizeError, "op '%s': data %s and indices %s must have equal ranks", context.name(),
             context.in(0).shape.text().c_str(), context.in(1).shape.text().c_str());
    requireOwnPositions(context, context.in(0).shape, context.in(1).shape, axis);
    context.set(0, context.in(1).shape);
}

void geometryGatherElements(const OpContext& context) {
    auto params = std::make_shared<ElementsParams>();
    params->axis = elementsAxis(context);
    params->indicesChecked = IndexBounds::ofAxis(context.in(0).shape[params->axis]).checkKnown(context, 1);
    ValueCommand command = context.command();
    command.params = std::move(params);
    command.inputs.resize(2);
    context.geometry.emit(std::move(command));
}

}  // namespace

constexpr OpDef kGatherOps[] = {
    {.type = OpType::Gather, .parse = parseGatheredAxis, .shape = shapeGather, .geometry = geometryGather},
    {.type = OpType::GatherV2,
     .parse = parseGatheredAxis,
     .shape = shapeGather,
     .geometry = geometryGather,
     .valueInputs = contentOfInput2},
    {.type = OpType::GatherND, .parse = parseGatheredAxis, .shape = shapeGatherNd, .geometry = geometryGatherNd},
    {.type = OpType::GatherElements,
     .shape = shapeGatherElements,
     .geometry = geometryGatherElements,
     .valueInputs = contentOfInput2},
};
extern constinit const OpFamily gatherOps = kGatherOps;

}  // namespace mnnc
