// Tile, BroadcastTo, Fill and EyeLike become regions with strides of 0, ZerosLike and ZeroGrad a Raster without
// regions, OneHot a command.
#include "ops/fill.h"

#include "base/checked.h"
#include "mnn_generated.h"
#include "model/model.h"
#include "ops/cast.h"
#include "ops/families.h"
#include "ops/op_helpers.h"
#include "tensor/region_builder.h"

namespace mnnc {

namespace {

void emitRaster(const OpContext& context, Tensor* input, RegionBuilder& builder) {
    context.geometry.raster(context.outputs[0], {input}, builder.take(), context.node.name);
}

void shapeTile(const ShapeContext& context) {
    Shape shape = context.in(0).shape;
    const std::vector<int64_t> multiples = context.ints(1);
    if (multiples.size() != static_cast<size_t>(shape.rank()))
        fail(Status::ComputeSizeError, "op '%s' has %zu multiples for a tensor of rank %d, one for each axis is needed",
             context.name(), multiples.size(), shape.rank());
    for (int i = 0; i < shape.rank(); ++i) {
        if (multiples[static_cast<size_t>(i)] < 0)
            fail(Status::ComputeSizeError, "op '%s': axis %d is to be repeated %lld times", context.name(), i,
                 asLong(multiples[static_cast<size_t>(i)]));
        shape[i] = checkedMul(shape[i], multiples[static_cast<size_t>(i)], context.name());
    }
    shape.elements();
    context.set(0, shape);
}

void geometryTile(const OpContext& context) {
    const Shape& in = context.in(0).shape;
    const Strides src = rowMajorStrides(in), dst = rowMajorStrides(context.out(0).shape);
    std::vector<BoxAxis> axes;
    for (size_t i = 0; i < static_cast<size_t>(in.rank()); ++i) {
        const int64_t extent = in[static_cast<int>(i)];
        axes.push_back({context.out(0).shape[static_cast<int>(i)] / extent, 0, extent * dst[i]});
        axes.push_back({extent, src[i], dst[i]});
    }
    RegionBuilder builder(context.name());
    builder.box(0, 0, 0, axes);
    emitRaster(context, context.inputs[0], builder);
}

ParamsPtr parseBroadcastAxis(const wire::Op& op, const ParseContext&) {
    const wire::Axis* table = op.main_as_Axis();
    return axisParams(table ? table->axis() : 0);
}

bool forwardBroadcast(const ShapeContext& context) {
    return context.node.paramsAs<AxisParams>().axis != 0;
}

void shapeBroadcastTo(const ShapeContext& context) {
    const Shape& in = context.in(0).shape;
    const Shape wanted = checkedShape(context.ints(1), context.name());
    if (!forwardBroadcast(context)) {
        const Shape shape = broadcastShapes(in, wanted, context.name());
        shape.elements();
        context.set(0, shape);
        return;
    }
    if (in.elements() != wanted.elements() && (in.rank() != 1 || wanted.rank() < 1 || in[0] != wanted[0]))
        fail(Status::ComputeSizeError, "op '%s': %s cannot be broadcast forward to %s", context.name(),
             in.text().c_str(), wanted.text().c_str());
    context.set(0, wanted);
}

void geometryBroadcastTo(const OpContext& context) {
    const Shape &in = context.in(0).shape, &out = context.out(0).shape;
    if (in.elements() == out.elements()) {
        copyGeometry(context);
        return;
    }
    RegionBuilder builder(context.name());
    if (forwardBroadcast(context)) {
        const int64_t inner = out.elements(1, out.rank());
        const BoxAxis axes[] = {{out[0], 1, inner}, {inner, 0, 1}};
        builder.box(0, 0, 0, axes);
    } else {
        const Strides src = rowMajorStrides(in), dst = rowMajorStrides(out);
        const int missing = out.rank() - in.rank();
        std::vector<BoxAxis> axes;
        for (int i = 0; i < out.rank(); ++i) {
            const bool repeated = i < missing || in[i - missing] == 1;
            axes.push_back({out[i], repeated ? 0 : src[static_cast<size_t>(i - missing)], dst[static_cast<size_t>(i)]});
        }
        builder.box(0, 0, 0, axes);
    }
    emitRaster(context, context.inputs[0], builder);
}

void shapeFill(const ShapeContext& context) {
    if (context.in(1).empty()) fail(Status::ComputeSizeError, "op '%s': the fill value is empty", context.name());
    context.set(0, checkedShape(context.ints(0), context.name()), context.in(1).type, context.in(1).format);
}

void geometryFill(const OpContext& context) {
    RegionBuilder builder(context.name());
    const BoxAxis axis{context.out(0).elements(), 0, 1};
    builder.box(0, 0, 0, {&axis, 1});
    emitRaster(context, context.inputs[1], builder);
}

void geometryZeros(const OpContext& context) {
    context.geometry.raster(context.outputs[0], {}, {}, context.node.name);
}

void shapeEyeLike(const ShapeContext& context) {
    const Tensor& input = context.in(0);
    if (input.shape.rank() < 2)
        fail(Status::ComputeSizeError, "op '%s' needs a matrix, its input is %s", context.name(),
             input.shape.text().c_str());
    if (input.type != DataType::Float32 && input.type != DataType::Int32)
        fail(Status::NotSupported, "op '%s': EyeLike of %s is not supported", context.name(), dataTypeName(input.type));
    context.set(0, input.shape);
}

void geometryEyeLike(const OpContext& context) {
    const Shape& shape = context.out(0).shape;
    const int rank = shape.rank();
    const int64_t rows = shape[rank - 2], columns = shape[rank - 1];
    const int64_t k = context.inputCount() > 1 ? context.intAt(1) : 0;
    const int64_t row = k < 0 ? -k : 0, column = k < 0 ? 0 : k;
    const int64_t length = std::min(rows - row, columns - column);
    if (length <= 0) {
        geometryZeros(context);
        return;
    }
    const float oneFloat = 1;
    const int32_t oneInt = 1;
    Tensor* one = context.geometry.temporary(Shape{}, context.out(0).type, Format::NCHW);
    if (context.out(0).type == DataType::Float32)
        context.geometry.constant(one, &oneFloat);
    else
        context.geometry.constant(one, &oneInt);
    RegionBuilder builder(context.name());
    // Beyond rank 3 only the first matrix gets its diagonal, as in the official runtime.
    const BoxAxis axes[] = {{rank == 3 ? shape[0] : 1, 0, rows * columns}, {length, 0, columns + 1}};
    builder.box(0, 0, row * columns + column, axes);
    emitRaster(context, one, builder);
}

struct OneHotAxis : ParamsOf<OneHotAxis> {
    int64_t axis = -1;
    bool fromEnd = false;
};

ParamsPtr parseOneHot(const wire::Op& op, const ParseContext& context) {
    auto params = std::make_shared<OneHotAxis>();
    if (const wire::OneHotParam* table = op.main_as_OneHotParam()) params->axis = table->axis();
    // https://onnx.ai/onnx/operators/onnx__OneHot.html; in TensorFlow such an index selects no position.
    params->fromEnd = context.model.sourceType() == ModelSource::Onnx;
    return params;
}

int64_t oneHotDepth(const ShapeContext& context) {
    if (context.in(1).type != DataType::Float32) return context.intAt(1);
    const std::span<const float> depth = context.floats(1);
    if (depth.empty() || !(depth[0] >= 0 && depth[0] < 2147483648.0f))
        fail(Status::ComputeSizeError, "op '%s': the depth is %g; 0 to 2^31 - 1 are possible", context.name(),
             depth.empty() ? 0.0 : static_cast<double>(depth[0]));
    return static_cast<int64_t>(depth[0]);
}

void shapeOneHot(const ShapeContext& context) {
    const DataType type = context.in(2).type;
    if (type != context.in(3).type)
        fail(Status::BadType, "op '%s': on and off values are %s and %s, equal types are needed", context.name(),
             dataTypeName(type), dataTypeName(context.in(3).type));
    if (context.in(2).empty() || context.in(3).empty())
        fail(Status::ComputeSizeError, "op '%s': the on or off value is empty", context.name());
    Shape shape = context.in(0).shape;
    const int axis = normalizeAxis(context.node.paramsAs<OneHotAxis>().axis, shape.rank() + 1, context.name());
    const int64_t depth = oneHotDepth(context);
    if (depth < 0) fail(Status::ComputeSizeError, "op '%s': the depth %lld is negative", context.name(), asLong(depth));
    shape.insert(axis, depth);
    shape.elements();
    context.set(0, shape, type, context.in(0).format);
}

void geometryOneHot(const OpContext& context) {
    const Shape& shape = context.out(0).shape;
    const auto& own = context.node.paramsAs<OneHotAxis>();
    const AxisSplit split(shape, normalizeAxis(own.axis, shape.rank(), context.name()));
    auto params = std::make_shared<OneHotParams>();
    params->outer = split.outer;
    params->depth = split.axis;
    params->inner = split.inner;
    params->fromEnd = own.fromEnd;
    ValueCommand command = context.command();
    command.params = std::move(params);
    command.inputs.erase(command.inputs.begin() + 1);
    if (Tensor* indices = command.inputs[0]; indices->type != DataType::Int32) {
        command.inputs[0] = context.geometry.temporary(indices->shape, DataType::Int32, indices->format);
        emitCast(context, indices, command.inputs[0]);
    }
    context.geometry.emit(std::move(command));
}

}  // namespace

constexpr OpDef kFillOps[] = {
    {.type = OpType::Tile, .shape = shapeTile, .geometry = geometryTile, .valueInputs = contentOfInput1},
    {.type = OpType::BroadcastTo,
     .parse = parseBroadcastAxis,
     .shape = shapeBroadcastTo,
     .geometry = geometryBroadcastTo,
     .valueInputs = contentOfInput1},
    {.type = OpType::Fill, .shape = shapeFill, .geometry = geometryFill, .valueInputs = contentOfInput0},
    {.type = OpType::ZerosLike, .geometry = geometryZeros, .shapeOnlyInputs = contentOfInput0},
    {.type = OpType::ZeroGrad, .geometry = geometryZeros, .shapeOnlyInputs = contentOfInput0},
    {.type = OpType::EyeLike,
     .shape = shapeEyeLike,
     .geometry = geometryEyeLike,
     .valueInputs = contentOfInput1,
     .shapeOnlyInputs = contentOfInput0},
    {.type = OpType::OneHot,
     .parse = parseOneHot,
     .shape = shapeOneHot,
     .geometry = geometryOneHot,
     .valueInputs = contentOfInput1},
};
extern constinit const OpFamily fillOps = kFillOps;

}  // namespace mnnc
