// SliceTf, StridedSlice (read and write form) and Crop: boxes of the input. The index arithmetic of StridedSlice is in
// strided_slice.cpp.
#include <array>

#include "mnn_generated.h"
#include "ops/families.h"
#include "ops/op_helpers.h"
#include "ops/strided_slice.h"

namespace mnnc {

namespace {

struct CropOffsets : ParamsOf<CropOffsets> {
    int64_t axis = 2;
    std::vector<int64_t> offset;
};

// Copies the box that starts at `begin` and has the extents of the output (equal ranks).
void emitBox(const OpContext& context, std::span<const int64_t> begin) {
    const Strides src = rowMajorStrides(context.in(0).shape);
    const Strides dst = rowMajorStrides(context.out(0).shape);
    int64_t offset = 0;
    std::vector<BoxAxis> axes;
    for (size_t i = 0; i < begin.size(); ++i) {
        offset += begin[i] * src[i];
        axes.push_back({context.out(0).shape[static_cast<int>(i)], src[i], dst[i]});
    }
    RegionBuilder builder(context.name());
    builder.box(0, offset, 0, axes);
    context.geometry.raster(context.outputs[0], {context.inputs[0]}, builder.take(), context.node.name);
}

// Returns the values of input 1 or 2, one per axis. Does not allocate, because it is also called in runs.
std::array<int64_t, kMaxRank> perAxis(const ShapeContext& context, int input, const char* what) {
    const int rank = context.in(0).shape.rank();
    if (context.in(input).elements() != rank)
        fail(Status::ComputeSizeError, "op '%s' has %lld %s for a tensor of rank %d, one for each axis is needed",
             context.name(), asLong(context.in(input).elements()), what, rank);
    std::array<int64_t, kMaxRank> values = {};
    for (int i = 0; i < rank; ++i) values[static_cast<size_t>(i)] = context.intAt(input, i);
    return values;
}

std::array<int64_t, kMaxRank> sliceBegins(const ShapeContext& context) {
    const Shape& in = context.in(0).shape;
    std::array<int64_t, kMaxRank> begins = perAxis(context, 1, "begins");
    for (int i = 0; i < in.rank(); ++i) {
        int64_t& begin = begins[static_cast<size_t>(i)];
        if (begin < 0) begin += in[i];
        if (begin < 0 || begin > in[i])
            fail(Status::InputDataError, "op '%s': begin %lld is outside axis %d of %s", context.name(), asLong(begin),
                 i, in.text().c_str());
    }
    return begins;
}

void shapeSliceTf(const ShapeContext& context) {
    Shape shape = context.in(0).shape;
    const auto begins = sliceBegins(context), sizes = perAxis(context, 2, "sizes");
    for (int i = 0; i < shape.rank(); ++i) {
        const int64_t left = shape[i] - begins[static_cast<size_t>(i)];
        const int64_t size = sizes[static_cast<size_t>(i)] == -1 ? left : sizes[static_cast<size_t>(i)];
        if (size < 0 || size > left)
            fail(Status::InputDataError, "op '%s': a size is %lld, 0 to %lld are possible on axis %d", context.name(),
                 asLong(size), asLong(left), i);
        shape[i] = size;
    }
    context.set(0, shape);
}

void geometrySliceTf(const OpContext& context) {
    const auto begins = sliceBegins(context);
    emitBox(context, {begins.data(), static_cast<size_t>(context.in(0).shape.rank())});
}

ParamsPtr parseStridedSlice(const wire::Op& op, const ParseContext& context) {
    const wire::StridedSliceParam* table = op.main_as_StridedSliceParam();
    if (!table) fail(Status::BadParameter, "op '%s' carries no StridedSliceParam table", context.node.name.c_str());
    auto params = std::make_shared<StridedSliceParams>();
    params->beginMask = static_cast<uint32_t>(table->beginMask());
    params->endMask = static_cast<uint32_t>(table->endMask());
    params->ellipsisMask = static_cast<uint32_t>(table->ellipsisMask());
    params->newAxisMask = static_cast<uint32_t>(table->newAxisMask());
    params->shrinkAxisMask = static_cast<uint32_t>(table->shrinkAxisMask());
    params->onnx = table->fromType() == 1;
    return params;
}

bool writes(const Node& node) {
    return node.paramsAs<StridedSliceParams>().writes(node.inputs.size());
}

uint32_t contentStridedSlice(const Node& node) {
    uint32_t bits = 0;
    const size_t last = writes(node) ? 4 : node.inputs.size();
    for (size_t i = 1; i < last; ++i) bits |= 1u << i;
    return bits;
}

void shapeStridedSlice(const ShapeContext& context) {
    const StridedSlicePlan plan = planStridedSlice(context);
    if (!writes(context.node)) {
        context.set(0, plan.shape);
        return;
    }
    requireSameWidth(context, 0, 4);
    Shape box;
    for (const StridedSlicePlan::Axis& axis : plan.axes()) box.push(axis.size);
    if (!(broadcastShapes(box, context.in(4).shape, context.name()) == box))
        fail(Status::ComputeSizeError, "op '%s': a value of shape %s does not fit the selected box %s", context.name(),
             context.in(4).shape.text().c_str(), box.text().c_str());
    context.set(0, context.in(0).shape);
}

void geometryRead(const OpContext& context, const StridedSlicePlan& plan) {
    const Strides src = rowMajorStrides(context.in(0).shape);
    int64_t offset = 0, stride = 1;
    std::vector<BoxAxis> axes(plan.axes().size());
    for (size_t i = axes.size(); i-- > 0;) {
        const StridedSlicePlan::Axis& axis = plan.axis[i];
        if (axis.size > 0) offset += axis.begin * src[i];
        axes[i] = {axis.size, src[i] * axis.step, stride};
        stride *= axis.size;
    }
    RegionBuilder builder(context.name());
    builder.box(0, offset, 0, axes);
    context.geometry.raster(context.outputs[0], {context.inputs[0]}, builder.take(), context.node.name);
}

// Copies all of the data, then writes the value over the selected box: later regions win.
void geometryWrite(const OpContext& context, const StridedSlicePlan& plan) {
    const Strides dst = rowMajorStrides(context.in(0).shape);
    const Shape& value = context.in(4).shape;
    const Strides src = rowMajorStrides(value);
    const int missing = plan.rank - value.rank();
    int64_t offset = 0;
    std::vector<BoxAxis> axes;
    for (size_t i = 0; i < plan.axes().size(); ++i) {
        const StridedSlicePlan::Axis& axis = plan.axis[i];
        const int at = static_cast<int>(i) - missing;
        if (axis.size > 0) offset += axis.begin * dst[i];
        axes.push_back({axis.size, at < 0 || value[at] == 1 ? 0 : src[static_cast<size_t>(at)], dst[i] * axis.step});
    }
    RegionBuilder builder(context.name());
    const BoxAxis whole{context.in(0).elements(), 1, 1};
    builder.box(0, 0, 0, {&whole, 1});
    builder.box(1, 0, offset, axes);
    context.geometry.raster(context.outputs[0], {context.inputs[0], context.inputs[4]}, builder.take(),
                            context.node.name);
}

void geometryStridedSlice(const OpContext& context) {
    const StridedSlicePlan plan = planStridedSlice(context);
    if (writes(context.node))
        geometryWrite(context, plan);
    else
        geometryRead(context, plan);
}

ParamsPtr parseCrop(const wire::Op& op, const ParseContext& context) {
    const wire::Crop* table = op.main_as_Crop();
    if (!table) fail(Status::BadParameter, "op '%s' carries no Crop table", context.node.name.c_str());
    auto params = std::make_shared<CropOffsets>();
    params->axis = table->axis();
    if (table->offset()) params->offset.assign(table->offset()->begin(), table->offset()->end());
    if (params->axis < 0 || params->axis > 3)
        fail(Status::BadParameter, "op '%s' crops from axis %lld, 0 to 3 are possible", context.node.name.c_str(),
             asLong(params->axis));
    return params;
}

std::vector<int64_t> cropBegins(const ShapeContext& context) {
    const auto* params = &context.node.paramsAs<CropOffsets>();
    std::vector<int64_t> begins(4, 0);
    for (size_t i = static_cast<size_t>(params->axis); i < 4; ++i) {
        const size_t k = params->offset.size() == 1 ? 0 : i - static_cast<size_t>(params->axis);
        if (params->offset.empty()) continue;
        if (k >= params->offset.size())
            fail(Status::BadParameter, "op '%s' has %zu offsets, too few for a crop from axis %lld", context.name(),
                 params->offset.size(), asLong(params->axis));
        begins[i] = params->offset[k];
    }
    return begins;
}

void shapeCrop(const ShapeContext& context) {
    Shape shape = context.in(0).shape;
    const Shape& like = context.in(1).shape;
    if (shape.rank() != 4 || like.rank() != 4)
        fail(Status::ComputeSizeError, "op '%s' crops %s like %s; both must have rank 4", context.name(),
             shape.text().c_str(), like.text().c_str());
    const std::vector<int64_t> begins = cropBegins(context);
    for (int i = static_cast<int>(context.node.paramsAs<CropOffsets>().axis); i < 4; ++i) {
        const int64_t begin = begins[static_cast<size_t>(i)];
        if (begin < 0 || begin >= shape[i] || like[i] > shape[i] - begin)
            fail(Status::ComputeSizeError, "op '%s': %lld elements from %lld on do not lie in axis %d of %s",
                 context.name(), asLong(like[i]), asLong(begin), i, context.in(0).shape.text().c_str());
        shape[i] = like[i];
    }
    context.set(0, shape);
}

void geometryCrop(const OpContext& context) {
    emitBox(context, cropBegins(context));
}

}  // namespace

constexpr OpDef kSliceOps[] = {
    {.type = OpType::SliceTf,
     .shape = shapeSliceTf,
     .geometry = geometrySliceTf,
     .valueInputs = [](const Node&) { return 6u; },
     .dynamicOffsetInputs = [](const Node&) { return 2u; }},
    {.type = OpType::StridedSlice,
     .parse = parseStridedSlice,
     .shape = shapeStridedSlice,
     .geometry = geometryStridedSlice,
     .valueInputs = contentStridedSlice,
     .dynamicOffsetInputs = [](const Node& node) { return writes(node) ? 0u : 6u; }},
    {.type = OpType::Crop,
     .parse = parseCrop,
     .shape = shapeCrop,
     .geometry = geometryCrop,
     .shapeOnlyInputs = [](const Node&) { return 2u; }},
};
extern constinit const OpFamily sliceOps = kSliceOps;

}  // namespace mnnc
