// Operators with indices: gathers, scatters, searches.
#include <algorithm>

#include "base/error.h"
#include "helpers.h"

namespace mnnc::onnx {
namespace {

// Converts indices from the end to indices from the front. `extent`: a scalar, or a list that broadcasts to the
// indices.
V fromFront(Call& c, V indices, V extent) {
    if (indices->constant) {
        const std::vector<int32_t>& list = indices->array().ints;
        if (std::none_of(list.begin(), list.end(), [](int32_t i) { return i < 0; })) return indices;
    }
    if (indices->elementCount() == 0) return indices;
    V negative = compare(c, Binary::LESS, indices, c.b.scalar(0));
    return select(c, negative, add(c, indices, extent), indices);
}

void emitGather(Call& c) {
    V x = c.in(0);
    const int64_t axis = axisOf(c.integer("axis", 0), x->rank());
    V indices = fromFront(c, c.in(1), extentOf(c, x, axis));
    c.out(c.b.alias(gatherAxis(c, x, indices, axis), x->elem));
}

void emitGatherElements(Call& c) {
    V x = c.in(0);
    const int64_t axis = axisOf(c.integer("axis", 0), x->rank());
    V indices = fromFront(c, c.in(1), extentOf(c, x, axis));
    c.out(c.b.alias(c.b.op(OpType::GatherElements, {}, {x, indices, c.b.scalar(axis)}), x->elem));
}

void emitGatherNd(Call& c) {
    V x = c.in(0), indices = c.in(1);
    const auto batch = static_cast<size_t>(std::max<int64_t>(c.integer("batch_dims", 0), 0));
    const size_t last = indices->rank() - 1;
    const int64_t depth = indices->extent(last);
    if (depth < 0 || batch + static_cast<size_t>(depth) > x->rank() || batch > last)
        fail(Status::BadFormat, "rows of %lld indices do not fit a tensor of rank %zu", asLong(depth), x->rank());
    V extents = shapeOf(c, x, static_cast<int64_t>(batch), static_cast<int64_t>(batch) + depth);
    indices = fromFront(c, indices, extents);
    if (batch > 0) {
        // The index in the batch becomes part of each row.
        std::vector<V> rows;
        V shape = concat(c, {shapeOf(c, indices, 0, static_cast<int64_t>(last)), c.b.ints({1})}, 0);
        for (size_t i = 0; i < batch; ++i) {
            V numbers = rangeTo(c, extentOf(c, indices, static_cast<int64_t>(i)));
            numbers = unsqueeze(c, numbers, allAxes(last - i + 1, 1));
            rows.push_back(broadcastTo(c, numbers, shape));
        }
        rows.push_back(indices);
        indices = concat(c, rows, static_cast<int64_t>(last));
    }
    c.out(c.b.alias(c.b.op(OpType::GatherND, {}, {x, indices}), x->elem));
}

int32_t reductionCode(const std::string& reduction) {
    if (reduction == "none") return -1;
    if (reduction == "add") return static_cast<int32_t>(Binary::ADD);
    if (reduction == "mul") return static_cast<int32_t>(Binary::MUL);
    if (reduction == "max") return static_cast<int32_t>(Binary::MAXIMUM);
    if (reduction == "min") return static_cast<int32_t>(Binary::MINIMUM);
    refuse("the reduction '%s' is not implemented", reduction.c_str());
}

void emitScatterElements(Call& c) {
    V x = c.in(0);
    const int64_t axis = axisOf(c.integer("axis", 0), x->rank());
    wire::BinaryOpT table;
    table.opType = static_cast<Binary>(reductionCode(c.text("reduction", "none")));
    table.T = x->type;
    V indices = fromFront(c, c.in(1), extentOf(c, x, axis));
    c.out(c.b.alias(c.b.op(OpType::ScatterElements, table, {x, indices, c.in(2), c.b.scalar(axis)}), x->elem));
}

void emitScatterNd(Call& c) {
    V x = c.in(0), indices = c.in(1);
    const int64_t depth = indices->extent(indices->rank() - 1);
    if (depth < 0 || depth > static_cast<int64_t>(x->rank()))
        fail(Status::BadFormat, "rows of %lld indices do not fit a tensor of rank %zu", asLong(depth), x->rank());
    indices = fromFront(c, indices, shapeOf(c, x, 0, depth));
    const int32_t code = reductionCode(c.text("reduction", "none"));
    Parameter parameter;
    if (code >= 0) {
        wire::BinaryOpT table;
        table.opType = static_cast<Binary>(code);
        table.T = x->type;
        parameter = Parameter(table);
    }
    c.out(c.b.alias(c.b.op(OpType::ScatterNd, parameter, {indices, c.in(2), shapeOf(c, x), x}), x->elem));
}

void emitOneHot(Call& c) {
    V indices = c.in(0), depth = c.in(1), values = c.in(2);
    const int64_t axis = axisOf(c.integer("axis", -1), indices->rank() + 1);
    if (indices->type != DataType::DT_INT32) indices = castTo(c, indices, Elem::Int64);
    if (depth->type != DataType::DT_INT32) depth = castTo(c, depth, Elem::Int64);
    depth = scalarOf(c, depth);
    const Elem elem = values->elem;
    if (!values->isFloat() && values->type != DataType::DT_INT32) values = castTo(c, values, Elem::Int32);
    V off = elementOf(c, values, 0, 0), on = elementOf(c, values, 0, 1);
    if (!depth->constant) {
        std::vector<int64_t> dims = indices->dims[0];
        dims.insert(dims.begin() + axis, -1);
        std::array<Dims, kProbes> open = c.b.openDims(dims);
        for (size_t p = 0; p < kProbes; ++p) {
            const int64_t extent = open[p][static_cast<size_t>(axis)];
            open[p] = indices->dims[p];
            open[p].insert(open[p].begin() + axis, extent);
        }
        c.b.open(open);
    }
    wire::OneHotParamT table;
    table.axis = static_cast<int32_t>(axis);
    table.dType = values->type;
    c.out(castTo(c, c.b.alias(c.b.op(OpType::OneHot, table, {indices, depth, on, off}), values->elem), elem));
}

void emitTopK(Call& c) {
    V x = c.in(0);
    const int64_t axis = axisOf(c.integer("axis", -1), x->rank());
    c.refuseAttributes({"k"}, 10);
    V k = c.opset < 10 ? c.b.scalar(c.integer("k", 1)) : c.in(1);
    k = scalarOf(c, k);
    const Elem elem = x->elem;
    if (x->type == DataType::DT_UINT8 || x->type == DataType::DT_INT8) x = castTo(c, x, Elem::Int32);
    wire::TopKV2T table;
    table.T = x->type;
    table.sorted = true;
    table.largest = c.integer("largest", 1) != 0;
    std::vector<V> both;
    if (k->constant || (k->content[0] && k->content[1])) {  // the number of elements that an axis has is known, too
        both = c.b.op(OpType::TopKV2, table, {x, k, c.b.scalar(axis)}, 2);
    } else {
        const std::array<Dims, kProbes> open = c.b.openDims({-1});
        std::array<Dims, kProbes> dims = x->dims;
        for (size_t p = 0; p < kProbes; ++p) dims[p][static_cast<size_t>(axis)] = open[p][0];
        const std::vector<Output> outputs{{dims, x->type}, {dims, DataType::DT_INT32}};
        both = c.b.given(OpType::TopKV2, table, {x, k, c.b.scalar(axis)}, outputs);
    }
    c.out(0, castTo(c, c.b.alias(both[0], x->elem), elem));
    c.out(1, c.b.alias(both[1], Elem::Int64));
}

// Finds the elements that are not zero, and returns their indices as one row for each element.
V placesOf(Call& c, V x) {
    wire::ExtraT present;
    const V given = x;
    if (x->type != DataType::DT_INT32) x = compare(c, Binary::NOTEQUAL, x, c.b.number(0, *x));
    if (x->constant) return c.b.op(OpType::Where, present, {x});
    const Output rows{c.b.openPlaces(given, static_cast<int64_t>(x->rank())), DataType::DT_INT32};
    return c.b.given(OpType::Where, present, {x}, {rows})[0];
}

void emitNonZero(Call& c) {
    V x = c.in(0);
    if (x->rank() == 0) x = reshape(c, x, {1});
    c.out(c.b.alias(permute(c, placesOf(c, x), {1, 0}), Elem::Int64));
}

void emitCompress(Call& c) {
    V x = c.in(0), condition = c.in(1);
    // Exporters write masks of the shape of x, which onnxruntime reads as a list.
    if (condition->rank() != 1) condition = reshape(c, condition, {-1});
    V places = squeeze(c, placesOf(c, condition), {1});
    if (!c.has("axis")) {
        c.out(c.b.alias(gatherAxis(c, reshape(c, x, {-1}), places, 0), x->elem));
        return;
    }
    c.out(c.b.alias(gatherAxis(c, x, places, axisOf(c.integer("axis", 0), x->rank())), x->elem));
}

void emitCumSum(Call& c) {
    V x = c.in(0), axis = c.in(1);
    wire::CumSumT table;
    table.exclusive = c.integer("exclusive", 0) != 0;
    table.reverse = c.integer("reverse", 0) != 0;
    axis = scalarOf(c, axis);
    if (!axis->constant) c.b.open(x->dims, true);
    V sums = c.b.op(OpType::CumSum, table, {x, axis});
    sums->chance = x->chance;
    c.out(c.b.alias(sums, x->elem));
}

void emitCumProd(Call& c) {
    V x = c.in(0), fed = c.in(1);
    fed = scalarOf(c, fed);
    const auto last = static_cast<int64_t>(x->rank()) - 1;
    const int64_t axis = fed->constant ? axisOf(fed->array().intAt(0), x->rank()) : last;
    if (!fed->constant) x = exchangeWithLast(c, x, fed);
    const bool backwards = c.integer("reverse", 0) != 0;
    if (backwards) x = reverse(c, x, axis);
    if (c.integer("exclusive", 0) != 0) {
        std::vector<int64_t> before(x->rank(), 0), after(x->rank(), 0);
        before[static_cast<size_t>(axis)] = 1;
        after[static_cast<size_t>(axis)] = -1;
        x = padWith(c, x, before, after, 1);
    }
    wire::AxisT table;
    table.axis = static_cast<int32_t>(axis);
    V result = c.b.op(OpType::CumProd, table, {x});
    if (backwards) result = reverse(c, result, axis);
    c.out(fed->constant ? result : exchangeWithLast(c, result, fed));
}

void emitUnique(Call& c) {
    V x = c.in(0);
    if (c.has("axis")) refuse("the attribute axis is not implemented");
    if (c.integer("sorted", 1) == 0) refuse("the order of appearance (sorted is 0) is not implemented");
    if (x->rank() != 1) x = reshape(c, x, {-1});
    size_t count = 1;
    for (size_t i = 0; i < 4; ++i)
        if (c.wants(i)) count = i + 1;
    if (count == 2) count = 3;
    std::vector<V> results;
    if (x->constant) {
        results = c.b.op(OpType::Unique, {}, {x}, count);
    } else {
        const std::array<Dims, kProbes> dims = c.b.openDims({-1});
        std::vector<Output> outputs;
        for (size_t i = 0; i < count; ++i)
            outputs.push_back({i == 2 ? x->dims : dims, i == 0 ? x->type : DataType::DT_INT32});
        results = c.b.given(OpType::Unique, {}, {x}, outputs);
    }
    for (size_t i = 0; i < count; ++i) c.out(i, results[i]);
}

}  // namespace

constexpr Entry kIndicesEntries[] = {
    {"Compress", 9, kNewest, emitCompress, "Where, GatherV2"},
    {"CumProd", 26, kNewest, emitCumProd, "CumProd, with Reverse, Padding and Transpose"},
    {"CumSum", 11, kNewest, emitCumSum, "CumSum"},
    {"Gather", 1, kNewest, emitGather, "GatherV2; with BinaryOp and Select where indices are fed"},
    {"GatherElements", 11, kNewest, emitGatherElements, "GatherElements"},
    {"GatherND", 11, kNewest, emitGatherNd, "GatherND; with Range, BroadcastTo and Concat for batch_dims"},
    {"NonZero", 9, kNewest, emitNonZero, "Where, Permute"},
    {"OneHot", 9, kNewest, emitOneHot, "OneHot"},
    {"Scatter", 9, kNewest, emitScatterElements, "ScatterElements"},
    {"ScatterElements", 11, kNewest, emitScatterElements, "ScatterElements"},
    {"ScatterND", 11, kNewest, emitScatterNd, "ScatterNd"},
    {"TopK", 1, kNewest, emitTopK, "TopKV2"},
    {"Unique", 11, kNewest, emitUnique, "Unique", "axis; sorted 0."},
};
extern constinit const Family indexFamily = kIndicesEntries;

}  // namespace mnnc::onnx
