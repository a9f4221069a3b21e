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

constexpr size_t kMaxBegins = 32;  // what a mask has bits for

struct Items {
    std::array<Item, kMaxBegins + kMaxRank> item;  // an ellipsis stands for up to all axes
    size_t count = 0;
    void push(const Item& one) { item[count++] = one; }
};

using Indices = std::span<const int32_t>;

void checkLengths(const char* name, const StridedSliceIndices& indices) {
    int input = 2;
    for (const Indices* list : {&indices.ends, indices.axes ? &*indices.axes : nullptr,
                                indices.steps ? &*indices.steps : nullptr}) {
        if (list && list->size() != indices.begins.size())
            fail(Status::ComputeSizeError, "op '%s': input %d holds %zu numbers, input 1 holds %zu", name,
                 input, list->size(), indices.begins.size());
        input += list != nullptr;
    }
}

// ONNX form: one item per input axis, negative numbers counted from the end once.
Items onnxItems(const char* name, const Shape& in, const StridedSliceIndices& indices) {
    Items items;
    for (int i = 0; i < in.rank(); ++i) items.push(kFullItem);
    for (size_t k = 0; k < indices.begins.size(); ++k) {
        const int64_t begin = indices.begins[k], end = indices.ends[k];
        const int axis =
            normalizeAxis(indices.axes ? (*indices.axes)[k] : static_cast<int64_t>(k), in.rank(), name);
        Item item;
        item.begin = begin < 0 ? begin + in[axis] : begin;
        item.end = end < 0 ? end + in[axis] : end;
        item.step = indices.steps ? (*indices.steps)[k] : 1;
        items.item[static_cast<size_t>(axis)] = item;
    }
    return items;
}

Items maskedItems(const char* name, const StridedSliceParams& params, const Shape& in,
                  const StridedSliceIndices& indices) {
    if (indices.begins.size() > kMaxBegins)
        fail(Status::ComputeSizeError, "op '%s': %zu index items; the limit is %zu", name,
             indices.begins.size(), kMaxBegins);
    Items items;
    int ellipses = 0;
    for (size_t k = 0; k < indices.begins.size(); ++k) {
        const auto bit = [k](uint32_t mask) { return (mask >> k & 1u) != 0; };
        if (bit(params.ellipsisMask)) {
            if (++ellipses > 1) fail(Status::ComputeSizeError, "op '%s' has more than one ellipsis", name);
            const int64_t fill = in.rank() - static_cast<int64_t>(indices.begins.size()) + 1;
            for (int64_t i = 0; i < fill; ++i) items.push(kFullItem);
            continue;
        }
        items.push({indices.begins[k], indices.ends[k], indices.steps ? (*indices.steps)[k] : 1,
                    bit(params.beginMask), bit(params.endMask), bit(params.newAxisMask),
                    bit(params.shrinkAxisMask)});
    }
    if (ellipses) items.count = std::min(items.count, static_cast<size_t>(in.rank()));
    return items;
}

StridedSlicePlan::Axis planAxis(const char* name, const Item& item, int64_t length, int at) {
    StridedSlicePlan::Axis axis;
    const int64_t step = item.shrink ? 1 : item.step;
    if (step == 0) fail(Status::ComputeSizeError, "op '%s': the step of axis %d is 0", name, at);
    axis.step = step;
    if (length == 0) {
        if (item.shrink) fail(Status::InputDataError, "op '%s': an element of axis %d of extent 0", name, at);
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
            fail(Status::InputDataError, "op '%s': element %lld of axis %d of extent %lld", name,
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

StridedSlicePlan planStridedSlice(const char* name, const StridedSliceParams& params, const Shape& in,
                                  const StridedSliceIndices& indices) {
    if (in.rank() < 1) fail(Status::ComputeSizeError, "op '%s' slices a scalar", name);
    checkLengths(name, indices);
    const Items items = params.onnx ? onnxItems(name, in, indices) : maskedItems(name, params, in, indices);
    StridedSlicePlan plan;
    for (const Item& item : std::span(items.item).first(items.count)) {
        if (item.newAxis) {
            plan.shape.push(1);
            continue;
        }
        if (plan.rank >= in.rank())
            fail(Status::ComputeSizeError, "op '%s': more index items than the %d axes of its input", name,
                 in.rank());
        StridedSlicePlan::Axis& axis = plan.axis[static_cast<size_t>(plan.rank)];
        axis = planAxis(name, item, in[plan.rank], plan.rank);
        if (!item.shrink) plan.shape.push(axis.size);
        ++plan.rank;
    }
    for (; plan.rank < in.rank(); ++plan.rank) {
        plan.axis[static_cast<size_t>(plan.rank)] = {0, 1, in[plan.rank], in[plan.rank]};
        plan.shape.push(in[plan.rank]);
    }
    return plan;
}

StridedSlicePlan planStridedSlice(const ShapeContext& context) {
    const auto& params = context.node.paramsAs<StridedSliceParams>();
    const auto list = [&](size_t i) { return context.intSpan(static_cast<int>(i)); };
    return planStridedSlice(context.name(), params, context.in(0).shape,
                            stridedSliceIndices(params, context.inputs.size(), list));
}

}  // namespace mnnc
