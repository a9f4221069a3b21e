// Normalisations and the softmax family.
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "windows.h"

namespace mnnc::onnx {
namespace {

// A list with one number for each channel, arranged to broadcast over the other axes.
V perChannel(Call& c, V list, size_t rank) {
    return unsqueeze(c, list, allAxes(rank - 1, 1));
}

// (x - mean) / sqrt(variance + epsilon), over the last axes.
V layerNorm(Call& c, V x, size_t axes, float epsilon, bool rms = false) {
    wire::LayerNormT table;
    for (size_t i = axes; i > 0; --i) table.axis.push_back(-static_cast<int32_t>(i));
    table.epsilon = epsilon;
    table.useRMSNorm = rms;
    return c.b.op(OpType::LayerNorm, table, {x});
}

// Whether `list` is absent, or has `number` in each place and does not change the extents of x.
bool isEverywhere(V list, float number, V x) {
    if (!list) return true;
    const size_t rank = list->rank();
    if (!list->constant || rank > x->rank()) return false;
    for (size_t i = 0; i < rank; ++i) {
        const size_t axis = x->rank() - rank + i;
        const int64_t extent = list->dims[0][i];
        if (extent != 1 && !(x->fixed(axis) && x->dims[0][axis] == extent)) return false;
    }
    const std::vector<float> numbers = list->array().allFloats();
    return !numbers.empty() &&
           std::all_of(numbers.begin(), numbers.end(), [number](float each) { return each == number; });
}

// scale x + bias. Exporters write a normalisation without parameters with ones and zeros.
V affine(Call& c, V x, V scale, V bias) {
    if (scale) requireNoWidening(*scale, *x);
    if (bias) requireNoWidening(*bias, *x);
    if (!isEverywhere(scale, 1, x)) x = mul(c, x, scale);
    return isEverywhere(bias, 0, x) ? x : add(c, x, bias);
}

void emitBatchNormalization(Call& c) {
    V x = c.in(0), scale = c.in(1), bias = c.in(2), mean = c.in(3), variance = c.in(4);
    if (c.opset >= 14 && c.integer("training_mode", 0) != 0) {
        // The mean and the variance of the batch, and the new running ones.
        if (x->rank() < 2) refuse("it trains over an input of rank %zu; 2 or more is needed", x->rank());
        std::vector<int64_t> axes = allAxes(x->rank());
        axes.erase(axes.begin() + 1);
        V own = reduce(c, Reduction::MEAN, x, axes, true);
        V centred = sub(c, x, own);
        V spread = reduce(c, Reduction::MEAN, unary(c, Unary::SQUARE, centred), axes, true);
        own = squeeze(c, own, axes);
        spread = squeeze(c, spread, axes);
        const float momentum = c.real("momentum", 0.9f);
        const auto running = [&](V before, V now) {
            return add(c, mul(c, before, c.b.real(momentum)), mul(c, now, c.b.real(1 - momentum)));
        };
        if (c.wants(1)) c.out(1, running(mean, own));
        if (c.wants(2)) c.out(2, running(variance, spread));
        mean = own;
        variance = spread;
    } else {
        for (size_t i = 1; i < 5; ++i)
            if (c.wants(i)) refuse("its output %zu belongs to training", i);
    }
    if (c.opset < 9 && c.integer("spatial", 1) == 0) refuse("spatial is 0, which is not implemented");
    V deviation = unary(c, Unary::SQRT, add(c, variance, c.b.real(c.real("epsilon", 1e-5f))));
    V factor = div(c, scale, deviation);
    V shift = sub(c, bias, mul(c, mean, factor));
    const size_t rank = x->rank();
    if (factor->constant && shift->constant && rank == 4) {
        wire::ScaleT table;
        table.channels = static_cast<int32_t>(factor->elementCount());
        table.scaleData = factor->array().allFloats();
        table.biasData = shift->array().allFloats();
        c.out(fromPacked(c, c.b.op(OpType::Scale, table, {toPacked(c, x)})));
        return;
    }
    if (rank > 2) {
        factor = perChannel(c, factor, rank);
        shift = perChannel(c, shift, rank);
    }
    c.out(affine(c, x, factor, shift));
}

void emitInstanceNormalization(Call& c) {
    V x = c.in(0);
    const size_t rank = x->rank();
    if (rank < 3) refuse("its input has rank %zu; 3 or more is needed", rank);
    V shape = shapeOf(c, x);
    V flat = reshape(c, x, {0, 0, -1});
    V normal = reshapeTo(c, layerNorm(c, flat, 1, c.real("epsilon", 1e-5f)), shape);
    c.out(affine(c, normal, perChannel(c, c.in(1), rank), perChannel(c, c.in(2), rank)));
}

void emitGroupNormalization(Call& c) {
    V x = c.in(0);
    const size_t rank = x->rank();
    const int64_t groups = c.integer("num_groups", 0);
    if (groups < 1) fail(Status::BadRange, "num_groups is %lld; it must be 1 or more", asLong(groups));
    const int64_t channels = x->extent(1);
    if (channels % groups != 0)
        fail(Status::BadFormat, "%lld channels do not divide into %lld groups", asLong(channels), asLong(groups));
    const bool perGroup = c.opset < 21 && channels != groups;  // scale and bias have one number for each group
    if (perGroup) c.b.requireRoom({channels});
    V shape = shapeOf(c, x);
    V flat = reshape(c, x, {0, groups, -1});
    V normal = reshapeTo(c, layerNorm(c, flat, 1, c.real("epsilon", 1e-5f)), shape);
    V scale = c.in(1), bias = c.in(2);
    if (perGroup) {
        std::vector<int32_t> of;
        for (int64_t i = 0; i < channels; ++i) of.push_back(static_cast<int32_t>(i / (channels / groups)));
        V indices = c.b.constant(intArray({channels}, std::move(of)), Elem::Int64);
        scale = gatherAxis(c, scale, indices, 0);
        bias = gatherAxis(c, bias, indices, 0);
    }
    c.out(affine(c, normal, perChannel(c, scale, rank), perChannel(c, bias, rank)));
}

void emitLayerNormalization(Call& c) {
    V x = c.in(0), scale = c.in(1), bias = c.maybe(2);
    const size_t rank = x->rank();
    const int64_t axis = axisOf(c.integer("axis", -1), rank);
    const size_t axes = rank - static_cast<size_t>(axis);
    const float epsilon = c.real("epsilon", 1e-5f);
    if (c.wants(1) || c.wants(2)) {
        const std::vector<int64_t> over = allAxes(rank, static_cast<size_t>(axis));
        V mean = reduce(c, Reduction::MEAN, x, over, true);
        V centred = sub(c, x, mean);
        V variance = reduce(c, Reduction::MEAN, unary(c, Unary::SQUARE, centred), over, true);
        V inverse = unary(c, Unary::RECIPROCAL, unary(c, Unary::SQRT, add(c, variance, c.b.real(epsilon))));
        c.out(0, affine(c, mul(c, centred, inverse), scale, bias));
        c.out(1, mean);
        c.out(2, inverse);
        return;
    }
    // The table has gamma and beta where they are constants with the extents of the block.
    bool inTable =
        scale->constant && (!bias || bias->constant) && scale->rank() == axes && (!bias || bias->rank() == axes);
    for (size_t i = 0; inTable && i < axes; ++i)
        inTable = x->fixed(rank - axes + i) && scale->dims[0][i] == x->dims[0][rank - axes + i] &&
                  (!bias || bias->dims[0][i] == scale->dims[0][i]);
    if (!inTable) {
        c.out(affine(c, layerNorm(c, x, axes, epsilon), scale, bias));
        return;
    }
    wire::LayerNormT table;
    for (size_t i = axes; i > 0; --i) table.axis.push_back(-static_cast<int32_t>(i));
    table.epsilon = epsilon;
    table.gamma = scale->array().allFloats();
    table.beta = bias ? bias->array().allFloats() : std::vector<float>(table.gamma.size(), 0.0f);
    c.out(c.b.op(OpType::LayerNorm, table, {x}));
}

void emitRmsNormalization(Call& c) {
    V x = c.in(0), scale = c.in(1);
    const size_t rank = x->rank();
    const size_t axes = rank - static_cast<size_t>(axisOf(c.integer("axis", -1), rank));
    c.out(affine(c, layerNorm(c, x, axes, c.real("epsilon", 1e-5f), true), scale, nullptr));
}

void emitMeanVarianceNormalization(Call& c) {
    V x = c.in(0);
    const std::vector<int64_t> axes = axesOf(c.integers("axes").value_or(std::vector<int64_t>{0, 2, 3}), x->rank());
    V centred = sub(c, x, reduce(c, Reduction::MEAN, x, axes, true));
    V variance = reduce(c, Reduction::MEAN, unary(c, Unary::SQUARE, centred), axes, true);
    V deviation = add(c, unary(c, Unary::SQRT, variance), c.b.real(1e-9f));
    c.out(div(c, centred, deviation));
}

void emitLrn(Call& c) {
    V x = c.in(0);
    const int64_t size = c.integer("size", 1);
    if (x->rank() != 4) refuse("its input has rank %zu; the format has LRN of rank 4", x->rank());
    if (size < 1) fail(Status::BadRange, "size is %lld; it must be 1 or more", asLong(size));
    if (size % 2 == 0) {
        if (size > kMaxTaps)
            refuse("its windows have %lld channels; %lld is the maximum", asLong(size), asLong(kMaxTaps));
        // An even window has one channel more after the centre in ONNX, but before it in the format.
        V square = unary(c, Unary::SQUARE, x);
        const int64_t channels = x->extent(1);
        V padded = padWith(c, square, {0, (size - 1) / 2, 0, 0}, {0, size / 2, 0, 0}, 0);
        V sum = nullptr;
        for (int64_t k = 0; k < size; ++k) {
            V part = sliceAxis(c, padded, 1, k, k + channels);
            sum = sum ? add(c, sum, part) : part;
        }
        const float alpha = c.real("alpha", 1e-4f) / static_cast<float>(size);
        V base = add(c, mul(c, sum, c.b.real(alpha)), c.b.real(c.real("bias", 1)));
        c.out(div(c, x, binary(c, Binary::POW, base, c.b.real(c.real("beta", 0.75f)))));
        return;
    }
    wire::LRNT table;
    table.regionType = 0;
    table.localSize = narrow(size);
    table.alpha = c.real("alpha", 1e-4f);
    table.beta = c.real("beta", 0.75f);
    table.bias = c.real("bias", 1);
    c.out(fromPacked(c, c.b.op(OpType::LRN, table, {toPacked(c, x)})));
}

void emitLpNormalization(Call& c) {
    V x = c.in(0);
    const int64_t axis = axisOf(c.integer("axis", -1), x->rank()), p = c.integer("p", 2);
    if (p != 1 && p != 2) fail(Status::BadRange, "p is %lld; it must be 1 or 2", asLong(p));
    V norm = p == 1 ? reduce(c, Reduction::SUM, unary(c, Unary::ABS, x), {axis}, true)
                    : unary(c, Unary::SQRT, reduce(c, Reduction::SUM, unary(c, Unary::SQUARE, x), {axis}, true));
    // A list of zeros stays unchanged.
    V zero = compare(c, Binary::EQUAL, norm, c.b.real(0));
    c.out(div(c, x, select(c, zero, c.b.real(1), norm)));
}

// ---- The softmax family ----

V hardmax(Call& c, V x, int64_t axis) {
    wire::ArgMaxT table;
    table.axis = static_cast<int32_t>(axis);
    V best = c.b.op(OpType::ArgMax, table, {x});
    wire::OneHotParamT hot;
    hot.axis = static_cast<int32_t>(axis);
    hot.dType = x->type;
    V depth = extentOf(c, x, axis);
    return c.b.op(OpType::OneHot, hot, {best, depth, c.b.real(1), c.b.real(0)});
}

// Before opset 13 the axes from `axis` on counted as one.
template <V (*form)(Call&, V, int64_t)>
void emitSoft(Call& c) {
    V x = c.in(0);
    const bool flattens = c.opset < 13;
    const int64_t axis = axisOf(c.integer("axis", flattens ? 1 : -1), x->rank());
    if (!flattens || axis + 1 == static_cast<int64_t>(x->rank())) {
        c.out(form(c, x, axis));
        return;
    }
    wire::FlattenT table;
    table.axis = static_cast<int32_t>(axis);
    V flat = c.b.op(OpType::Flatten, table, {x});
    c.out(reshapeTo(c, form(c, flat, 1), shapeOf(c, x)));
}

}  // namespace

constexpr Entry kNormalisationEntries[] = {
    {"BatchNormalization", 1, kNewest, emitBatchNormalization, "Scale, or BinaryOp; with Reduction in training_mode",
     "Training before opset 14."},
    {"GroupNormalization", 18, kNewest, emitGroupNormalization, "Reshape, LayerNorm, BinaryOp",
     "A free number of channels."},
    {"Hardmax", 1, kNewest, emitSoft<hardmax>, "ArgMax, OneHot"},
    {"InstanceNormalization", 1, kNewest, emitInstanceNormalization, "Reshape, LayerNorm, BinaryOp"},
    {"LRN", 1, kNewest, emitLrn, "LRN, or BinaryOp over slices for an even size", "Other ranks than 4."},
    // onnxruntime's optimiser writes it into models of older opsets, too.
    {"LayerNormalization", 1, kNewest, emitLayerNormalization,
     "LayerNorm; with BinaryOp where scale or bias are fed; Reduction and BinaryOp for mean and deviation"},
    {"LogSoftmax", 1, kNewest, emitSoft<logSoftmax>, "Reduction, BinaryOp, UnaryOp"},
    {"LpNormalization", 1, kNewest, emitLpNormalization, "Reduction, UnaryOp, BinaryOp, Select"},
    {"MeanVarianceNormalization", 9, kNewest, emitMeanVarianceNormalization, "Reduction, UnaryOp, BinaryOp"},
    {"RMSNormalization", 23, kNewest, emitRmsNormalization, "LayerNorm, BinaryOp"},
    {"Softmax", 1, kNewest, emitSoft<softmax>, "Softmax; before opset 13 with Flatten and Reshape"},
};
extern constinit const Family normalisationFamily = kNormalisationEntries;

}  // namespace mnnc::onnx
