// Concat, Pack, Slice, Unpack: one region per part, [outer][part][inner].
#include <algorithm>

#include "base/checked.h"
#include "mnn_generated.h"
#include "ops/families.h"
#include "ops/op_helpers.h"
#include "tensor/region_builder.h"

namespace mnnc {

namespace {

using wire::NetSource;

struct SliceParams : ParamsOf<SliceParams> {
    int64_t axis = 0;
    std::vector<int64_t> points;
    NetSource source = NetSource::CAFFE;
};

ParamsPtr parseJoinedAxis(const wire::Op& op, const ParseContext&) {
    if (const wire::Axis* table = op.main_as_Axis()) return axisParams(table->axis());
    if (const wire::QuantizedConcat* old = op.main_as_QuantizedConcat()) return axisParams(old->axis());
    if (const wire::PackParam* pack = op.main_as_PackParam()) return axisParams(pack->axis());
    return axisParams(0);
}

int axisOf(const ShapeContext& context, int rank) {
    return normalizeAxis(context.node.paramsAs<AxisParams>().axis, rank, context.name());
}

// The output has the type of the last input; the bits of the others are copied unchanged, so only widths must agree.
void setJoined(const ShapeContext& context, const Shape& shape) {
    const int last = context.inputCount() - 1;
    for (int i = 0; i < last; ++i) requireSameWidth(context, i, last);
    shape.elements();
    context.set(0, shape, context.in(last).type, context.in(0).format);
}

// Returns the input that states the extents beside the axis: the first one that has elements along the axis, or the
// first one.
int referenceInput(const ShapeContext& context) {
    const int rank = context.in(0).shape.rank(), axis = axisOf(context, rank);
    for (int i = 0; i < context.inputCount(); ++i) {
        const Shape& shape = context.in(i).shape;
        if (shape.rank() == rank && shape[axis] != 0) return i;
    }
    return 0;
}

void shapeConcat(const ShapeContext& context) {
    const int reference = referenceInput(context);
    Shape shape = context.in(reference).shape;
    const int axis = axisOf(context, shape.rank());
    shape[axis] = 0;
    for (int i = 0; i < context.inputCount(); ++i) {
        const Shape& other = context.in(i).shape;
        // An input of lower rank gets extents of 1 at its end: converted losses join 1 to 1x1.
        bool fits = other.rank() <= shape.rank();
        for (int k = 0; fits && k < shape.rank(); ++k) fits = k == axis || other.at(k) == shape[k];
        // An input without elements along the axis fits any others, as in ONNX Runtime: models rely on it.
        if (!fits && other.rank() == shape.rank() && other[axis] == 0) continue;
        if (!fits)
            fail(Status::ComputeSizeError, "op '%s': input %d of shape %s cannot be joined to %s along axis %d",
                 context.name(), i, other.text().c_str(), context.in(reference).shape.text().c_str(), axis);
        shape[axis] = checkedAdd(shape[axis], other.at(axis), context.name());
    }
    setJoined(context, shape);
}

void shapePack(const ShapeContext& context) {
    Shape shape = context.in(0).shape;
    const int axis = axisOf(context, shape.rank() + 1);
    for (int i = 1; i < context.inputCount(); ++i)
        if (context.in(i).elements() != context.in(0).elements())
            fail(Status::ComputeSizeError, "op '%s': input %d of shape %s cannot be stacked on %s", context.name(), i,
                 context.in(i).shape.text().c_str(), shape.text().c_str());
    shape.insert(axis, context.inputCount());
    setJoined(context, shape);
}

void geometryJoin(const OpContext& context) {
    const bool pack = context.node.type == OpType::Pack;
    const Shape& shape = context.out(0).shape;
    const int axis = axisOf(context, shape.rank());
    const AxisSplit split(shape, axis);
    RegionBuilder builder(context.name());
    std::vector<Tensor*> used;
    int64_t start = 0;
    for (Tensor* input : context.inputs) {
        const int64_t length = pack ? 1 : input->shape.at(axis);
        if (!input->empty()) {
            const BoxAxis axes[] = {{split.outer, length * split.inner, split.axis * split.inner},
                                    {length * split.inner, 1, 1}};
            builder.box(static_cast<int>(used.size()), 0, start * split.inner, axes);
            used.push_back(input);
        }
        start += length;
    }
    context.geometry.raster(context.outputs[0], std::move(used), builder.take(), context.node.name);
}

ParamsPtr parseSlice(const wire::Op& op, const ParseContext& context) {
    const wire::Slice* table = op.main_as_Slice();
    if (!table) fail(Status::BadParameter, "op '%s' carries no Slice table", context.node.name.c_str());
    auto params = std::make_shared<SliceParams>();
    params->axis = table->axis();
    params->source = table->sourceType();
    if (table->slicePoints()) params->points.assign(table->slicePoints()->begin(), table->slicePoints()->end());
    return params;
}

std::vector<int64_t> cutLengths(const ShapeContext& context, const std::vector<int64_t>& points, int64_t extent,
                                size_t outputs) {
    if (points.size() + 1 < outputs)
        fail(Status::ComputeSizeError, "op '%s' has %zu cut positions, too few for %zu outputs", context.name(),
             points.size(), outputs);
    std::vector<int64_t> lengths;
    int64_t last = 0;
    for (size_t i = 0; i < outputs; ++i) {
        const int64_t next = i + 1 < outputs ? points[i] : extent;
        lengths.push_back(next - last);
        last = next;
    }
    return lengths;
}

std::vector<int64_t> sizedLengths(const ShapeContext& context, std::vector<int64_t> sizes, int64_t extent,
                                  size_t outputs) {
    if (sizes.size() < outputs)
        fail(Status::ComputeSizeError, "op '%s' has %zu sizes, too few for %zu outputs", context.name(), sizes.size(),
             outputs);
    int64_t sum = 0;
    int64_t* open = nullptr;
    for (int64_t& size : sizes) {
        if (size >= 0) {
            sum = checkedAdd(sum, size, context.name());
        } else if (size != -1 || open) {
            fail(Status::ComputeSizeError, "op '%s': a size is %lld%s", context.name(), asLong(size),
                 open ? ", and another size is open" : ", at least -1 is needed");
        } else {
            open = &size;
        }
    }
    if (open) *open = extent - sum;
    sizes.resize(outputs);
    return sizes;
}

std::vector<int64_t> sliceLengths(const ShapeContext& context, int64_t extent) {
    const auto* params = &context.node.paramsAs<SliceParams>();
    const size_t outputs = context.outputs.size();
    const auto n = static_cast<int64_t>(outputs);
    const std::vector<int64_t>& points = params->points;
    const bool dynamic = context.inputCount() > 1;
    if (params->source == NetSource::CAFFE && (!points.empty() || outputs == 1) && !dynamic)
        return cutLengths(context, points, extent, outputs);
    if (dynamic) return sizedLengths(context, context.ints(1), extent, outputs);
    if (points.size() >= 2) return sizedLengths(context, points, extent, outputs);
    if (points.empty() || params->source == NetSource::TORCH) {
        // Parts of equal length, and the rest as the last one, as torch.split and ONNX's num_outputs define them:
        // https://onnx.ai/onnx/operators/onnx__Split.html
        const int64_t length = points.empty() ? ceilDiv(extent, n) : points[0];
        if (points.empty() && checkedMul(length, n - 1, context.name()) > extent)
            fail(Status::ComputeSizeError, "op '%s': %lld elements cannot be split into %zu parts", context.name(),
                 asLong(extent), outputs);
        std::vector<int64_t> lengths;
        for (int64_t left = extent; lengths.size() < outputs; left -= lengths.back())
            lengths.push_back(std::min(length, left));
        return lengths;
    }
    int64_t length = extent / n;
    if (!points.empty() && params->source == NetSource::TENSORFLOW) {
        if (points[0] <= 0)
            fail(Status::BadParameter, "op '%s' splits into %lld parts, at least 1 is needed", context.name(),
                 asLong(points[0]));
        length = extent / points[0];
    }
    return std::vector<int64_t>(outputs, length);
}

void shapeSlice(const ShapeContext& context) {
    Shape shape = context.in(0).shape;
    const int axis = normalizeAxis(context.node.paramsAs<SliceParams>().axis, shape.rank(), context.name());
    const int64_t extent = shape[axis];
    int64_t start = 0;
    const std::vector<int64_t> lengths = sliceLengths(context, extent);
    for (size_t i = 0; i < lengths.size(); ++i) {
        if (lengths[i] < 0 || lengths[i] > extent - start)
            fail(Status::ComputeSizeError, "op '%s': output %zu would take %lld of the %lld left on axis %d of %s",
                 context.name(), i, asLong(lengths[i]), asLong(extent - start), axis,
                 context.in(0).shape.text().c_str());
        start += lengths[i];
        shape[axis] = lengths[i];
        context.set(static_cast<int>(i), shape);
    }
}

void shapeUnpack(const ShapeContext& context) {
    Shape shape = context.in(0).shape;
    const int axis = axisOf(context, shape.rank());
    if (static_cast<int64_t>(context.outputs.size()) > shape[axis])
        fail(Status::ComputeSizeError, "op '%s' has %zu outputs, more than axis %d of %s has elements", context.name(),
             context.outputs.size(), axis, shape.text().c_str());
    shape.erase(axis);
    for (size_t i = 0; i < context.outputs.size(); ++i) context.set(static_cast<int>(i), shape);
}

void geometrySplit(const OpContext& context) {
    const bool unpack = context.node.type == OpType::Unpack;
    const Shape& shape = context.in(0).shape;
    const int axis = unpack ? axisOf(context, shape.rank())
                            : normalizeAxis(context.node.paramsAs<SliceParams>().axis, shape.rank(), context.name());
    const AxisSplit split(shape, axis);
    int64_t start = 0;
    for (Tensor* output : context.outputs) {
        const int64_t length = unpack ? 1 : output->shape[axis];
        if (!output->empty()) {
            const BoxAxis axes[] = {{split.outer, split.axis * split.inner, length * split.inner},
                                    {length * split.inner, 1, 1}};
            RegionBuilder builder(context.name());
            builder.box(0, start * split.inner, 0, axes);
            context.geometry.raster(output, {context.inputs[0]}, builder.take(), context.node.name);
        }
        start += length;
    }
}

}  // namespace

constexpr OpDef kConcatOps[] = {
    {.type = OpType::Concat, .parse = parseJoinedAxis, .shape = shapeConcat, .geometry = geometryJoin},
    {.type = OpType::QuantizedConcat, .parse = parseJoinedAxis, .shape = shapeConcat, .geometry = geometryJoin},
    {.type = OpType::Pack, .parse = parseJoinedAxis, .shape = shapePack, .geometry = geometryJoin},
    {.type = OpType::Slice,
     .parse = parseSlice,
     .shape = shapeSlice,
     .geometry = geometrySplit,
     .valueInputs = contentOfInput1},
    {.type = OpType::Unpack, .parse = parseJoinedAxis, .shape = shapeUnpack, .geometry = geometrySplit},
};
extern constinit const OpFamily concatOps = kConcatOps;

}  // namespace mnnc
