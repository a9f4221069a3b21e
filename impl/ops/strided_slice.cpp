// The index arithmetic of StridedSlice, with the reference's readings of odd requests (see the table of
// quirks in the specification): they decide shapes of real models, so they are kept where they are well
// defined.
#include "ops/strided_slice.h"

#include <algorithm>

#include "base/checked.h"
#include "ops/op_helpers.h"

namespace mnnc {

namespace {

struct Item {
    int64_t begin = 0, end = 0, step = 1;
    bool fromStart = false, toEnd = false;  // begin and end masks
    bool newAxis = false, shrink = false;
};

constexpr Item kFullItem{0, 0, 1, true, true, false, false};

std::vector<int64_t> indexList(const ShapeContext& context, int input, size_t expected) {
    std::vector<int64_t> values = context.ints(input);
    if (values.size() != expected)
        fail(Status::ComputeSizeError, "op '%s': input %d holds %zu numbers, input 1 holds %zu",
             context.name(), input, values.size(), expected);
    return values;
}

// ONNX form: one item per input axis, negative numbers counted from the end once.
std::vector<Item> onnxItems(const ShapeContext& context, const Shape& in) {
    const std::vector<int64_t> begins = context.ints(1);
    const std::vector<int64_t> ends = indexList(context, 2, begins.size());
    std::vector<int64_t> axes, steps;
    if (context.inputCount() > 3) axes = indexList(context, 3, begins.size());
    if (context.inputCount() > 4) steps = indexList(context, 4, begins.size());
    std::vector<Item> items(static_cast<size_t>(in.rank()), kFullItem);
    for (size_t k = 0; k < begins.size(); ++k) {
        const int axis =
            normalizeAxis(axes.empty() ? static_cast<int64_t>(k) : axes[k], in.rank(), context.name());
        Item& item = items[static_cast<size_t>(axis)];
        item = Item{};
        item.begin = begins[k] < 0 ? begins[k] + in[axis] : begins[k];
        item.end = ends[k] < 0 ? ends[k] + in[axis] : ends[k];
        item.step = steps.empty() ? 1 : steps[k];
    }
    return items;
}

std::vector<Item> maskedItems(const ShapeContext& context, const StridedSliceParams& params,
                              const Shape& in) {
    const std::vector<int64_t> begins = context.ints(1);
    const std::vector<int64_t> ends = indexList(context, 2, begins.size());
    std::vector<int64_t> steps;
    if (context.inputCount() > 3) steps = indexList(context, 3, begins.size());
    if (begins.size() > 32)
        fail(Status::ComputeSizeError, "op '%s': %zu index items; the limit is 32", context.name(),
             begins.size());
    std::vector<Item> items;
    int ellipses = 0;
    for (size_t k = 0; k < begins.size(); ++k) {
        const auto bit = [k](uint32_t mask) { return (mask >> k & 1u) != 0; };
        if (bit(params.ellipsisMask)) {
            if (++ellipses > 1)
                fail(Status::ComputeSizeError, "op '%s' has more than one ellipsis", context.name());
            const int64_t fill = in.rank() - static_cast<int64_t>(begins.size()) + 1;
            for (int64_t i = 0; i < fill; ++i) items.push_back(kFullItem);
            continue;
        }
        items.push_back({begins[k], ends[k], steps.empty() ? 1 : steps[k], bit(params.beginMask),
                         bit(params.endMask), bit(params.newAxisMask), bit(params.shrinkAxisMask)});
    }
    if (ellipses && items.size() > static_cast<size_t>(in.rank()))
        items.resize(static_cast<size_t>(in.rank()));
    return items;
}

StridedSlicePlan::Axis planAxis(const ShapeContext& context, const Item& item, int64_t length, int at) {
    StridedSlicePlan::Axis axis;
    axis.dropped = item.shrink;
    const int64_t step = item.shrink ? 1 : item.step;
    if (step == 0) fail(Status::ComputeSizeError, "op '%s': the step of axis %d is 0", context.name(), at);
    axis.step = step;
    if (length == 0) {
        if (item.shrink)
            fail(Status::BadRange, "op '%s': an element of axis %d of extent 0", context.name(), at);
        return axis;
    }
    int64_t begin;
    if (item.fromStart)
        begin = step > 0 ? 0 : length - 1;
    else if (step > 0)
        begin = std::min(length, item.begin);
    else {
        begin = std::clamp(item.begin, -length, length - 1);
        if (begin < 0) begin += length;
    }
    if (begin < 0) begin += ceilDiv(-begin, length) * length;  // wrapped, not clamped
    axis.begin = begin;
    if (item.shrink) {
        if (begin >= length)
            fail(Status::BadRange, "op '%s': element %lld of axis %d of extent %lld", context.name(),
                 asLong(begin), at, asLong(length));
        axis.size = axis.valid = 1;
        return axis;
    }
    int64_t end;
    if (item.toEnd)
        end = step > 0 ? length : -1;
    else if (step > 0) {
        end = std::clamp(item.end, -length - 1, length);
        if (end < 0) end += length;
    } else {
        end = std::max<int64_t>(-1, std::min(length, item.end));
    }
    // Divisions truncate: an empty slice with a large step has one element.
    const bool backwards = end < begin;
    int64_t size;
    if (backwards)
        size = step > 0 ? -1 / step + 1 : (begin - end - 1) / -step + 1;
    else
        size = (end - begin - 1) / step + 1;
    axis.size = std::max<int64_t>(size, 0);
    if (begin >= length || (backwards && step > 0))
        axis.valid = 0;
    else
        axis.valid = std::min(axis.size, step > 0 ? (length - 1 - begin) / step + 1 : begin / -step + 1);
    return axis;
}

}  // namespace

StridedSlicePlan planStridedSlice(const ShapeContext& context) {
    const auto* params = context.node.paramsAs<StridedSliceParams>();
    const Shape& in = context.in(0).shape;
    if (in.rank() < 1) fail(Status::ComputeSizeError, "op '%s' slices a scalar", context.name());
    const std::vector<Item> items = params->onnx ? onnxItems(context, in) : maskedItems(context, *params, in);
    StridedSlicePlan plan;
    int at = 0;
    for (const Item& item : items) {
        if (item.newAxis) {
            plan.shape.push(1);
            continue;
        }
        if (at >= in.rank())
            fail(Status::ComputeSizeError, "op '%s': more index items than the %d axes of its input",
                 context.name(), in.rank());
        plan.axes.push_back(planAxis(context, item, in[at], at));
        if (!item.shrink) plan.shape.push(plan.axes.back().size);
        ++at;
    }
    for (; at < in.rank(); ++at) {
        plan.axes.push_back({0, 1, in[at], in[at], false});
        plan.shape.push(in[at]);
    }
    return plan;
}

}  // namespace mnnc
