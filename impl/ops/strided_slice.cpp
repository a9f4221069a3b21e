// The index arithmetic of StridedSlice. ONNX (https://onnx.ai/onnx/operators/onnx__Slice.html) and TensorFlow
// (https://www.tensorflow.org/api_docs/python/tf/strided_slice) select the same elements as the basic slices of NumPy.
#include "ops/strided_slice.h"

#include <algorithm>
#include <cstdlib>

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

constexpr size_t kMaxBegins = 32;  // the number of bits in a mask

struct Items {
    std::array<Item, kMaxBegins + kMaxRank> item;  // an ellipsis represents up to all axes
    size_t count = 0;
    void push(const Item& one) { item[count++] = one; }
};

using Indices = std::span<const int32_t>;

void checkLengths(const char* name, const StridedSliceIndices& indices) {
    int input = 2;
    for (const Indices* list :
         {&indices.ends, indices.axes ? &*indices.axes : nullptr, indices.steps ? &*indices.steps : nullptr}) {
        if (list && list->size() != indices.begins.size())
            fail(Status::ComputeSizeError, "op '%s': input %d has %zu numbers, input 1 has %zu", name, input,
                 list->size(), indices.begins.size());
        input += list != nullptr;
    }
}

// ONNX form: one item per input axis.
Items onnxItems(const char* name, const Shape& in, const StridedSliceIndices& indices) {
    Items items;
    for (int i = 0; i < in.rank(); ++i) items.push(kFullItem);
    for (size_t k = 0; k < indices.begins.size(); ++k) {
        const int axis = normalizeAxis(indices.axes ? (*indices.axes)[k] : static_cast<int64_t>(k), in.rank(), name);
        Item item;
        item.begin = indices.begins[k];
        item.end = indices.ends[k];
        item.step = indices.steps ? (*indices.steps)[k] : 1;
        items.item[static_cast<size_t>(axis)] = item;
    }
    return items;
}

Items maskedItems(const char* name, const StridedSliceParams& params, const Shape& in,
                  const StridedSliceIndices& indices) {
    if (indices.begins.size() > kMaxBegins)
        fail(Status::ComputeSizeError, "op '%s' has %zu index items; the limit is %zu", name, indices.begins.size(),
             kMaxBegins);
    Items items;
    const auto bitOf = [](uint32_t mask, size_t k) { return (mask >> k & 1u) != 0; };
    int64_t taken = 0;  // axes of the input for items other than the ellipsis
    for (size_t k = 0; k < indices.begins.size(); ++k) taken += !bitOf(params.ellipsisMask | params.newAxisMask, k);
    int ellipses = 0;
    for (size_t k = 0; k < indices.begins.size(); ++k) {
        const auto bit = [&](uint32_t mask) { return bitOf(mask, k); };
        if (bit(params.ellipsisMask)) {
            if (++ellipses > 1) fail(Status::ComputeSizeError, "op '%s' has more than one ellipsis", name);
            for (int64_t i = taken; i < in.rank(); ++i) items.push(kFullItem);
            continue;
        }
        items.push({indices.begins[k], indices.ends[k], indices.steps ? (*indices.steps)[k] : 1, bit(params.beginMask),
                    bit(params.endMask), bit(params.newAxisMask), bit(params.shrinkAxisMask)});
    }
    return items;
}

StridedSlicePlan::Axis planAxis(const char* name, const Item& item, int64_t length, int at) {
    const int64_t step = item.shrink ? 1 : item.step;
    if (step == 0) fail(Status::ComputeSizeError, "op '%s': the step of axis %d is 0", name, at);
    const auto fromStart = [length](int64_t index) { return index < 0 ? index + length : index; };
    if (item.shrink) {
        const int64_t begin = item.fromStart ? 0 : fromStart(item.begin);
        if (begin < 0 || begin >= length)
            fail(Status::InputDataError, "op '%s': element %lld is outside of axis %d of extent %lld", name,
                 asLong(item.begin), at, asLong(length));
        return {begin, 1, 1};
    }
    // A backward range ends before element 0, at -1.
    const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? length : length - 1;
    const int64_t first = step > 0 ? low : high, last = step > 0 ? high : low;
    const int64_t begin = item.fromStart ? first : std::clamp(fromStart(item.begin), low, high);
    const int64_t end = item.toEnd ? last : std::clamp(fromStart(item.end), low, high);
    const int64_t range = step > 0 ? end - begin : begin - end;
    return {begin, step, range > 0 ? ceilDiv(range, std::abs(step)) : 0};
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
            fail(Status::ComputeSizeError, "op '%s' has more index items than the %d axes of its input", name,
                 in.rank());
        StridedSlicePlan::Axis& axis = plan.axis[static_cast<size_t>(plan.rank)];
        axis = planAxis(name, item, in[plan.rank], plan.rank);
        if (!item.shrink) plan.shape.push(axis.size);
        ++plan.rank;
    }
    for (; plan.rank < in.rank(); ++plan.rank) {
        plan.axis[static_cast<size_t>(plan.rank)] = {0, 1, in[plan.rank]};
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
