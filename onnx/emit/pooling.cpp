// Poolings over windows and over whole maps.
#include <algorithm>
#include <limits>

#include "base/checked.h"
#include "base/error.h"
#include "windows.h"

namespace mnnc::onnx {
namespace {

std::vector<int64_t> spatialAxes(const Value& x) {
    if (x.rank() < 3) refuse("its input has rank %zu; there are no spatial axes", x.rank());
    return allAxes(x.rank(), 2);
}

// ---- One operator of the format ----

wire::PoolT planeTable(const Windows& w, bool average, bool countsPadding) {
    wire::PoolT table;
    const bool plane = w.axes == 2;
    table.type = average ? wire::PoolType::AVEPOOL : wire::PoolType::MAXPOOL;
    table.kernelY = narrow(w.kernel[0]);
    table.kernelX = plane ? narrow(w.kernel[1]) : 1;
    table.strideY = narrow(w.strides[0]);
    table.strideX = plane ? narrow(w.strides[1]) : 1;
    table.padY = narrow(w.begin[0]);
    table.padX = plane ? narrow(w.begin[1]) : 0;
    table.pads = {table.padY, table.padX, narrow(w.end[0]), plane ? narrow(w.end[1]) : 0};
    table.padType = w.same ? wire::PoolPadType::SAME : wire::PoolPadType::CAFFE;
    table.ceilModel = w.ceil;
    table.countType = countsPadding ? wire::AvgPoolCountType::INCLUDE_PADDING : wire::AvgPoolCountType::EXCLUDE_PADDING;
    table.dataType = DataType::DT_FLOAT;
    return table;
}

Output resultOf(Call& c, const Windows& w, const Value& x) {
    Output result;
    for (size_t p = 0; p < kProbes; ++p) {
        result.dims[p] = {x.dims[p][0], x.dims[p][1]};
        for (size_t i = 0; i < w.axes; ++i)
            result.dims[p].push_back(requireWindow(c, x, i, p, w.outExtent(i, x.dims[p][i + 2])));
    }
    return result;
}

// ---- By taps: any number of axes, dilations, asymmetric volumes ----

// Combines the elements under each window of `x`, which is already padded, by a maximum or a sum.
V overTaps(Call& c, V x, const Windows& w, const std::vector<std::vector<int64_t>>& outs, Binary code) {
    // One axis after the other, because a maximum and a sum are separable.
    for (size_t i = 0; i < w.axes; ++i) {
        V result = nullptr;
        for (int64_t tap = 0; tap < w.kernel[i]; ++tap) {
            const int64_t begin = tap * w.dilations[i];
            const int64_t end = begin + (outs[0][i] - 1) * w.strides[i] + 1;
            V part = sliceAxis(c, x, static_cast<int64_t>(i) + 2, begin, end, w.strides[i]);
            result = result ? binary(c, code, result, part) : part;
        }
        x = result;
    }
    return x;
}

enum class Kind { Maximum, Sum, Average, AverageOfPadding };

V byTaps(Call& c, V x, const Windows& w, Kind kind) {
    const bool average = kind != Kind::Maximum, countsPadding = kind == Kind::AverageOfPadding;
    int64_t taps = 0;
    for (size_t i = 0; i < w.axes; ++i) taps += w.kernel[i];
    if (taps > kMaxTaps) refuse("its windows have %lld taps and a form that needs an operator for each", asLong(taps));
    std::vector<int64_t> outs, before{0, 0}, after{0, 0};
    for (size_t i = 0; i < w.axes; ++i) {
        const int64_t in = x->extent(i + 2);
        outs.push_back(w.outExtent(i, in));
        if (outs.back() < 1) fail(Status::ComputeSizeError, "spatial axis %zu is smaller than a window", i);
        const int64_t needed = (outs.back() - 1) * w.strides[i] + w.reach(i);
        before.push_back(w.begin[i]);
        after.push_back(std::max<int64_t>(needed - in - w.begin[i], 0));
    }
    const bool isFloat = x->isFloat();
    const double nothing = average                         ? 0
                           : isFloat                       ? -std::numeric_limits<double>::infinity()
                           : x->type == DataType::DT_INT32 ? std::numeric_limits<int32_t>::min()
                           : x->type == DataType::DT_INT8  ? -128
                                                           : 0;
    if (average) c.b.requireRoom(outs);
    V result = overTaps(c, padWith(c, x, before, after, nothing), w, {outs}, average ? Binary::ADD : Binary::MAXIMUM);
    if (kind == Kind::Maximum || kind == Kind::Sum) return result;
    // The number of taps in each window: the product of the counts of the axes.
    std::vector<float> counts{1};
    Dims dims{1, 1};
    for (size_t i = 0; i < w.axes; ++i) {
        const int64_t in = x->extent(i + 2);
        std::vector<float> axis;
        for (int64_t o = 0; o < outs[i]; ++o) {
            // The taps from the beginning of the map to its end, or from the first one to the end of the padding.
            const int64_t at = o * w.strides[i] - w.begin[i], end = countsPadding ? in + w.end[i] : in;
            const int64_t first = countsPadding || at >= 0 ? 0 : ceilDiv(-at, w.dilations[i]);
            const int64_t last = at < end ? std::min(w.kernel[i], ceilDiv(end - at, w.dilations[i])) : 0;
            axis.push_back(static_cast<float>(std::max<int64_t>(last - first, 0)));
        }
        std::vector<float> product;
        for (const float a : counts)
            for (const float b : axis) product.push_back(a * b);
        counts = std::move(product);
        dims.push_back(outs[i]);
    }
    for (float& count : counts) count = count > 0 ? count : 1;
    return div(c, result, c.b.constant(floatArray(dims, counts), Elem::Float));
}

// ---- The forms ----

V pool(Call& c, V x, const Windows& w, bool average, bool countsPadding) {
    bool negative = false;
    for (size_t i = 0; i < w.axes; ++i) negative = negative || w.begin[i] < 0 || w.end[i] < 0;
    if (negative) refuse("it has negative padding");
    if (w.same && countsPadding) refuse("it counts padding that depends on free extents");
    const bool covers = !w.padded() || !average || w.same;
    if (x->isFloat() && !w.dilated() && w.axes <= 2)
        return c.b.given(OpType::Pooling, planeTable(w, average, countsPadding), {x}, {resultOf(c, w, *x)})[0];
    if (x->isFloat() && !w.dilated() && w.axes == 3 && w.symmetric() && !w.ceil && covers) {
        wire::Pool3DT table;
        table.type = average ? wire::PoolType::AVEPOOL : wire::PoolType::MAXPOOL;
        table.padType = w.same ? wire::PoolPadType::SAME : wire::PoolPadType::CAFFE;
        table.kernels = intList(w.kernel)->ints;
        table.strides = intList(w.strides)->ints;
        table.pads = intList(w.begin)->ints;
        return fromPacked(c, c.b.op(OpType::Pooling3D, table, {toPacked(c, x)}));
    }
    return byTaps(c, x, w, !average ? Kind::Maximum : countsPadding ? Kind::AverageOfPadding : Kind::Average);
}

void emitAveragePool(Call& c) {
    const Windows w = readWindows(c, *c.in(0), {});
    c.out(pool(c, c.in(0), w, true, c.integer("count_include_pad", 0) != 0));
}

// The positions of the maxima. The format counts them within a plane, ONNX within the whole tensor.
V positions(Call& c, V x, V inPlane, bool columnsFirst) {
    V channels = extentOf(c, x, 1), plane = extentOf(c, x, 2);
    for (int64_t axis = 3; axis < static_cast<int64_t>(x->rank()); ++axis) plane = mul(c, plane, extentOf(c, x, axis));
    if (columnsFirst && x->rank() > 3) {
        V rest = inPlane;
        inPlane = c.b.scalar(0);
        for (int64_t axis = static_cast<int64_t>(x->rank()) - 1; axis >= 2; --axis) {
            V extent = extentOf(c, x, axis), before = div(c, rest, extent);
            inPlane = add(c, mul(c, inPlane, extent), sub(c, rest, mul(c, before, extent)));
            rest = before;
        }
    }
    V image = mul(c, unsqueeze(c, rangeTo(c, extentOf(c, x, 0)), {1}), channels);
    V first = mul(c, add(c, image, rangeTo(c, channels)), plane);  // of each plane
    return add(c, inPlane, unsqueeze(c, first, spatialAxes(*x)));
}

// Values and positions from the taps of a dilated or three-dimensional window, which are compared one after another.
void maxByTaps(Call& c, V x, const Windows& w) {
    std::vector<int64_t> outs, before{0, 0}, after{0, 0};
    Dims plane{1, 1};
    int64_t taps = 1;
    for (size_t i = 0; i < w.axes; ++i) {
        const int64_t in = x->extent(i + 2);
        outs.push_back(w.outExtent(i, in));
        if (outs.back() < 1) fail(Status::ComputeSizeError, "spatial axis %zu is smaller than a window", i);
        const int64_t needed = (outs.back() - 1) * w.strides[i] + w.reach(i);
        before.push_back(w.begin[i]);
        after.push_back(std::max<int64_t>(needed - in - w.begin[i], 0));
        plane.push_back(in);
        taps = checkedMul(taps, w.kernel[i], "the taps of a window");
    }
    if (taps > 512)
        refuse("it gives the positions of maxima in windows of %lld taps; 512 is the maximum", asLong(taps));
    c.b.requireRoom(plane);
    int64_t elements = 1;
    for (const int64_t extent : plane) elements *= extent;
    std::vector<int32_t> numbers;
    for (int64_t i = 0; i < elements; ++i) numbers.push_back(narrow(i));
    V values = padWith(c, x, before, after, -std::numeric_limits<double>::infinity());
    V places = padWith(c, c.b.constant(intArray(plane, numbers), Elem::Int64), before, after, 0);
    V best = nullptr, where = nullptr;
    for (int64_t tap = 0; tap < taps; ++tap) {
        V value = values, place = places;
        int64_t rest = tap;
        for (size_t i = w.axes; i-- > 0;) {
            const int64_t begin = rest % w.kernel[i] * w.dilations[i];
            rest /= w.kernel[i];
            const int64_t end = begin + (outs[i] - 1) * w.strides[i] + 1;
            const int64_t axis = static_cast<int64_t>(i) + 2;
            value = sliceAxis(c, value, axis, begin, end, w.strides[i]);
            place = sliceAxis(c, place, axis, begin, end, w.strides[i]);
        }
        if (!best) {
            best = value;
            where = place;
            continue;
        }
        V better = compare(c, Binary::GREATER, value, best);
        where = select(c, better, place, where);
        best = binary(c, Binary::MAXIMUM, best, value);
    }
    c.out(0, best);
    where = broadcastTo(c, where, shapeOf(c, best));
    c.out(1, positions(c, x, where, c.integer("storage_order", 0) != 0));
}

void emitMaxPool(Call& c) {
    V x = c.in(0);
    const Windows w = readWindows(c, *x, {});
    if (!c.wants(1)) {
        c.out(c.b.alias(pool(c, x, w, false, false), x->elem));
        return;
    }
    if (!x->isFloat()) refuse("it gives the positions of maxima of integers, which is not implemented");
    if (w.dilated() || w.axes > 2) {
        maxByTaps(c, x, w);
        return;
    }
    const Output maxima = resultOf(c, w, *x), places{maxima.dims, DataType::DT_INT32};
    const std::vector<V> both = c.b.given(OpType::Pooling, planeTable(w, false, false), {x}, {maxima, places});
    c.out(0, both[0]);
    c.out(1, positions(c, x, both[1], c.integer("storage_order", 0) != 0));
}

void emitLpPool(Call& c) {
    const Windows w = readWindows(c, *c.in(0), {});
    const auto p = static_cast<float>(c.opset < 2 ? c.real("p", 2) : static_cast<float>(c.integer("p", 2)));
    V x = unary(c, Unary::ABS, c.in(0));
    x = p == 2 ? unary(c, Unary::SQUARE, x) : p == 1 ? x : binary(c, Binary::POW, x, c.b.real(p));
    if (w.ceil || w.dilated() || w.padded() || w.axes > 2) {
        x = byTaps(c, x, w, Kind::Sum);
    } else {
        // A mean times the number of taps is a sum.
        float area = 1;
        for (const int64_t k : w.kernel) area *= static_cast<float>(k);
        x = mul(c, pool(c, x, w, true, true), c.b.real(area));
    }
    c.out(p == 2 ? unary(c, Unary::SQRT, x) : p == 1 ? x : binary(c, Binary::POW, x, c.b.real(1 / p)));
}

// The engine has a kernel for two axes.
template <Reduction code>
void emitGlobal(Call& c) {
    V x = c.in(0);
    if (x->rank() != 4 || !x->isFloat()) {
        c.out(reduce(c, code, x, spatialAxes(*x), true));
        return;
    }
    wire::PoolT table;
    table.isGlobal = true;
    table.type = code == Reduction::MEAN ? wire::PoolType::AVEPOOL : wire::PoolType::MAXPOOL;
    table.padType = wire::PoolPadType::CAFFE;
    table.kernelX = table.kernelY = table.strideX = table.strideY = 1;
    table.dataType = DataType::DT_FLOAT;
    c.out(c.b.op(OpType::Pooling, table, {x}));
}

void emitGlobalLpPool(Call& c) {
    const auto p = static_cast<float>(c.opset < 2 ? c.real("p", 2) : static_cast<float>(c.integer("p", 2)));
    V x = binary(c, Binary::POW, unary(c, Unary::ABS, c.in(0)), c.b.real(p));
    c.out(binary(c, Binary::POW, reduce(c, Reduction::SUM, x, spatialAxes(*c.in(0)), true), c.b.real(1 / p)));
}

}  // namespace

constexpr Entry kPoolingEntries[] = {
    {"AveragePool", 1, kNewest, emitAveragePool, "Pooling, Pooling3D, or BinaryOp over slices",
     "Dilated windows and those of other than one or two axes over free extents; SAME_LOWER padding over a free extent "
     "with a stride above 2, or of 2 and an even window, and SAME_UPPER padding that counts."},
    {"GlobalAveragePool", 1, kNewest, emitGlobal<Reduction::MEAN>, "Pooling, or Reduction"},
    {"GlobalLpPool", 1, kNewest, emitGlobalLpPool, "Reduction, BinaryOp, UnaryOp"},
    {"GlobalMaxPool", 1, kNewest, emitGlobal<Reduction::MAXIMUM>, "Pooling, or Reduction"},
    {"LpPool", 1, kNewest, emitLpPool, "Pooling, BinaryOp, UnaryOp", "As AveragePool; padding over free extents."},
    {"MaxPool", 1, kNewest, emitMaxPool, "Pooling, Pooling3D, or BinaryOp over slices",
     "As AveragePool; positions of maxima of dilated windows and of three axes over free extents."},
};
extern constinit const Family poolingFamily = kPoolingEntries;

}  // namespace mnnc::onnx
