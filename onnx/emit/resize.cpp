// Resizing. Forms that Interp supports become one Interp; all others are computed axis by axis, as a product with a
// matrix of weights or as a gather, whose numbers are folded where the extents are known.
#include <algorithm>
#include <limits>
#include <set>

#include "base/error.h"
#include "helpers.h"

namespace mnnc::onnx {
namespace {

struct Resizing {
    std::string mode, transform, nearest;
    float cubicA = -0.75f, outside = 0;
    bool antialias = false, excludes = false;
    std::vector<int64_t> axes;  // the axes of `scales` and `sizes`
    V scales = nullptr, sizes = nullptr, region = nullptr;
    std::string policy;
};

V toFloat(Call& c, V x) {
    return castTo(c, x, Elem::Float);
}

// One axis of the source and of the result.
struct Axis {
    int64_t axis = 0;
    V in = nullptr, out = nullptr;     // extents, integers
    V scale = nullptr;                 // a float
    V begin = nullptr, end = nullptr;  // of the region
};

// The positions of the output in the input, as a list of floats.
V positions(Call& c, const Resizing& how, const Axis& a) {
    V steps = toFloat(c, rangeTo(c, a.out));
    V in = toFloat(c, a.in), out = toFloat(c, a.out), one = c.b.real(1), half = c.b.real(0.5f);
    V several = binary(c, Binary::MAXIMUM, sub(c, out, one), one);
    V halfPixel = sub(c, div(c, add(c, steps, half), a.scale), half);
    if (how.transform == "half_pixel") return halfPixel;
    if (how.transform == "asymmetric") return div(c, steps, a.scale);
    if (how.transform == "align_corners") return div(c, mul(c, steps, sub(c, in, one)), several);
    if (how.transform == "tf_half_pixel_for_nn") return div(c, add(c, steps, half), a.scale);
    V single = compare(c, Binary::LESS_EQUAL, out, one);
    if (how.transform == "pytorch_half_pixel") return select(c, single, c.b.real(0), halfPixel);
    if (how.transform == "half_pixel_symmetric") {
        V adjustment = div(c, out, mul(c, a.scale, in));
        V offset = mul(c, mul(c, in, half), sub(c, one, adjustment));
        return add(c, offset, halfPixel);
    }
    if (how.transform == "tf_crop_and_resize") {
        V last = sub(c, in, one);
        V whole = add(c, mul(c, a.begin, last), div(c, mul(c, mul(c, steps, sub(c, a.end, a.begin)), last), several));
        V middle = mul(c, mul(c, half, add(c, a.begin, a.end)), last);
        return select(c, single, middle, whole);
    }
    refuse("the coordinate transformation '%s' is not implemented", how.transform.c_str());
}

V clamped(Call& c, V x, V in) {
    V last = sub(c, toFloat(c, in), c.b.real(1));
    return binary(c, Binary::MINIMUM, binary(c, Binary::MAXIMUM, x, c.b.real(0)), last);
}

V nearestIndices(Call& c, const Resizing& how, const Axis& a) {
    V x = positions(c, how, a);
    V half = c.b.real(0.5f);
    V index = how.nearest == "floor"               ? unary(c, Unary::FLOOR, x)
              : how.nearest == "ceil"              ? unary(c, Unary::CEIL, x)
              : how.nearest == "round_prefer_ceil" ? unary(c, Unary::FLOOR, add(c, x, half))
                                                   : unary(c, Unary::CEIL, sub(c, x, half));
    return castTo(c, clamped(c, index, a.in), Elem::Int64);
}

// The kernel of linear or cubic interpolation (Keys, 1981) at these distances.
V kernel(Call& c, const Resizing& how, V distance) {
    V d = unary(c, Unary::ABS, distance);
    if (how.mode == "linear") return binary(c, Binary::MAXIMUM, sub(c, c.b.real(1), d), c.b.real(0));
    const float a = how.cubicA;
    const auto polynomial = [&](float p3, float p2, float p1, float p0) {
        V value = add(c, mul(c, d, c.b.real(p3)), c.b.real(p2));
        value = add(c, mul(c, value, d), c.b.real(p1));
        return add(c, mul(c, value, d), c.b.real(p0));
    };
    V near = polynomial(a + 2, -(a + 3), 0, 1), far = polynomial(a, -5 * a, 8 * a, -4 * a);
    V result = select(c, compare(c, Binary::LESS_EQUAL, d, c.b.real(1)), near, far);
    return select(c, compare(c, Binary::LESS, d, c.b.real(2)), result, c.b.real(0));
}

// The matrix [out, in] of an axis.
V weights(Call& c, const Resizing& how, const Axis& a) {
    V x = unsqueeze(c, positions(c, how, a), {1});  // [out, 1]
    V columns = toFloat(c, rangeTo(c, a.in));       // [in]
    V floor = unary(c, Unary::FLOOR, x);
    // The reach of the kernel to each side; it is stretched where the picture shrinks.
    const int64_t radius = how.mode == "linear" ? 1 : 2;
    V stretch = how.antialias ? binary(c, Binary::MINIMUM, a.scale, c.b.real(1)) : c.b.real(1);
    if (how.excludes) {
        V w = kernel(c, how, mul(c, sub(c, x, columns), stretch));
        return div(c, w, reduce(c, Reduction::SUM, w, {1}, true));
    }
    if (!how.antialias) {
        V sum = nullptr;
        for (int64_t k = 1 - radius; k <= radius; ++k) {
            V tap = add(c, floor, c.b.real(static_cast<float>(k)));
            V w = kernel(c, how, sub(c, x, tap));
            V hit = compare(c, Binary::EQUAL, clamped(c, tap, a.in), columns);
            V term = mul(c, w, toFloat(c, hit));
            sum = sum ? add(c, sum, term) : term;
        }
        return sum;
    }
    // Taps before and after the map count for its ends: the map is extended by a border as wide as the kernel.
    V border = castTo(c, unary(c, Unary::CEIL, div(c, c.b.real(static_cast<float>(radius)), stretch)), Elem::Int64);
    border = add(c, border, c.b.scalar(1));
    V count = add(c, a.in, mul(c, border, c.b.scalar(2)));
    V taps = toFloat(c, sub(c, rangeTo(c, count), border));  // [-border, in + border)
    V w = kernel(c, how, mul(c, sub(c, x, taps), stretch));  // [out, count]
    w = div(c, w, reduce(c, Reduction::SUM, w, {1}, true));
    V place = unsqueeze(c, clamped(c, taps, a.in), {1});              // [count, 1]
    V folds = toFloat(c, compare(c, Binary::EQUAL, place, columns));  // [count, in]
    return matmul(c, w, folds);
}

V alongAxis(Call& c, const Resizing& how, V x, const Axis& a) {
    if (how.mode == "nearest") {
        V indices = nearestIndices(c, how, a);
        V result = gatherAxis(c, x, indices, a.axis);
        return c.b.alias(result, x->elem);
    }
    const auto last = static_cast<int64_t>(x->rank()) - 1;
    V matrix = weights(c, how, a);
    if (a.axis == last) return matmul(c, x, matrix, false, true);
    if (a.axis == last - 1) return matmul(c, matrix, x);
    std::vector<int64_t> order = allAxes(x->rank());
    std::swap(order[static_cast<size_t>(a.axis)], order.back());
    return permute(c, matmul(c, permute(c, x, order), matrix, false, true), order);
}

// ---- One Interp ----

bool hasInterp(const Resizing& how, const Value& x) {
    if (!x.isFloat() || x.rank() < 3 || x.rank() > 5 || how.antialias || how.excludes || !how.policy.empty())
        return false;
    if (how.mode == "nearest" && how.nearest != "floor" && how.nearest != "round_prefer_floor") return false;
    if (how.mode == "cubic" && x.rank() != 4) return false;
    return how.transform == "half_pixel" || how.transform == "asymmetric" || how.transform == "align_corners" ||
           how.transform == "pytorch_half_pixel";
}

// All extents or scales: those of the named axes, and 1 for the others.
V wholeList(Call& c, const Resizing& how, V x) {
    V given = how.scales ? how.scales : how.sizes;
    if (how.axes == allAxes(x->rank())) return given;
    std::vector<V> parts;
    for (size_t i = 0; i < x->rank(); ++i) {
        const auto at = std::find(how.axes.begin(), how.axes.end(), static_cast<int64_t>(i));
        if (at != how.axes.end())
            parts.push_back(sliceAxis(c, given, 0, at - how.axes.begin(), at - how.axes.begin() + 1));
        else if (how.scales)
            parts.push_back(c.b.constant(floatArray({1}, {1}), Elem::Float));
        else
            parts.push_back(shapeOf(c, x, static_cast<int64_t>(i), static_cast<int64_t>(i) + 1));
    }
    return concat(c, parts, 0);
}

// Whether batch and channels are unchanged; the operator resizes the axes after them.
bool onlySpatial(const Resizing& how, V x) {
    for (size_t i = 0; i < how.axes.size(); ++i) {
        if (how.axes[i] > 1) continue;
        V given = how.scales ? how.scales : how.sizes;
        if (!given->constant) continue;  // a fed list is taken to keep batch and channels
        const auto at = static_cast<int64_t>(i);
        if (how.scales ? given->array().realAt(at) != 1
                       : !x->fixed(static_cast<size_t>(how.axes[i])) ||
                             given->array().intAt(at) != x->dims[0][static_cast<size_t>(how.axes[i])])
            return false;
    }
    return true;
}

V interp(Call& c, const Resizing& how, V x) {
    wire::InterpT table;
    table.resizeType = how.mode == "linear" ? 2 : how.mode == "cubic" ? 3 : how.nearest == "floor" ? 1 : 4;
    table.cubicCoeffA = how.cubicA;
    table.ctm = how.transform == "half_pixel"      ? wire::CoordinateTransformationMode::HalfPixels
                : how.transform == "asymmetric"    ? wire::CoordinateTransformationMode::Asymmetric
                : how.transform == "align_corners" ? wire::CoordinateTransformationMode::AlignCorners
                                                   : wire::CoordinateTransformationMode::PytorchHalfPixels;
    table.alignCorners = how.transform == "align_corners";
    table.halfPixelCenters = how.transform == "half_pixel";
    V list = wholeList(c, how, x);
    c.b.openRank(x->rank());
    return c.b.op(OpType::Interp, table, {x, list});
}

// ---- The forms ----

V resize(Call& c, V x, Resizing how) {
    if (hasInterp(how, *x) && onlySpatial(how, x)) return interp(c, how, x);
    const Elem elem = x->elem;
    if (how.mode != "nearest" && !x->isFloat()) x = castTo(c, x, Elem::Float);
    std::vector<Axis> axes;
    for (size_t i = 0; i < how.axes.size(); ++i) {
        Axis a;
        a.axis = how.axes[i];
        a.in = extentOf(c, x, a.axis);
        const auto at = static_cast<int64_t>(i);
        const auto element = [&](V list, int64_t k) { return elementOf(c, list, 0, k); };
        if (how.scales) {
            a.scale = element(how.scales, at);
            a.out = castTo(c, unary(c, Unary::FLOOR, mul(c, toFloat(c, a.in), a.scale)), Elem::Int64);
        } else {
            a.out = element(how.sizes, at);
            a.scale = div(c, toFloat(c, a.out), toFloat(c, a.in));
        }
        if (how.region) {
            const auto count = static_cast<int64_t>(how.axes.size());
            a.begin = element(how.region, at);
            a.end = element(how.region, count + at);
        }
        axes.push_back(a);
    }
    if (!how.policy.empty()) {
        // One scale for all axes: the smallest, or the largest.
        V scale = axes[0].scale;
        for (size_t i = 1; i < axes.size(); ++i)
            scale = binary(c, how.policy == "not_larger" ? Binary::MINIMUM : Binary::MAXIMUM, scale, axes[i].scale);
        for (Axis& a : axes) {
            a.scale = scale;
            V out = add(c, mul(c, toFloat(c, a.in), scale), c.b.real(0.5f));
            a.out = castTo(c, unary(c, Unary::FLOOR, out), Elem::Int64);
        }
    }
    V inside = nullptr;
    for (const Axis& a : axes) {
        // Skips axes that do not change.
        if (a.scale->constant && a.in->constant && a.out->constant && a.scale->array().realAt(0) == 1 &&
            a.in->array().intAt(0) == a.out->array().intAt(0) && !how.region)
            continue;
        if (how.region) {
            V at = positions(c, how, a);
            V last = sub(c, toFloat(c, a.in), c.b.real(1));
            V within = mul(c, toFloat(c, compare(c, Binary::GREATER_EQUAL, at, c.b.real(0))),
                           toFloat(c, compare(c, Binary::LESS_EQUAL, at, last)));
            within = unsqueeze(c, within, allAxes(x->rank() - static_cast<size_t>(a.axis), 1));
            inside = inside ? mul(c, inside, within) : within;
        }
        x = alongAxis(c, how, x, a);
    }
    if (inside) {
        V whole = compare(c, Binary::GREATER, inside, c.b.real(0.5f));
        x = select(c, whole, x, c.b.number(static_cast<double>(how.outside), *x));
    }
    return castTo(c, x, elem);
}

void emitResize(Call& c) {
    V x = c.in(0);
    Resizing how;
    how.mode = c.text("mode", "nearest");
    if (how.mode != "nearest" && how.mode != "linear" && how.mode != "cubic")
        refuse("the mode '%s' is not implemented", how.mode.c_str());
    how.axes = allAxes(x->rank());
    if (c.opset < 11) {
        how.transform = "asymmetric";
        how.nearest = "floor";
        how.scales = c.in(1);
        c.out(resize(c, x, how));
        return;
    }
    how.transform = c.text("coordinate_transformation_mode", "half_pixel");
    how.nearest = c.text("nearest_mode", "round_prefer_floor");
    static const std::set<std::string_view> kNearest{"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
    if (!kNearest.count(how.nearest))
        fail(Status::BadFormat, "nearest_mode is '%s', which is unknown", how.nearest.c_str());
    how.cubicA = c.real("cubic_coeff_a", -0.75f);
    how.outside = c.real("extrapolation_value", 0);
    how.antialias = c.integer("antialias", 0) != 0 && how.mode != "nearest";
    how.excludes = c.integer("exclude_outside", 0) != 0 && (how.mode == "cubic" || how.antialias);
    if (const auto axes = c.integers("axes"); axes && !axes->empty()) {
        how.axes = *axes;
        for (int64_t& axis : how.axes) axis = axisOf(axis, x->rank());
    }
    const auto filled = [&](size_t i) {
        V value = c.maybe(i);
        return value && !(value->rank() == 1 && value->fixed(0) && value->dims[0][0] == 0) ? value : nullptr;
    };
    how.scales = filled(2);
    how.sizes = how.scales ? nullptr : filled(3);
    if (!how.scales && !how.sizes) fail(Status::BadFormat, "there are neither scales nor sizes");
    if (how.transform == "tf_crop_and_resize") {
        how.region = filled(1);
        if (!how.region) fail(Status::BadFormat, "there is no roi");
    }
    how.policy = how.sizes ? c.text("keep_aspect_ratio_policy", "stretch") : "";
    if (how.policy == "stretch") how.policy.clear();
    if (!how.policy.empty() && how.policy != "not_larger" && how.policy != "not_smaller")
        fail(Status::BadFormat, "keep_aspect_ratio_policy is '%s', which is unknown", how.policy.c_str());
    V given = how.scales ? how.scales : how.sizes;
    if (given->rank() != 1 || (given->fixed(0) && given->extent(0) != static_cast<int64_t>(how.axes.size())))
        fail(Status::BadFormat, "scales or sizes have the shape %s; %zu numbers are needed",
             dimsText(given->dims[0]).c_str(), how.axes.size());
    c.out(resize(c, x, how));
}

void emitUpsample(Call& c) {
    V x = c.in(0);
    Resizing how;
    how.mode = c.text("mode", "nearest");
    if (how.mode == "bilinear") how.mode = "linear";
    if (how.mode != "nearest" && how.mode != "linear") refuse("the mode '%s' is not implemented", how.mode.c_str());
    how.transform = "asymmetric";
    how.nearest = "floor";
    how.axes = allAxes(x->rank());
    c.refuseAttributes({"scales"}, 9);
    if (c.opset >= 9) {
        how.scales = c.in(1);
    } else if (c.opset >= 7) {
        const std::vector<float> scales = c.reals("scales");
        if (scales.size() != x->rank())
            fail(Status::BadFormat, "it has %zu scales for an input of rank %zu", scales.size(), x->rank());
        how.scales = c.b.constant(floatArray({static_cast<int64_t>(scales.size())}, scales), Elem::Float);
    } else {
        if (x->rank() != 4) refuse("its input has rank %zu, 4 is needed", x->rank());
        how.scales =
            c.b.constant(floatArray({4}, {1, 1, c.real("height_scale", 1), c.real("width_scale", 1)}), Elem::Float);
    }
    c.out(resize(c, x, how));
}

}  // namespace

constexpr Entry kResizeEntries[] = {
    {"Resize", 10, kNewest, emitResize,
     "Interp; GatherV2 or MatMul along each axis for antialias, exclude_outside, half_pixel_symmetric, "
     "tf_crop_and_resize, keep_aspect_ratio_policy, nearest ceil and round_prefer_ceil"},
    {"Upsample", 1, kNewest, emitUpsample, "Interp"},
};
extern constinit const Family resizeFamily = kResizeEntries;

}  // namespace mnnc::onnx
