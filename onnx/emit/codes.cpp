// See codes.h.
#include "codes.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"

namespace mnnc::onnx {
namespace {

struct Range {
    double low = 0, high = 255;
};
Range rangeOf(Elem elem) {
    switch (elem) {
        case Elem::Uint8:
            return {0, 255};
        case Elem::Int8:
            return {-128, 127};
        case Elem::Uint16:
            return {0, 65535};
        case Elem::Int16:
            return {-32768, 32767};
        default:
            refuse("codes of %s are not implemented", elemName(elem));
    }
}

bool hasEightBits(Elem elem) {
    return elem == Elem::Uint8 || elem == Elem::Int8;
}

V oneNumber(Call& c, V value) {
    return value && value->rank() == 1 && value->fixed(0) && value->dims[0][0] == 1 ? reshape(c, value, {}) : value;
}

// Lets a convolution clamp to the smallest code itself: models omit activations that quantisation makes redundant.
void cut(Call& c, V x, const Steps& steps) {
    if (steps.zero != -128) return;
    Operator* producer = c.b.producer(x->inFront ? x->inFront : x);
    if (!producer || producer->op.inputIndexes.size() != 1) return;
    const OpType type = producer->op.type;
    wire::Convolution2DT* table = producer->op.main.AsConvolution2D();
    if ((type != OpType::Convolution && type != OpType::ConvolutionDepthwise) || !table || !table->common) return;
    // The model had Relu6 there if the largest value is 6.
    const bool six = std::abs(steps.scale * 255 - 6) < 1e-2f;
    table->common->relu = !six;
    table->common->relu6 = six;
}

}  // namespace

V spread(Call& c, V value, const Value& x, int64_t axis, int64_t block) {
    if (value->rank() == 0 || (value->rank() == 1 && value->fixed(0) && value->dims[0][0] == 1))
        return value->rank() == 0 ? value : reshape(c, value, {});
    if (static_cast<size_t>(axis) > x.rank())
        fail(Status::BadRange, "its scales lie along axis %lld of a tensor of rank %zu", asLong(axis), x.rank());
    if (block == 0) {
        if (value->rank() != 1) refuse("its scale has rank %zu; 0 or 1 is needed", value->rank());
        return unsqueeze(c, value, allAxes(x.rank() - static_cast<size_t>(axis), 1));
    }
    // Each number is repeated for the elements of its block; the last block may be shorter.
    if (block < 0) fail(Status::BadRange, "block_size is %lld; it must not be negative", asLong(block));
    const int64_t extent = x.extent(static_cast<size_t>(axis));
    c.b.requireRoom({extent});
    std::vector<int32_t> of;
    for (int64_t i = 0; i < extent; ++i) of.push_back(static_cast<int32_t>(i / block));
    return gatherAxis(c, value, c.b.constant(intArray({extent}, std::move(of)), Elem::Int64), axis);
}

V quantise(Call& c, V x, V scale, V zero, Elem to) {
    const Range range = rangeOf(to);
    V y = unary(c, Unary::ROUND, div(c, x, scale));
    if (zero) y = add(c, y, castTo(c, zero, Elem::Float));
    y = clip(c, y, static_cast<float>(range.low), static_cast<float>(range.high));
    return castTo(c, y, to);
}

V dequantise(Call& c, V x, V scale, V zero) {
    V y = castTo(c, x, Elem::Float);
    if (zero) y = sub(c, y, castTo(c, zero, Elem::Float));
    return mul(c, y, scale);
}

V madeCodes(Call& c, V value) {
    if (!value->real) return value;
    if (value->made && value->made->scope == &c.b.scope()) return value->made;
    const Steps& steps = *value->real->steps;
    const float shift = value->elem == Elem::Uint8 ? 128.0f : 0.0f;
    V made = quantise(c, value->real, c.b.real(steps.scale),
                      steps.zero + shift != 0 ? c.b.real(steps.zero + shift) : nullptr, value->elem);
    value->made = made;
    return made;
}

std::optional<Steps> stepsOf(V scale, V zero, Elem elem) {
    if (!hasEightBits(elem) || !scale->constant || scale->elementCount() != 1 || (zero && !zero->constant) ||
        (zero && zero->elementCount() != 1))
        return std::nullopt;
    Steps steps;
    steps.scale = static_cast<float>(scale->array().realAt(0));
    if (zero && zero->type == DataType::DT_INT8)
        steps.zero = static_cast<int8_t>(zero->array().bytes[0]);
    else if (zero)
        steps.zero = static_cast<float>(zero->array().realAt(0));
    if (elem == Elem::Uint8) steps.zero -= 128;
    if (!std::isfinite(steps.scale) || steps.scale <= 0 || steps.zero < -128 || steps.zero > 127) return std::nullopt;
    return steps;
}

V withSteps(Call& c, V x, const Steps& steps, bool readElsewhere) {
    if (x->steps && *x->steps == steps) return x;
    V result = x;
    if (readElsewhere || x->steps)
        result = c.b.copy(x);
    else
        cut(c, x, steps);
    result->steps = steps;
    // Where both sides have the same steps, the engine rounds averages of codes down, as the official runtime does.
    const Operator* producer = c.b.producer(result);
    result->ownSteps = producer && producer->op.type == OpType::Pooling && producer->op.main.AsPool() &&
                       producer->op.main.AsPool()->type == wire::PoolType::AVEPOOL;
    if (result->inFront) result->inFront->steps = steps;
    return result;
}

V quantised(Call& c, V x, V scale, V zero, Elem to, bool readElsewhere) {
    scale = oneNumber(c, scale);
    zero = oneNumber(c, zero);
    const std::optional<Steps> steps = stepsOf(scale, zero, to);
    if (!steps || x->constant || !x->isFloat()) return quantise(c, x, scale, zero, to);
    V here = c.b.local(x);
    return c.b.codesOf(withSteps(c, here, *steps, readElsewhere || x->shared || here->shared), to);
}

V realOf(Call& c, V codes, V scale, V zero, int64_t axis) {
    scale = oneNumber(c, castTo(c, scale, Elem::Float));
    zero = oneNumber(c, zero);
    const std::optional<Steps> steps = stepsOf(scale, zero, codes->elem);
    if (codes->real && steps && *steps == *codes->real->steps) return codes->real;
    V made = madeCodes(c, codes);
    if (steps && !made->constant && made->type != DataType::DT_INT32) {
        wire::QuantizedFloatParamT table;
        table.tensorScale = {steps->scale};
        table.floatzeros = {steps->zero};  // less 128 for unsigned codes
        table.zeroPoint = static_cast<int8_t>(std::lround(steps->zero));
        if (made->type == DataType::DT_INT8) {
            // A copy has the steps, because operators of integers may read these codes, too.
            made = c.b.copy(made);
            made->steps = steps;
        }
        V result = c.b.op(OpType::Int8ToFloat, table, {made});
        result->elem = Elem::Float;
        result->steps = steps;
        return result;
    }
    V result = dequantise(c, made, spread(c, scale, *made, axis, 0), zero ? spread(c, zero, *made, axis, 0) : nullptr);
    if (!result->constant) return result;
    const bool along = scale->rank() == 1;
    if (!hasEightBits(codes->elem) || !scale->constant || (zero && !zero->constant)) return result;
    if (zero && zero->elementCount() > scale->elementCount()) return result;
    auto kept = std::make_shared<ConstantCodes>();
    kept->codes = made->content[0];
    kept->isUnsigned = codes->elem == Elem::Uint8;
    kept->axis = static_cast<size_t>(axis);
    const auto count = static_cast<size_t>(along ? scale->elementCount() : 1);
    for (size_t i = 0; i < count; ++i) {
        kept->scales.push_back(static_cast<float>(scale->array().realAt(static_cast<int64_t>(i))));
        float point = kept->isUnsigned ? -128.0f : 0.0f;
        if (zero) {
            const size_t at = zero->elementCount() > 1 ? i : 0;
            point += zero->type == DataType::DT_INT8
                         ? static_cast<float>(static_cast<int8_t>(zero->array().bytes.at(at)))
                         : static_cast<float>(zero->array().realAt(static_cast<int64_t>(at)));
        }
        kept->zeros.push_back(point);
    }
    result->codes = kept;
    return result;
}

std::optional<WeightCodes> rowCodes(const Value& weight, size_t axis) {
    if (!weight.constant || !weight.codes || weight.rank() < 2) return std::nullopt;
    const ConstantCodes& from = *weight.codes;
    const bool along = from.scales.size() > 1;
    if (along && from.axis != axis) return std::nullopt;
    if (from.codes->count() != weight.array().count()) return std::nullopt;
    WeightCodes result;
    result.rows = static_cast<size_t>(weight.dims[0][axis]);
    if (result.rows == 0 || (along && from.scales.size() != result.rows)) return std::nullopt;
    const size_t count = from.codes->bytes.size();
    result.columns = count / result.rows;
    result.codes.resize(count);
    const bool first = axis == 0;
    result.source = from.codes;
    result.transposed = !first;
    for (size_t i = 0; i < count; ++i) {
        const size_t to = first ? i : i % result.rows * result.columns + i / result.rows;
        result.codes[to] = static_cast<int8_t>(from.codeAt(i));
    }
    const bool centred = std::all_of(from.zeros.begin(), from.zeros.end(), [](float zero) { return zero == 0; });
    for (size_t r = 0; r < result.rows; ++r) {
        const float scale = from.scales[along ? r : 0], zero = from.zeros[along ? r : 0];
        result.scales.push_back(scale);
        if (!centred) result.lows.push_back((static_cast<float>(result.smallest()) - zero) * scale);
    }
    return result;
}

std::optional<std::vector<V>> movedCodes(const Node& node, const std::vector<V>& inputs) {
    static const std::set<std::string_view> kMoving{"Concat",   "DepthToSpace", "Expand",  "Flatten",   "Gather",
                                                    "Identity", "MaxPool",      "Reshape", "Slice",     "SpaceToDepth",
                                                    "Split",    "Squeeze",      "Tile",    "Transpose", "Unsqueeze"};
    if (!node.domain.empty() || !kMoving.count(node.type) || inputs.empty() || !inputs[0] || !inputs[0]->real)
        return std::nullopt;
    if (node.type == "MaxPool" && node.outputs.size() > 1) return std::nullopt;
    const size_t data = node.type == "Concat" ? inputs.size() : 1;
    std::vector<V> values = inputs;
    for (size_t i = 0; i < data; ++i) {
        if (!inputs[i] || !inputs[i]->real || inputs[i]->elem != inputs[0]->elem ||
            !(inputs[i]->real->steps == inputs[0]->real->steps))
            return std::nullopt;
        values[i] = inputs[i]->real;
    }
    return values;
}

}  // namespace mnnc::onnx
