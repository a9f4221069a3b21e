// Quantised tensors: codes with a scale and a zero point. Everything here computes with floats.
#include "base/error.h"
#include "helpers.h"

namespace mnnc::onnx {
namespace {

// A scale or a zero point, as it spreads over x: one for all, one for each position of an axis, or one for each block of
// an axis.
V spread(Call& c, V value, const Value& x, int64_t axis, int64_t block) {
    if (value->rank() == 0 || (value->rank() == 1 && value->fixed(0) && value->dims[0][0] == 1))
        return value->rank() == 0 ? value : reshape(c, value, {});
    if (block == 0) {
        if (value->rank() != 1) refuse("a scale of rank %zu", value->rank());
        return unsqueeze(c, value, allAxes(x.rank() - static_cast<size_t>(axis), 1));
    }
    // Each number is repeated for the elements of its block; a last block may be shorter.
    const int64_t extent = x.extent(static_cast<size_t>(axis));
    std::vector<int32_t> of;
    for (int64_t i = 0; i < extent; ++i) of.push_back(static_cast<int32_t>(i / block));
    return gatherAxis(c, value, c.b.constant(intArray({extent}, of), Elem::Int64), axis);
}

struct Codes {
    double low = 0, high = 255;
};
Codes codesOf(Elem elem) {
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
            refuse("codes of %s", elemName(elem));
    }
}

// round(x / scale) + zero, cut to the codes of the type.
V quantise(Call& c, V x, V scale, V zero, Elem to) {
    const Codes codes = codesOf(to);
    V y = unary(c, Unary::ROUND, binary(c, Binary::REALDIV, x, scale));
    if (zero) y = binary(c, Binary::ADD, y, castTo(c, zero, Elem::Float));
    y = clip(c, y, static_cast<float>(codes.low), static_cast<float>(codes.high));
    return castTo(c, y, to);
}

V dequantise(Call& c, V x, V scale, V zero) {
    V y = castTo(c, x, Elem::Float);
    if (zero) y = binary(c, Binary::SUB, y, castTo(c, zero, Elem::Float));
    return binary(c, Binary::MUL, y, scale);
}

int64_t axisFor(Call& c, const Value& x) {
    return x.rank() == 0 ? 0
                         : axisOf(c.integer("axis", 1), std::max<size_t>(x.rank(), c.has("axis") ? 1 : 2));
}

void emitQuantize(Call& c) {
    V x = castTo(c, c.in(0), Elem::Float), scale = castTo(c, c.in(1), Elem::Float), zero = c.maybe(2);
    const int64_t axis = axisFor(c, *x), block = c.integer("block_size", 0);
    Elem to = zero ? zero->elem : static_cast<Elem>(c.integer("output_dtype", 2));
    if (to == Elem::Undefined) to = Elem::Uint8;
    c.out(quantise(c, x, spread(c, scale, *x, axis, block), zero ? spread(c, zero, *x, axis, block) : nullptr,
                   to));
}

void emitDequantize(Call& c) {
    V x = c.in(0), scale = castTo(c, c.in(1), Elem::Float), zero = c.maybe(2);
    const int64_t axis = axisFor(c, *x), block = c.integer("block_size", 0);
    c.out(dequantise(c, x, spread(c, scale, *x, axis, block),
                     zero ? spread(c, zero, *x, axis, block) : nullptr));
}

void emitDynamicQuantize(Call& c) {
    V x = c.in(0);
    const std::vector<int64_t> all = allAxes(x->rank());
    V zero = c.b.real(0);
    V most = binary(c, Binary::MAXIMUM, reduce(c, Reduction::MAXIMUM, x, all, false), zero);
    V least = binary(c, Binary::MINIMUM, reduce(c, Reduction::MINIMUM, x, all, false), zero);
    V scale = binary(c, Binary::REALDIV, binary(c, Binary::SUB, most, least), c.b.real(255));
    // Zeros alone have no range.
    V safe = select(c, compare(c, Binary::EQUAL, scale, zero), c.b.real(1), scale);
    V point = clip(c, unary(c, Unary::ROUND, binary(c, Binary::REALDIV, unary(c, Unary::NEG, least), safe)),
                   0, 255);
    V codes = castTo(c, point, Elem::Uint8);
    c.out(0, quantise(c, x, safe, point, Elem::Uint8));
    c.out(1, scale);
    c.out(2, codes);
}

// One number, or one for each row (of A) or column (of B).
V operand(Call& c, size_t value, size_t scale, size_t zero, bool rows) {
    V x = c.in(value), s = castTo(c, c.in(scale), Elem::Float), z = c.maybe(zero);
    const auto shaped = [&](V number) {
        if (number->rank() == 1 && number->fixed(0) && number->dims[0][0] == 1) return reshape(c, number, {});
        return rows && number->rank() == 1 ? unsqueeze(c, number, {1}) : number;
    };
    return dequantise(c, x, shaped(s), z ? shaped(z) : nullptr);
}

void emitQLinearMatMul(Call& c) {
    V result = matmul(c, operand(c, 0, 1, 2, true), operand(c, 3, 4, 5, false));
    V scale = castTo(c, c.in(6), Elem::Float), zero = c.in(7);
    if (scale->rank() == 1 && scale->extent(0) == 1) scale = reshape(c, scale, {});
    if (zero->rank() == 1 && zero->extent(0) == 1) zero = reshape(c, zero, {});
    c.out(quantise(c, result, scale, zero, zero->elem));
}

template <Binary code>
void emitQLinearBinary(Call& c) {
    V result = binary(c, code, operand(c, 0, 1, 2, false), operand(c, 3, 4, 5, false));
    V zero = c.maybe(7);
    c.out(quantise(c, result, castTo(c, c.in(6), Elem::Float), zero, zero ? zero->elem : c.in(0)->elem));
}

constexpr Entry kEntries[] = {
    {"DequantizeLinear", 10, kNewest, emitDequantize, "Cast, BinaryOp",
     "Floats of 8 bits and less; codes of 4 bits that are fed."},
    {"DynamicQuantizeLinear", 11, kNewest, emitDynamicQuantize, "Reduction, BinaryOp, UnaryOp, ReLU6, Cast"},
    {"QLinearAdd", 1, kNewest, emitQLinearBinary<Binary::ADD>, "Cast, BinaryOp, UnaryOp, ReLU6", "",
     "com.microsoft"},
    {"QLinearMatMul", 10, kNewest, emitQLinearMatMul, "Cast, BinaryOp, MatMul, UnaryOp, ReLU6",
     "It computes with floats."},
    {"QLinearMul", 1, kNewest, emitQLinearBinary<Binary::MUL>, "Cast, BinaryOp, UnaryOp, ReLU6", "",
     "com.microsoft"},
    {"QuantizeLinear", 10, kNewest, emitQuantize, "BinaryOp, UnaryOp, ReLU6, Cast",
     "Floats of 8 bits and less; codes of 4 bits."},
};

}  // namespace

Family quantisationFamily() {
    return kEntries;
}

}  // namespace mnnc::onnx
