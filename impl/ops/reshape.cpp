// Reshape, Flatten, Squeeze, Unsqueeze, ExpandDims: the data keeps its order, and only the extents change. There is one
// exception: a packed tensor that is reshaped by channel-last rules (Reshape.dimType NHWC) passes through channel-last
// order.
#include <algorithm>

#include "base/checked.h"
#include "mnn_generated.h"
#include "ops/families.h"
#include "ops/op_helpers.h"
#include "tensor/region_builder.h"

namespace mnnc {

namespace {

struct ReshapeParams : ParamsOf<ReshapeParams> {
    std::vector<int64_t> dims;
    bool channelLast = true;  // dimType NHWC, also when the table is no Reshape
};

struct AxesParams : ParamsOf<AxesParams> {
    std::vector<int64_t> axes;
    bool given = false;
};

struct FlattenParams : ParamsOf<FlattenParams> {
    int64_t axis = 0, endAxis = 0;
};

std::vector<int64_t> list(const flatbuffers::Vector<int32_t>* values) {
    return values ? std::vector<int64_t>(values->begin(), values->end()) : std::vector<int64_t>();
}

ParamsPtr parseReshape(const wire::Op& op, const ParseContext& context) {
    auto params = std::make_shared<ReshapeParams>();
    if (const wire::Reshape* table = op.main_as_Reshape()) {
        params->dims = list(table->dims());
        params->channelLast = table->dimType() == wire::MNN_DATA_FORMAT::NHWC;
    } else if (const wire::QuantizedReshape* old = op.main_as_QuantizedReshape()) {
        params->dims = list(old->dims());
    } else if (context.node.inputs.size() < 2) {
        fail(Status::BadParameter, "op '%s' (Reshape) has neither a table with dims nor a shape input",
             context.node.name.c_str());
    }
    return params;
}

bool throughChannelLast(const ShapeContext& context) {
    return context.node.type == OpType::Reshape && context.in(0).format == Format::NC4HW4 &&
           context.node.paramsAs<ReshapeParams>().channelLast;
}

void shapeReshape(const ShapeContext& context) {
    const Tensor& input = context.in(0);
    const bool dynamic = context.inputCount() > 1;
    std::vector<int64_t> target = dynamic ? context.ints(1) : context.node.paramsAs<ReshapeParams>().dims;
    if (target.size() > static_cast<size_t>(kMaxRank))
        fail(Status::ComputeSizeError, "op '%s': the new shape has %zu extents; the limit is %d", context.name(),
             target.size(), kMaxRank);
    if (dynamic && input.format == Format::NC4HW4 && context.node.paramsAs<ReshapeParams>().channelLast &&
        target.size() == 4)
        target = {target[0], target[3], target[1], target[2]};
    const std::vector<int64_t> asked = target;
    const bool literalZero = dynamic && context.in(1).format == Format::NHWC;
    int open = -1;
    int64_t known = 1;
    for (size_t i = 0; i < target.size(); ++i) {
        if (target[i] == -1) {
            if (open >= 0) target[static_cast<size_t>(open)] = 1;
            open = static_cast<int>(i);
            continue;
        }
        if (target[i] < -1)
            fail(Status::ComputeSizeError, "op '%s': extent %lld of the new shape is negative", context.name(),
                 asLong(target[i]));
        if (target[i] == 0 && !literalZero) {
            if (static_cast<int>(i) >= input.shape.rank())
                fail(Status::ComputeSizeError, "op '%s': extent %zu of the new shape is 0, but the input has rank %d",
                     context.name(), i, input.shape.rank());
            target[i] = input.shape[static_cast<int>(i)];
        }
        known = checkedMul(known, target[i], context.name());
    }
    const int64_t count = input.elements();
    // The file lacks ONNX's allowzero: zeros that cannot stand for the input's extents are extents.
    if (count == 0 && known != 0 && open < 0 && asked != target) target = asked;
    if (open >= 0) target[static_cast<size_t>(open)] = known == 0 ? 0 : count / known;
    const Shape shape = checkedShape(target, context.name());
    if (shape.elements() != count)
        fail(Status::ComputeSizeError, "op '%s': shape %s cannot become %s", context.name(), input.shape.text().c_str(),
             shape.text().c_str());
    context.set(0, shape);
}

// Moves rank-4 data between channel-first and channel-last order; `shape` is N, C, H, W.
std::vector<Region> transposeRegions(const Shape& shape, bool toLast, const char* name) {
    const int64_t area = shape[2] * shape[3], channel = shape[1];
    std::vector<BoxAxis> axes = {{shape[0], channel * area, channel * area}, {area, 1, channel}, {channel, area, 1}};
    if (!toLast)
        for (BoxAxis& axis : axes) std::swap(axis.src, axis.dst);
    RegionBuilder builder(name);
    builder.box(0, 0, 0, axes);
    return builder.take();
}

void geometryReshape(const OpContext& context) {
    Tensor* input = context.inputs[0];
    Tensor* output = context.outputs[0];
    if (!throughChannelLast(context) || input->shape == output->shape) {
        copyGeometry(context);
        return;
    }
    Tensor* source = input;
    const Shape& in = input->shape;
    if (in.rank() == 4) {
        source = context.geometry.temporary(Shape{in[0], in[2], in[3], in[1]}, input->type, Format::NHWC);
        context.geometry.raster(source, {input}, transposeRegions(in, true, context.name()), context.node.name);
    }
    if (output->shape.rank() == 4)
        context.geometry.raster(output, {source}, transposeRegions(output->shape, false, context.name()),
                                context.node.name);
    else
        context.geometry.copyLinear(output, source, context.node.name);
}

ParamsPtr parseFlatten(const wire::Op& op, const ParseContext& context) {
    const wire::Flatten* table = op.main_as_Flatten();
    if (!table) fail(Status::BadParameter, "op '%s' carries no Flatten table", context.node.name.c_str());
    auto params = std::make_shared<FlattenParams>();
    params->axis = table->axis();
    params->endAxis = table->endAxis();
    return params;
}

void shapeFlatten(const ShapeContext& context) {
    const auto* params = &context.node.paramsAs<FlattenParams>();
    const Shape& in = context.in(0).shape;
    const int64_t rank = in.rank();
    const int64_t axis = params->axis < 0 ? params->axis + rank : params->axis;
    if (axis < 0 || axis > rank)
        fail(Status::BadRange, "op '%s': axis %lld is outside a tensor of rank %lld", context.name(),
             asLong(params->axis), asLong(rank));
    const int first = static_cast<int>(axis);
    if (params->endAxis == 0) {
        context.set(0, Shape{in.elements(0, first), in.elements(first, in.rank())});
        return;
    }
    const int last = normalizeAxis(params->endAxis, in.rank(), context.name());
    if (last < first)
        fail(Status::BadRange, "op '%s': the last axis %d lies before the first axis %d", context.name(), last, first);
    Shape shape;
    for (int i = 0; i < first; ++i) shape.push(in[i]);
    shape.push(in.elements(first, last + 1));
    for (int i = last + 1; i < in.rank(); ++i) shape.push(in[i]);
    context.set(0, shape);
}

ParamsPtr parseAxes(const wire::Op& op, const ParseContext&) {
    auto params = std::make_shared<AxesParams>();
    if (const wire::SqueezeParam* table = op.main_as_SqueezeParam()) {
        params->given = table->squeezeDims() != nullptr && table->squeezeDims()->size() > 0;
        params->axes = list(table->squeezeDims());
    }
    return params;
}

std::vector<int64_t> statedAxes(const ShapeContext& context) {
    const auto* params = &context.node.paramsAs<AxesParams>();
    if (params->given || context.inputCount() < 2) return params->axes;
    return context.ints(1);
}

uint32_t contentAxes(const Node& node) {
    const auto* params = node.paramsIf<AxesParams>();
    return params && params->given ? 0u : contentOfInput1(node);
}

void shapeSqueeze(const ShapeContext& context) {
    const Shape& in = context.in(0).shape;
    const std::vector<int64_t> axes = statedAxes(context);
    bool drop[kMaxRank] = {};
    for (const int64_t axis : axes) {
        const int at = normalizeAxis(axis, in.rank(), context.name());
        if (in[at] != 1)
            fail(Status::ComputeSizeError, "op '%s': axis %d of %s cannot be squeezed", context.name(), at,
                 in.text().c_str());
        drop[at] = true;
    }
    Shape shape;
    for (int i = 0; i < in.rank(); ++i)
        if (axes.empty() ? in[i] != 1 : !drop[i]) shape.push(in[i]);
    context.set(0, shape);
}

void shapeUnsqueeze(const ShapeContext& context) {
    const Shape& in = context.in(0).shape;
    const std::vector<int64_t> axes = statedAxes(context);
    if (axes.size() > static_cast<size_t>(kMaxRank - in.rank()))
        fail(Status::ComputeSizeError, "op '%s': %zu axes cannot be added to a tensor of rank %d", context.name(),
             axes.size(), in.rank());
    const int rank = in.rank() + static_cast<int>(axes.size());
    bool added[kMaxRank] = {};
    for (const int64_t axis : axes) {
        const int at = normalizeAxis(axis, rank, context.name());
        if (added[at]) fail(Status::ComputeSizeError, "op '%s': axis %d is added twice", context.name(), at);
        added[at] = true;
    }
    Shape shape;
    for (int i = 0, from = 0; i < rank; ++i) shape.push(added[i] ? 1 : in[from++]);
    context.set(0, shape);
}

ParamsPtr parseExpandDims(const wire::Op& op, const ParseContext&) {
    const wire::ExpandDims* table = op.main_as_ExpandDims();
    return axisParams(table ? table->axis() : 0);
}

void shapeExpandDims(const ShapeContext& context) {
    Shape shape = context.in(0).shape;
    int64_t axis = context.inputCount() > 1 ? context.intAt(1) : context.node.paramsAs<AxisParams>().axis;
    if (axis < 0) axis += shape.rank() + 1;
    if (axis < 0)
        fail(Status::BadRange, "op '%s': axis %lld cannot be added to a tensor of rank %d", context.name(),
             asLong(axis - shape.rank() - 1), shape.rank());
    if (axis <= shape.rank())
        shape.insert(static_cast<int>(axis), 1);  // an axis beyond that is ignored, as by the official runtime
    context.set(0, shape);
}

}  // namespace

constexpr OpDef kReshapeOps[] = {
    {.type = OpType::Reshape,
     .parse = parseReshape,
     .shape = shapeReshape,
     .geometry = geometryReshape,
     .valueInputs = contentOfInput1,
     .shapeOnlyInputs = contentOfInput1},
    {.type = OpType::QuantizedReshape,
     .parse = parseReshape,
     .shape = shapeReshape,
     .geometry = geometryReshape,
     .valueInputs = contentOfInput1},
    {.type = OpType::Flatten, .parse = parseFlatten, .shape = shapeFlatten, .geometry = copyGeometry},
    {.type = OpType::Squeeze,
     .parse = parseAxes,
     .shape = shapeSqueeze,
     .geometry = copyGeometry,
     .valueInputs = contentAxes},
    {.type = OpType::Unsqueeze,
     .parse = parseAxes,
     .shape = shapeUnsqueeze,
     .geometry = copyGeometry,
     .valueInputs = contentAxes},
    {.type = OpType::ExpandDims,
     .parse = parseExpandDims,
     .shape = shapeExpandDims,
     .geometry = copyGeometry,
     .valueInputs = contentOfInput1},
};
extern constinit const OpFamily reshapeOps = kReshapeOps;

}  // namespace mnnc
