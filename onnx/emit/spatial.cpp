// Operators over pictures: sampling, regions, cropping, boxes.
#include <algorithm>
#include <limits>

#include "base/error.h"
#include "windows.h"

namespace mnnc::onnx {
namespace {

void emitGridSample(Call& c) {
    V x = c.in(0);
    const std::string mode = c.text("mode", c.opset < 20 ? "bilinear" : "linear");
    const std::string padding = c.text("padding_mode", "zeros");
    wire::GridSampleT table;
    if (mode == "nearest")
        table.mode = wire::SampleMode::NEAREST;
    else if (mode != "bilinear" && mode != "linear")
        refuse("the mode '%s' is not implemented", mode.c_str());
    if (padding != "zeros" && padding != "border" && padding != "reflection")
        fail(Status::BadFormat, "the padding mode '%s' is unknown", padding.c_str());
    table.paddingMode = padding == "border"       ? wire::BorderMode::CLAMP
                        : padding == "reflection" ? wire::BorderMode::REFLECTION
                                                  : wire::BorderMode::ZEROS;
    table.alignCorners = c.integer("align_corners", 0) != 0;
    if (x->rank() < 4 || x->rank() > 5) refuse("its input has rank %zu; 4 or 5 is needed", x->rank());
    c.out(fromPacked(c, c.b.op(OpType::GridSample, table, {toPacked(c, x), c.in(1)})));
}

void emitAffineGrid(Call& c) {
    V theta = c.in(0), size = c.in(1);
    const bool corners = c.integer("align_corners", 0) != 0;
    const int64_t axes = theta->extent(1);
    if (axes != 2 && axes != 3) refuse("its matrices have %lld rows; 2 or 3 are needed", asLong(axes));
    // The positions of the centres of an axis's pixels, from -1 to 1.
    const auto positions = [&](int64_t axis) {
        V count = elementOf(c, size, 0, axis + 2);
        V steps = castTo(c, rangeTo(c, count), Elem::Float), n = castTo(c, count, Elem::Float);
        V one = c.b.real(1), two = c.b.real(2);
        if (corners) {
            V last = binary(c, Binary::MAXIMUM, sub(c, n, one), one);
            return sub(c, div(c, mul(c, steps, two), last), one);
        }
        V odd = add(c, mul(c, steps, two), one);
        return sub(c, div(c, odd, n), one);
    };
    V shape = concat(c, {sliceAxis(c, size, 0, 2, 2 + axes), c.b.ints({1})}, 0);
    std::vector<V> parts;  // x, y(, z), 1
    for (int64_t axis = axes - 1; axis >= 0; --axis) {
        V list = unsqueeze(c, positions(axis), allAxes(static_cast<size_t>(axes - axis + 1), 1));
        parts.push_back(broadcastTo(c, list, shape));
    }
    parts.push_back(broadcastTo(c, c.b.constant(floatArray({1}, {1}), Elem::Float), shape));
    V all = reshape(c, concat(c, parts, axes), {1, -1, axes + 1});
    V grid = matmul(c, all, theta, false, true);  // [N, points, axes]
    V whole = concat(c, {sliceAxis(c, size, 0, 0, 1), sliceAxis(c, size, 0, 2, 2 + axes), c.b.ints({axes})}, 0);
    c.out(reshapeTo(c, grid, whole));
}

void emitRoiAlign(Call& c) {
    wire::RoiParametersT table;
    table.pooledHeight = narrow(c.integer("output_height", 1));
    table.pooledWidth = narrow(c.integer("output_width", 1));
    table.samplingRatio = narrow(c.integer("sampling_ratio", 0));
    table.spatialScale = c.real("spatial_scale", 1);
    const std::string transform = c.text("coordinate_transformation_mode", "half_pixel"), mode = c.text("mode", "avg");
    if ((transform != "half_pixel" && transform != "output_half_pixel") || (mode != "avg" && mode != "max"))
        fail(Status::BadFormat, "the mode '%s' with the coordinates '%s' is unknown", mode.c_str(), transform.c_str());
    table.aligned = c.opset >= 16 && transform == "half_pixel";
    table.poolType = mode == "max" ? wire::PoolType::MAXPOOL : wire::PoolType::AVEPOOL;
    c.out(fromPacked(c, c.b.op(OpType::ROIAlign, table, {toPacked(c, c.in(0)), c.in(1), c.in(2)})));
}

void emitMaxRoiPool(Call& c) {
    const std::vector<int64_t> shape = c.integers("pooled_shape").value_or(std::vector<int64_t>());
    wire::RoiParametersT table;
    table.pooledHeight = narrow(shape.at(0));
    table.pooledWidth = narrow(shape.at(1));
    table.spatialScale = c.real("spatial_scale", 1);
    c.out(fromPacked(c, c.b.op(OpType::ROIPooling, table, {toPacked(c, c.in(0)), c.in(1)})));
}

void emitCenterCropPad(Call& c) {
    V x = c.in(0), wanted = c.in(1);
    std::vector<int64_t> axes = c.integers("axes").value_or(allAxes(x->rank()));
    for (int64_t& axis : axes) axis = axisOf(axis, x->rank());
    V none = c.b.ints({0}), two = c.b.ints({2});
    std::vector<V> begins, ends, pads;
    for (size_t i = 0; i < x->rank(); ++i) {
        const auto at = std::find(axes.begin(), axes.end(), static_cast<int64_t>(i));
        V in = shapeOf(c, x, static_cast<int64_t>(i), static_cast<int64_t>(i) + 1);
        if (at == axes.end()) {
            begins.push_back(none);
            ends.push_back(in);
            pads.insert(pads.end(), {none, none});
            continue;
        }
        V out = sliceAxis(c, wanted, 0, at - axes.begin(), at - axes.begin() + 1);
        V surplus = binary(c, Binary::MAXIMUM, sub(c, in, out), none);
        V lack = binary(c, Binary::MAXIMUM, sub(c, out, in), none);
        V begin = div(c, surplus, two), before = div(c, lack, two);
        begins.push_back(begin);
        ends.push_back(add(c, begin, binary(c, Binary::MINIMUM, in, out)));
        pads.insert(pads.end(), {before, sub(c, lack, before)});
    }
    const Elem elem = x->elem;
    V first = concat(c, begins, 0), last = concat(c, ends, 0), around = concat(c, pads, 0);
    c.b.openRank(x->rank());
    x = stridedSlice(c, {x, first, last, c.b.ints(allAxes(x->rank()))});
    c.b.openRank(x->rank());
    c.out(c.b.alias(c.b.op(OpType::Padding, wire::PadParamT(), {x, around, c.b.number(0, *x)}), elem));
}

void emitCol2Im(Call& c) {
    const std::vector<int64_t> block = c.list(2);
    if (block.size() != 2) refuse("its blocks have %zu axes; 2 are needed", block.size());
    const auto pair = [&](const char* name, int64_t otherwise) {
        return c.integers(name).value_or(std::vector<int64_t>{otherwise, otherwise});
    };
    const std::vector<int64_t> strides = pair("strides", 1), dilations = pair("dilations", 1);
    const std::vector<int64_t> pads = c.integers("pads").value_or(std::vector<int64_t>{0, 0, 0, 0});
    wire::Convolution2DT table;
    table.common = std::make_unique<wire::Convolution2DCommonT>();
    table.common->kernelY = narrow(block.at(0));
    table.common->kernelX = narrow(block.at(1));
    table.common->strideY = narrow(strides.at(0));
    table.common->strideX = narrow(strides.at(1));
    table.common->dilateY = narrow(dilations.at(0));
    table.common->dilateX = narrow(dilations.at(1));
    table.common->padY = narrow(pads.at(0));
    table.common->padX = narrow(pads.at(1));
    table.common->pads = intList(pads)->ints;
    c.b.openRank(4);
    c.out(c.b.op(OpType::Col2Im, table, {c.in(0), c.in(1)}));
}

void emitMaxUnpool(Call& c) {
    V x = c.in(0), places = c.in(1);
    const size_t rank = x->rank();
    const std::vector<int64_t> kernel = c.integers("kernel_shape").value_or(std::vector<int64_t>());
    const std::vector<int64_t> strides = c.integers("strides").value_or(std::vector<int64_t>(kernel.size(), 1));
    const std::vector<int64_t> pads = c.integers("pads").value_or(std::vector<int64_t>(2 * kernel.size(), 0));
    if (kernel.size() + 2 != rank)
        fail(Status::BadFormat, "its windows have %zu axes, its input has rank %zu", kernel.size(), rank);
    std::vector<int64_t> plain{x->extent(0), x->extent(1)};
    for (size_t i = 0; i < kernel.size(); ++i)
        plain.push_back((x->extent(i + 2) - 1) * narrow(strides.at(i)) + narrow(kernel[i]) - narrow(pads.at(i)) -
                        narrow(pads.at(i + kernel.size())));
    V shape = c.maybe(2) ? c.in(2) : c.b.ints(plain);
    // The indices count in the tensor that the windows produce without output_shape.
    const int64_t total = elementCount(plain, "the result");
    V flat = reshape(c, x, {-1}), rows = reshape(c, places, {-1, 1});
    V zeros = c.b.op(OpType::Fill, {}, {c.b.ints({total}), c.b.real(0)});
    V spread = c.b.op(OpType::ScatterNd, {}, {rows, flat, c.b.ints({total}), zeros});
    V result = reshape(c, spread, plain);
    if (c.maybe(2)) {
        if (!shape->constant) {
            V missing = sub(c, shape, c.b.ints(plain));
            std::vector<V> pairs;
            for (size_t i = 0; i < rank; ++i) {
                pairs.push_back(c.b.ints({0}));
                pairs.push_back(sliceAxis(c, missing, 0, static_cast<int64_t>(i), static_cast<int64_t>(i) + 1));
            }
            V around = concat(c, pairs, 0);
            c.b.openRank(rank);
            result = c.b.op(OpType::Padding, wire::PadParamT(), {result, around, c.b.real(0)});
        } else {
            std::vector<int64_t> before(rank, 0), after = shape->array().list();
            for (size_t i = 0; i < rank; ++i) after.at(i) -= plain[i];
            result = padWith(c, result, before, after, 0);
        }
    }
    c.out(result);
}

void emitNonMaxSuppression(Call& c) {
    V boxes = c.in(0), scores = c.in(1);
    if (c.integer("center_point_box", 0) != 0) {
        // Converts [x, y, width, height] to corners.
        V centre = sliceAxis(c, boxes, 2, 0, 2);
        V half = mul(c, sliceAxis(c, boxes, 2, 2, 4), c.b.real(0.5f));
        V low = sub(c, centre, half), high = add(c, centre, half);
        boxes = concat(c, {low, high}, 2);
        V swapped = c.b.ints({1, 0, 3, 2});  // y first
        boxes = gatherAxis(c, boxes, swapped, 2);
    }
    const auto scalar = [&](size_t i, V otherwise) {
        V value = c.maybe(i);
        if (value && value->constant && value->array().saturated) return c.b.scalar(kToEnd);  // that is: no limit
        return value ? scalarOf(c, value) : otherwise;
    };
    V maxBoxes = scalar(2, c.b.scalar(0));
    V overlap = scalar(3, c.b.real(0));
    V minScore = scalar(4, c.b.real(-std::numeric_limits<float>::max()));
    const Output found{c.b.openDims({-1, 3}), DataType::DT_INT32};
    V rows = c.b.given(OpType::NonMaxSuppressionV2, {}, {boxes, scores, maxBoxes, overlap, minScore}, {found})[0];
    c.out(c.b.alias(rows, Elem::Int64));
}

void emitCausalConv(Call& c) {
    V x = c.in(0), weight = c.in(1), bias = c.maybe(2), past = c.maybe(3);
    const int64_t taps = weight->extent(2), channels = weight->extent(0);
    if (taps < 1) fail(Status::BadFormat, "its weights have no taps");
    if (taps > kMaxTaps) refuse("its weights have %lld taps; %lld is the maximum", asLong(taps), asLong(kMaxTaps));
    if (!past) {
        x = padWith(c, x, {0, 0, taps - 1}, {0, 0, 0}, 0);
    } else {
        x = concat(c, {past, x}, 2);
    }
    V result = nullptr;
    for (int64_t k = 0; k < taps; ++k) {
        // Counted from the end, so that a free length has no effect.
        V part = sliceAxis(c, x, 2, k, k + 1 == taps ? kToEnd : k + 1 - taps);
        V factor = reshape(c, sliceAxis(c, weight, 2, k, k + 1), {channels, 1});
        V term = mul(c, part, factor);
        result = result ? add(c, result, term) : term;
    }
    if (bias) result = add(c, result, unsqueeze(c, bias, {1}));
    if (c.text("activation", "none") != "none") result = unary(c, Unary::SILU, result);
    c.out(0, result);
    if (c.wants(1)) {
        if (taps == 1) {
            if (!c.in(0)->fixed(0)) refuse("it gives a state without elements for a free batch");
            auto empty = std::make_shared<Array>();
            empty->dims = {c.in(0)->extent(0), channels, 0};
            c.out(1, c.b.constant(empty, Elem::Float));
            return;
        }
        c.out(1, sliceAxis(c, x, 2, 1 - taps, kToEnd));
    }
}

void emitDet(Call& c) {
    c.out(c.b.op(OpType::Det, {}, {c.in(0)}));
}

}  // namespace

constexpr Entry kSpatialEntries[] = {
    {"AffineGrid", 20, kNewest, emitAffineGrid, "Range, BinaryOp, MatMul, Reshape"},
    {"CausalConvWithState", 27, kNewest, emitCausalConv, "StridedSlice and BinaryOp for each tap"},
    {"CenterCropPad", 18, kNewest, emitCenterCropPad, "StridedSlice, Padding"},
    {"Col2Im", 18, kNewest, emitCol2Im, "Col2Im", "A block_shape that is fed; other than two axes."},
    {"Det", 11, kNewest, emitDet, "Det"},
    {"GridSample", 16, kNewest, emitGridSample, "GridSample", "Mode cubic."},
    {"GridSample", 1, kNewest, emitGridSample, "GridSample", "Mode bicubic.", kMicrosoft},
    {"MaxRoiPool", 1, kNewest, emitMaxRoiPool, "ROIPooling"},
    {"MaxUnpool", 9, kNewest, emitMaxUnpool, "ScatterNd, Reshape", "Free extents."},
    {"NonMaxSuppression", 10, kNewest, emitNonMaxSuppression, "NonMaxSuppressionV2"},
    {"RoiAlign", 10, kNewest, emitRoiAlign, "ROIAlign"},
};
extern constinit const Family spatialFamily = kSpatialEntries;

}  // namespace mnnc::onnx
