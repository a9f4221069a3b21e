// Parts of tensors: slices, splits, padding.
#include <algorithm>
#include <limits>

#include "base/checked.h"
#include "base/error.h"
#include "helpers.h"

namespace mnnc::onnx {
namespace {

// Ends far beyond the tensor mean its end; the format has 32 bits.
std::vector<int64_t> clamped(std::vector<int64_t> list) {
    for (int64_t& value : list) value = std::clamp(value, -kToEnd, kToEnd);
    return list;
}

// Computes exact begins and ends where the extents are known; the official runtime wraps indices before the tensor.
void settle(const Value& x, const std::vector<int64_t>& axes, const std::vector<int64_t>& steps,
            std::vector<int64_t>& begins, std::vector<int64_t>& ends) {
    for (size_t k = 0; k < axes.size(); ++k) {
        const auto axis = static_cast<size_t>(axes[k]);
        if (!x.fixed(axis)) continue;
        const int64_t extent = x.dims[0][axis];
        int64_t begin = begins[k] < 0 ? begins[k] + extent : begins[k];
        int64_t end = ends[k] < 0 ? ends[k] + extent : ends[k];
        if (steps[k] > 0) {
            begins[k] = std::clamp<int64_t>(begin, 0, extent);
            ends[k] = std::clamp<int64_t>(end, begins[k], extent);
        } else {
            begins[k] = std::clamp<int64_t>(begin, -1, extent - 1);
            end = std::clamp<int64_t>(end, -1, begins[k]);
            // An end before the first element is written as a number that stays negative when the extent is added.
            ends[k] = end < 0 ? -extent - 1 : end;
            if (begins[k] < 0) begins[k] = -extent - 1;
        }
    }
}

// The length of a list that has a number for each of some axes of x.
size_t countOfAxes(const Value& list, const Value& x) {
    const int64_t count = list.extent(0);
    if (count > static_cast<int64_t>(x.rank()))
        fail(Status::BadFormat, "it has numbers for %lld axes of a tensor of rank %zu", asLong(count), x.rank());
    return static_cast<size_t>(count);
}

void emitSlice(Call& c) {
    V x = c.in(0);
    std::vector<int64_t> begins, ends, axes, steps;
    bool constant = true;
    c.refuseAttributes({"starts", "ends", "axes"}, 10);
    if (c.opset < 10) {
        begins = clamped(c.integers("starts").value_or(std::vector<int64_t>()));
        ends = clamped(c.integers("ends").value_or(std::vector<int64_t>()));
        axes = c.integers("axes").value_or(allAxes(begins.size()));
        steps.assign(begins.size(), 1);
    } else {
        for (size_t i = 1; i < 5; ++i)
            if (V value = c.maybe(i)) constant = constant && value->constant;
        if (constant) {
            begins = clamped(c.list(1));
            ends = clamped(c.list(2));
            axes = c.maybe(3) ? c.list(3) : allAxes(begins.size());
            steps = c.maybe(4) ? clamped(c.list(4)) : std::vector<int64_t>(begins.size(), 1);
        }
    }
    if (constant) {
        if (ends.size() != begins.size() || axes.size() != begins.size() || steps.size() != begins.size())
            fail(Status::BadFormat, "it has %zu begins, %zu ends, %zu axes and %zu steps, which are not equally many",
                 begins.size(), ends.size(), axes.size(), steps.size());
        for (int64_t& axis : axes) axis = axisOf(axis, x->rank());
        (void)axesOf(axes, x->rank());  // throws BadRange where one is listed twice
        for (const int64_t step : steps)
            if (step == 0) fail(Status::BadRange, "a step is 0");
        settle(*x, axes, steps, begins, ends);
        if (begins.empty()) {
            c.out(x);
            return;
        }
        const std::vector<V> inputs{x, c.b.ints(begins), c.b.ints(ends), c.b.ints(axes), c.b.ints(steps)};
        c.out(c.b.alias(stridedSlice(c, inputs), x->elem));
        return;
    }
    // Constants may contain numbers that exceed 32 bits, so they are clamped, too.
    const auto list = [&](size_t i) {
        V value = c.in(i);
        return value->constant ? c.b.ints(clamped(value->array().list())) : value;
    };
    std::vector<V> inputs{x, list(1), list(2)};
    V fedAxes = c.maybe(3);
    if (fedAxes && fedAxes->constant) {
        std::vector<int64_t> plain = fedAxes->array().list();
        for (int64_t& axis : plain) axis = axisOf(axis, x->rank());
        fedAxes = c.b.ints(plain);
    }
    if (!fedAxes) fedAxes = c.b.ints(allAxes(countOfAxes(*c.in(1), *x)));
    inputs.push_back(fedAxes);
    if (c.maybe(4)) inputs.push_back(list(4));
    c.b.openRank(x->rank());
    c.out(c.b.alias(stridedSlice(c, inputs), x->elem));
}

void emitSplit(Call& c) {
    V x = c.in(0);
    const int64_t axis = axisOf(c.integer("axis", 0), x->rank());
    const size_t count = c.node.outputs.size();
    if (count == 0) fail(Status::BadFormat, "it has no outputs");
    c.refuseAttributes({"split"}, 13);
    std::optional<std::vector<int64_t>> sizes = c.opset < 13 ? c.integers("split") : std::nullopt;
    V fed = nullptr;
    if (c.opset == 1 && c.maybe(1)) fed = c.in(1);
    if (c.opset >= 13 && c.maybe(1)) fed = c.in(1);
    if (fed && fed->constant) {
        sizes = fed->array().list();
        fed = nullptr;
    }
    wire::SliceT table;
    table.axis = static_cast<int32_t>(axis);
    table.sourceType = wire::NetSource::TORCH;
    std::vector<V> inputs{x};
    if (fed) {
        inputs.push_back(fed);
    } else if (!sizes && x->fixed(static_cast<size_t>(axis))) {
        const auto parts = static_cast<int64_t>(count);
        if (c.opset >= 18 && c.integer("num_outputs", parts) != parts)
            fail(Status::BadFormat, "num_outputs is %lld, and it has %zu outputs", asLong(c.integer("num_outputs", 0)),
                 count);
        const int64_t extent = x->extent(static_cast<size_t>(axis)), each = (extent + parts - 1) / parts;
        if (c.opset < 18 && extent % parts != 0)
            fail(Status::ComputeSizeError, "%zu equal parts of %lld elements are not possible", count, asLong(extent));
        sizes.emplace();
        for (int64_t i = 0; i < parts; ++i) sizes->push_back(std::clamp<int64_t>(extent - i * each, 0, each));
    }
    if (sizes && sizes->size() != count)
        fail(Status::BadFormat, "it has %zu sizes for %zu outputs", sizes->size(), count);
    if (sizes) {
        int64_t sum = 0;
        for (const int64_t size : *sizes) {
            if (size < 0) fail(Status::BadRange, "a part of %lld elements is not possible", asLong(size));
            sum = checkedAdd(sum, size, "its sizes");
        }
        const auto at = static_cast<size_t>(axis);
        bool fits = true;
        for (const Dims& dims : x->dims) fits = fits && sum == dims[at];
        if (!fits && c.b.lenient && !x->fixed(at)) {
            ++c.b.unchecked;
            table.slicePoints = intList(*sizes)->ints;
            std::vector<Output> outputs;
            for (const int64_t size : *sizes) {
                outputs.push_back({x->dims, x->type});
                for (Dims& dims : outputs.back().dims) dims[at] = size;
            }
            const std::vector<V> parts = c.b.given(OpType::Slice, table, inputs, outputs);
            for (size_t i = 0; i < count; ++i) c.out(i, c.b.alias(parts[i], x->elem));
            return;
        }
        for (const Dims& dims : x->dims)
            if (sum != dims[at])
                fail(Status::ComputeSizeError, "its sizes %s are not the %lld elements of axis %lld together",
                     dimsText(*sizes).c_str(), asLong(dims[at]), asLong(axis));
        table.slicePoints = intList(*sizes)->ints;
    }
    if (count == 1) {
        c.out(x);
        return;
    }
    const std::vector<V> parts = c.b.op(OpType::Slice, table, inputs, count);
    for (size_t i = 0; i < count; ++i) c.out(i, c.b.alias(parts[i], x->elem));
}

// Element i of the result is element i - before of x, modulo the extent that pads below zero leave of it.
V wrapByPlaces(Call& c, V x, int64_t axis, V before, V after) {
    V zero = c.b.scalar(0), extent = extentOf(c, x, axis);
    V first = binary(c, Binary::MAXIMUM, sub(c, zero, before), zero);
    V kept = add(c, sub(c, extent, first), binary(c, Binary::MINIMUM, after, zero));
    V count = add(c, extent, add(c, before, after));
    V places = sub(c, rangeTo(c, count), binary(c, Binary::MAXIMUM, before, zero));
    places = binary(c, Binary::MOD, places, kept);
    const bool whole = first->constant && first->array().intAt(0) == 0;
    return gatherAxis(c, x, whole ? places : add(c, places, first), axis);
}

// The elements before an axis are copies of the last ones, and those after it of the first ones.
V wrapAxis(Call& c, V x, int64_t axis, int64_t before, int64_t after) {
    if (!x->fixed(static_cast<size_t>(axis))) return wrapByPlaces(c, x, axis, c.b.scalar(before), c.b.scalar(after));
    const int64_t extent = x->extent(static_cast<size_t>(axis));
    if (before < 0 || after < 0) {
        V cut = sliceAxis(c, x, axis, std::max<int64_t>(-before, 0), extent - std::max<int64_t>(-after, 0));
        return wrapAxis(c, cut, axis, std::max<int64_t>(before, 0), std::max<int64_t>(after, 0));
    }
    if (before > extent || after > extent) {
        if (extent == 0) refuse("it wraps an axis without elements");
        c.b.requireRoom({checkedAdd(extent, checkedAdd(before, after, "pads"), "pads")});
        std::vector<int32_t> order;
        for (int64_t i = -before; i < extent + after; ++i)
            order.push_back(static_cast<int32_t>(((i % extent) + extent) % extent));
        const auto count = static_cast<int64_t>(order.size());
        return gatherAxis(c, x, c.b.constant(intArray({count}, std::move(order)), Elem::Int64), axis);
    }
    std::vector<V> parts;
    if (before) parts.push_back(sliceAxis(c, x, axis, extent - before, extent));
    parts.push_back(x);
    if (after) parts.push_back(sliceAxis(c, x, axis, 0, after));
    return concat(c, parts, axis);
}

struct Padding {
    std::string mode;
    std::vector<int64_t> axes;
    std::vector<int64_t> pads;           // before each axis, then after each; empty where they are fed
    V fed = nullptr, fedAxes = nullptr;  // pads and axes that only a run knows
    V value = nullptr;
};

Padding readPadding(Call& c, const Value& x) {
    Padding padding;
    padding.mode = c.text("mode", "constant");
    padding.axes = allAxes(x.rank());
    c.refuseAttributes({"pads", "value"}, 11);
    if (c.opset < 11) {
        padding.pads = c.integers(c.opset < 2 ? "paddings" : "pads").value_or(std::vector<int64_t>());
        padding.value = c.b.number(static_cast<double>(c.real("value", 0)), x);
    } else {
        if (c.maybe(3) && !c.in(3)->constant) {
            padding.fedAxes = c.in(3);
            if (padding.fedAxes->rank() != 1)
                fail(Status::BadFormat, "its axes have rank %zu, 1 is needed", padding.fedAxes->rank());
            padding.axes.assign(countOfAxes(*padding.fedAxes, x), 0);
        } else if (c.maybe(3)) {
            padding.axes = c.list(3);
            for (int64_t& axis : padding.axes) axis = axisOf(axis, x.rank());
        }
        padding.fed = c.in(1);
        if (padding.fed->constant && !padding.fedAxes) {
            padding.pads = padding.fed->array().list();
            padding.fed = nullptr;
        }
        padding.value = c.maybe(2);
        if (!padding.value) padding.value = c.b.number(0, x);
        if (padding.value->rank() > 0) padding.value = reshape(c, padding.value, {});
    }
    const std::string& mode = padding.mode;
    if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap")
        refuse("the mode '%s' is not implemented", mode.c_str());
    return padding;
}

// Returns the fed pads of all axes: [rank, 2], before and after each.
V fedPairs(Call& c, const Padding& padding, size_t rank) {
    V pairs = permute(c, reshape(c, padding.fed, {2, static_cast<int64_t>(padding.axes.size())}), {1, 0});
    if (V axes = padding.fedAxes) {
        const auto all = static_cast<int64_t>(rank);
        V front = select(c, compare(c, Binary::LESS, axes, c.b.scalar(0)), add(c, axes, c.b.scalar(all)), axes);
        return c.b.op(OpType::ScatterNd, {}, {unsqueeze(c, front, {1}), pairs, c.b.ints({all, 2})});
    }
    if (padding.axes == allAxes(rank)) return pairs;
    std::vector<V> rows;
    V none = c.b.constant(intArray({1, 2}, {0, 0}), Elem::Int64);
    for (size_t i = 0; i < rank; ++i) {
        const auto begin = padding.axes.begin();
        const auto at = std::find(begin, padding.axes.end(), static_cast<int64_t>(i));
        rows.push_back(at == padding.axes.end() ? none : sliceAxis(c, pairs, 0, at - begin, at - begin + 1));
    }
    return concat(c, rows, 0);
}

V wrapByPairs(Call& c, V x, V pairs) {
    const auto rank = static_cast<int64_t>(x->rank());
    for (int64_t axis = 0; axis < rank; ++axis) {
        V row = sliceAxis(c, pairs, 0, axis, axis + 1);
        V before = squeeze(c, sliceAxis(c, row, 1, 0, 1), {0, 1});
        V after = squeeze(c, sliceAxis(c, row, 1, 1, 2), {0, 1});
        x = wrapByPlaces(c, x, axis, before, after);
    }
    return x;
}

// Returns the known pads of all axes: before and after each.
std::vector<int64_t> knownPairs(const Padding& padding, size_t rank) {
    const size_t count = padding.axes.size();
    if (padding.pads.size() != 2 * count)
        fail(Status::BadFormat, "it has %zu pads for %zu axes; two for each are needed", padding.pads.size(), count);
    std::vector<int64_t> pairs(2 * rank, 0);
    for (size_t i = 0; i < count; ++i) {
        pairs[static_cast<size_t>(2 * padding.axes[i])] = padding.pads[i];
        pairs[static_cast<size_t>(2 * padding.axes[i] + 1)] = padding.pads[count + i];
    }
    return pairs;
}

V wrapKnown(Call& c, V x, const std::vector<int64_t>& pairs) {
    (void)intList(pairs);  // throws Overflow for numbers beyond 32 bits
    for (size_t i = 0; 2 * i < pairs.size(); ++i)
        if (pairs[2 * i] || pairs[2 * i + 1])
            x = wrapAxis(c, x, static_cast<int64_t>(i), pairs[2 * i], pairs[2 * i + 1]);
    return x;
}

void emitPad(Call& c) {
    V x = c.in(0);
    const Elem elem = x->elem;
    const size_t rank = x->rank();
    const Padding padding = readPadding(c, *x);
    const bool wraps = padding.mode == "wrap";
    std::vector<V> inputs{x};
    if (padding.fed) {
        if (wraps && padding.fedAxes) refuse("it has the mode wrap and axes that are fed, which is not implemented");
        V pairs = fedPairs(c, padding, rank);
        if (wraps) return c.out(c.b.alias(wrapByPairs(c, x, pairs), elem));
        inputs.push_back(reshape(c, pairs, {-1}));
    } else {
        const std::vector<int64_t> pairs = knownPairs(padding, rank);
        if (std::all_of(padding.pads.begin(), padding.pads.end(), [](int64_t pad) { return pad == 0; }))
            return c.out(x);
        if (wraps) return c.out(c.b.alias(wrapKnown(c, x, pairs), elem));
        inputs.push_back(c.b.ints(pairs));
    }
    wire::PadParamT table;
    table.mode = padding.mode == "constant"  ? wire::PadValueMode::CONSTANT
                 : padding.mode == "reflect" ? wire::PadValueMode::REFLECT
                                             : wire::PadValueMode::EDGE;
    if (padding.mode == "constant") inputs.push_back(padding.value);
    if (padding.fed) c.b.openRank(rank);
    c.out(c.b.alias(c.b.op(OpType::Padding, table, inputs), elem));
}

void emitTrilu(Call& c) {
    V x = c.in(0);
    const size_t rank = x->rank();
    if (rank < 2) refuse("its input has rank %zu; 2 or more is needed", rank);
    const bool upper = c.integer("upper", 1) != 0;
    V k = c.maybe(1) ? reshape(c, c.in(1), {}) : c.b.scalar(0);
    const auto numbers = [&](size_t axis) { return rangeTo(c, extentOf(c, x, static_cast<int64_t>(axis))); };
    V row = unsqueeze(c, numbers(rank - 2), {1}), column = numbers(rank - 1);
    // Column - row >= k above the diagonal, <= k below it.
    V distance = sub(c, column, row);
    V inside = compare(c, upper ? Binary::GREATER_EQUAL : Binary::LESS_EQUAL, distance, k);
    c.out(select(c, inside, x, c.b.number(0, *x)));
}

}  // namespace

constexpr Entry kSlicesEntries[] = {
    {"Pad", 1, kNewest, emitPad, "Padding; for wrap StridedSlice and Concat, or GatherV2",
     "Mode wrap with axes that are fed."},
    {"Slice", 1, kNewest, emitSlice, "StridedSlice"},
    {"Split", 1, kNewest, emitSplit, "Slice"},
    {"Trilu", 14, kNewest, emitTrilu, "Select, with Range and BinaryOp where the extents are free"},
    {"Trilu", 1, kNewest, emitTrilu, "As Trilu of ONNX", "", kMicrosoft},
};
extern constinit const Family sliceFamily = kSlicesEntries;

}  // namespace mnnc::onnx
