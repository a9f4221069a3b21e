// Quantised tensors: codes with a scale and a zero point (codes.h).
#include "../importer.h"
#include "base/error.h"
#include "linear.h"

namespace mnnc::onnx {
namespace {

// The axis that the scales belong to. A single scale has none: onnxruntime writes an axis of 1 for it next to lists,
// and ignores it.
int64_t axisFor(Call& c, const Value& x, const Value& scale) {
    const bool single = scale.rank() == 0 || (scale.rank() == 1 && scale.fixed(0) && scale.extent(0) == 1);
    return single || x.rank() == 0 ? 0
                                   : axisOf(c.integer("axis", 1), std::max<size_t>(x.rank(), c.has("axis") ? 1 : 2));
}

void emitQuantize(Call& c) {
    V x = castTo(c, c.in(0), Elem::Float), scale = castTo(c, c.in(1), Elem::Float), zero = c.maybe(2);
    const int64_t axis = axisFor(c, *x, *scale), block = c.integer("block_size", 0);
    Elem to = zero ? zero->elem : static_cast<Elem>(c.integer("output_dtype", 2));
    if (to == Elem::Undefined) to = Elem::Uint8;
    if (stepsOf(scale, zero, to) && block == 0) {
        c.out(quantised(c, x, scale, zero, to, c.importer.readElsewhere(c.node.inputs[0])));
        return;
    }
    c.out(quantise(c, x, spread(c, scale, *x, axis, block), zero ? spread(c, zero, *x, axis, block) : nullptr, to));
}

void emitDequantize(Call& c) {
    V x = c.raw(0), zero = c.maybe(2);
    const int64_t block = c.integer("block_size", 0);
    if (x && block == 0) {
        c.out(realOf(c, x, c.in(1), zero, axisFor(c, *x, *c.in(1))));
        return;
    }
    x = c.in(0);
    V scale = castTo(c, c.in(1), Elem::Float);
    const int64_t axis = axisFor(c, *x, *scale);
    c.out(dequantise(c, x, spread(c, scale, *x, axis, block), zero ? spread(c, zero, *x, axis, block) : nullptr));
}

void emitDynamicQuantize(Call& c) {
    V x = c.in(0);
    const std::vector<int64_t> all = allAxes(x->rank());
    V zero = c.b.real(0);
    V high = binary(c, Binary::MAXIMUM, reduce(c, Reduction::MAXIMUM, x, all, false), zero);
    V low = binary(c, Binary::MINIMUM, reduce(c, Reduction::MINIMUM, x, all, false), zero);
    V scale = div(c, sub(c, high, low), c.b.real(255));
    // A tensor of zeros has no range; onnxruntime gives it the scale 1.
    V safe = select(c, compare(c, Binary::EQUAL, scale, zero), c.b.real(1), scale);
    V point = clip(c, unary(c, Unary::ROUND, div(c, unary(c, Unary::NEG, low), safe)), 0, 255);
    V codes = castTo(c, point, Elem::Uint8);
    c.out(0, quantise(c, x, safe, point, Elem::Uint8));
    c.out(1, safe);
    c.out(2, codes);
}

V required(Call& c, size_t i) {
    V value = c.raw(i);
    if (!value) fail(Status::BadFormat, "input %zu is missing", i);
    return value;
}

// Dequantises input `at`, with the two inputs after it. rows: their numbers, if several, belong to rows.
V valuesOf(Call& c, size_t at, bool rows) {
    V codes = required(c, at);
    const auto last = static_cast<int64_t>(codes->rank()) - 1;
    return realOf(c, codes, c.in(at + 1), c.maybe(at + 2),
                  rows ? std::max<int64_t>(last - 1, 0) : std::max<int64_t>(last, 0));
}

// Quantises the result with the scale in input `at` and the zero point after it.
void outAs(Call& c, V result, size_t at, Elem otherwise) {
    V zero = c.maybe(at + 1);
    c.out(quantised(c, result, castTo(c, c.in(at), Elem::Float), zero, zero ? zero->elem : otherwise, false));
}

void emitQLinearMatMul(Call& c) {
    V a = valuesOf(c, 0, true), b = valuesOf(c, 3, false);
    outAs(c, product(c, a, b), 6, c.raw(0)->elem);
}

// A Gemm over codes: A with scale and zero point, B with its own, the bias in steps of both scales times alpha, scale
// and zero point of the result.
void emitQGemm(Call& c) {
    const bool transA = c.integer("transA", 0) != 0, transB = c.integer("transB", 0) != 0;
    V a = valuesOf(c, 0, true), codes = required(c, 3), scale = castTo(c, c.in(4), Elem::Float), bias = c.maybe(6);
    V b = realOf(c, codes, scale, c.maybe(5), transB ? 0 : 1);
    const float alpha = c.real("alpha", 1);
    if (bias) {
        V both = mul(c, mul(c, castTo(c, c.in(1), Elem::Float), scale), c.b.real(alpha));
        bias = mul(c, castTo(c, bias, Elem::Float), both);
    }
    V y = gemm(c, a, b, bias, alpha, 1, transA, transB);
    if (!c.raw(7))
        c.out(y);
    else
        outAs(c, y, 7, c.raw(0)->elem);
}

template <Binary code>
void emitQLinearBinary(Call& c) {
    outAs(c, binary(c, code, valuesOf(c, 0, false), valuesOf(c, 3, false)), 6, c.raw(0)->elem);
}

// An operator over values; its result has the scale in input 3.
template <V (*compute)(Call& c, V x)>
void emitQLinearUnary(Call& c) {
    outAs(c, compute(c, valuesOf(c, 0, false)), 3, c.raw(0)->elem);
}

V sigmoidOf(Call& c, V x) {
    return unary(c, Unary::SIGMOID, x);
}

V leakyOf(Call& c, V x) {
    return leakyRelu(c, x, c.real("alpha", 0.01f));
}

V softmaxOf(Call& c, V x) {
    const int64_t axis = axisOf(c.integer("axis", -1), x->rank());
    if (c.integer("opset", 13) < 13 && axis + 1 != static_cast<int64_t>(x->rank()))
        refuse("it is a Softmax of before opset 13 over several axes");
    return softmax(c, x, axis);
}

// Uses the rule of AveragePool, whose attributes the node has.
V windowAverageOf(Call& c, V x) {
    if (c.integer("channels_last", 0) != 0) refuse("channels_last is not implemented");
    return byRule(c, "AveragePool", c.node, {x});
}

V averageOf(Call& c, V x) {
    if (c.integer("channels_last", 0) != 0) refuse("channels_last is not implemented");
    return reduce(c, Reduction::MEAN, x, allAxes(x->rank(), 2), true);
}

// Inputs: the scale and the zero point of the result, then three for each part.
void emitQLinearConcat(Call& c) {
    std::vector<V> parts;
    for (size_t i = 2; i + 2 < c.inputs.size(); i += 3) parts.push_back(valuesOf(c, i, false));
    if (parts.empty() || parts.size() * 3 + 2 != c.inputs.size())
        fail(Status::BadFormat, "it has %zu inputs; two, and three for each part, are needed", c.inputs.size());
    const int64_t axis = axisOf(c.integer("axis", 0), parts[0]->rank());
    V zero = c.in(1);
    c.out(quantised(c, concat(c, parts, axis), castTo(c, c.in(0), Elem::Float), zero, zero->elem, false));
}

// ONNX quantises rows of x at run time; here they stay floats.
void emitDynamicQuantizeMatMul(Call& c) {
    V b = required(c, 1);
    const auto last = static_cast<int64_t>(b->rank()) - 1;
    V y = product(c, c.in(0), realOf(c, b, c.in(2), c.maybe(3), std::max<int64_t>(last, 0)));
    c.importer.note("DynamicQuantizeMatMul computes with floats, which no run quantises.");
    c.out(c.maybe(4) ? add(c, y, c.in(4)) : y);
}

// A MatMul of codes, whose result has no codes: a, b, their scales, their zero points, a bias of floats.
void emitMatMulIntegerToFloat(Call& c) {
    const auto operand = [&](size_t i) {
        V codes = required(c, i);
        return realOf(c, codes, c.in(i + 2), c.maybe(i + 4),
                      std::max<int64_t>(static_cast<int64_t>(codes->rank()) - 1, 0));
    };
    V y = product(c, operand(0), operand(1));
    c.out(c.maybe(6) ? add(c, y, c.in(6)) : y);
}

void emitQLinearReduceMean(Call& c) {
    V x = valuesOf(c, 0, false);
    const std::optional<std::vector<int64_t>> axes = c.integers("axes");
    V y = reduce(c, Reduction::MEAN, x, axes ? axesOf(*axes, x->rank()) : allAxes(x->rank()),
                 c.integer("keepdims", 1) != 0);
    outAs(c, y, 3, c.raw(0)->elem);
}

void emitQLinearWhere(Call& c) {
    outAs(c, select(c, c.in(0), valuesOf(c, 1, false), valuesOf(c, 4, false)), 7, c.raw(1)->elem);
}

constexpr const char* kValues = "nothing, where the engine keeps the values as codes; Cast, BinaryOp";
}  // namespace

constexpr Entry kQuantisationEntries[] = {
    {"DequantizeLinear", 10, kNewest, emitDequantize, kValues,
     "Floats of 8 bits and less; codes of 4 bits that are fed."},
    {"DequantizeLinear", 1, kNewest, emitDequantize, "As DequantizeLinear of ONNX", "As there.", kMicrosoft},
    {"DynamicQuantizeLinear", 11, kNewest, emitDynamicQuantize, "Reduction, BinaryOp, UnaryOp, ReLU6, Cast"},
    {"DynamicQuantizeMatMul", 1, kNewest, emitDynamicQuantizeMatMul, "Convolution", "It computes with floats.",
     kMicrosoft},
    {"MatMulIntegerToFloat", 1, kNewest, emitMatMulIntegerToFloat, "Convolution, or MatMul", "", kMicrosoft},
    {"QGemm", 1, kNewest, emitQGemm, "Convolution, or MatMul", "", kMicrosoft},
    {"QLinearAdd", 1, kNewest, emitQLinearBinary<Binary::ADD>, "BinaryOp", "", kMicrosoft},
    {"QLinearAveragePool", 1, kNewest, emitQLinearUnary<windowAverageOf>, "As AveragePool.", "channels_last.",
     kMicrosoft},
    {"QLinearConcat", 1, kNewest, emitQLinearConcat, "Concat", "", kMicrosoft},
    {"QLinearGlobalAveragePool", 1, kNewest, emitQLinearUnary<averageOf>, "Reduction", "channels_last.", kMicrosoft},
    {"QLinearLeakyRelu", 1, kNewest, emitQLinearUnary<leakyOf>, "ReLU", "", kMicrosoft},
    {"QLinearMatMul", 10, kNewest, emitQLinearMatMul, "Convolution, or MatMul",
     "With two operands that are fed it computes with floats."},
    {"QLinearMul", 1, kNewest, emitQLinearBinary<Binary::MUL>, "BinaryOp", "", kMicrosoft},
    {"QLinearReduceMean", 1, kNewest, emitQLinearReduceMean, "Reduction", "", kMicrosoft},
    {"QLinearSigmoid", 1, kNewest, emitQLinearUnary<sigmoidOf>, "UnaryOp", "", kMicrosoft},
    {"QLinearSoftmax", 1, kNewest, emitQLinearUnary<softmaxOf>, "Softmax", "Several axes, as before opset 13.",
     kMicrosoft},
    {"QLinearWhere", 1, kNewest, emitQLinearWhere, "Select", "", kMicrosoft},
    {"QuantizeLinear", 10, kNewest, emitQuantize,
     "nothing, where the engine keeps the values as codes; BinaryOp, UnaryOp, ReLU6, Cast",
     "Floats of 8 bits and less; codes of 4 bits."},
    {"QuantizeLinear", 1, kNewest, emitQuantize, "As QuantizeLinear of ONNX", "As there.", kMicrosoft},
};
extern constinit const Family quantisationFamily = kQuantisationEntries;

}  // namespace mnnc::onnx
