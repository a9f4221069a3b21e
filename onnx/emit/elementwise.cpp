// Element-wise operators of ONNX: arithmetic, comparison, logic, types.
#include <cmath>
#include <limits>

#include "base/error.h"
#include "helpers.h"

namespace mnnc::onnx {
namespace {

// And, Or and Xor of bits take all unsigned integers of 32 bits; other operators refuse those above the signed ones.
V bitsOf(Call& c, size_t i) {
    V value = c.in(i);
    if (!value->constant || value->elem != Elem::Uint32 || value->array().bits.empty()) return value;
    return c.b.constant(intArray(value->array().dims, value->array().bits), Elem::Uint32);
}

template <Binary code>
void emitBitwise(Call& c) {
    c.out(c.b.alias(binary(c, code, bitsOf(c, 0), bitsOf(c, 1)), c.in(0)->elem));
}

// Before opset 7 the second operand was broadcast only at the node's request, from an axis on.
V second(Call& c, size_t i = 1) {
    V b = c.in(i);
    if (c.opset >= 7 || c.integer("broadcast", 0) == 0 || !c.has("axis")) return b;
    const int64_t axis = axisOf(c.integer("axis", 0), c.in(0)->rank());
    const int64_t behind = static_cast<int64_t>(c.in(0)->rank()) - axis - static_cast<int64_t>(b->rank());
    std::vector<int64_t> axes;
    for (int64_t k = 0; k < behind; ++k) axes.push_back(static_cast<int64_t>(b->rank()) + k);
    return unsqueeze(c, b, axes);
}

template <Binary code>
void emitBinary(Call& c) {
    c.out(c.b.alias(binary(c, code, c.in(0), second(c)), c.in(0)->elem));
}

// The result is of bools.
template <Binary code>
void emitCompare(Call& c) {
    c.out(compare(c, code, c.in(0), second(c)));
}

void emitPow(Call& c) {
    V base = c.in(0), exponent = second(c);
    const Elem elem = base->elem;
    if (base->isFloat()) {
        if (!exponent->isFloat()) exponent = castTo(c, exponent, Elem::Float);
        c.out(binary(c, Binary::POW, base, exponent));
        return;
    }
    if (exponent->isFloat()) {
        c.out(castTo(c, binary(c, Binary::POW, castTo(c, base, Elem::Float), exponent), elem));
        return;
    }
    if (exponent->type != base->type) exponent = castTo(c, exponent, elem);
    c.out(c.b.alias(binary(c, Binary::POW, base, exponent), elem));
}

void emitMod(Call& c) {
    V a = c.in(0), b = c.in(1);
    // In files of ONNX the codes have the sign of the divisor (MOD) or of the dividend (FLOORMOD).
    const bool truncates = c.integer("fmod", 0) != 0;
    if (a->isFloat() && !truncates) {
        // The remainder of a division by infinity must not change, so the divisor is added only where the signs differ.
        V rest = binary(c, Binary::FLOORMOD, a, b);
        V signs = mul(c, unary(c, Unary::SIGN, rest), unary(c, Unary::SIGN, b));
        V differ = compare(c, Binary::LESS, signs, c.b.real(0));
        c.out(select(c, differ, add(c, rest, b), rest));
        return;
    }
    const Binary code = truncates ? Binary::FLOORMOD : Binary::MOD;
    c.out(c.b.alias(binary(c, code, a, b), a->elem));
}

template <Binary code>
void emitChain(Call& c) {
    V result = c.in(0);
    for (size_t i = 1; i < c.inputs.size(); ++i) result = binary(c, code, result, c.in(i));
    c.out(c.b.alias(result, c.in(0)->elem));
}

void emitMean(Call& c) {
    V result = c.in(0);
    for (size_t i = 1; i < c.inputs.size(); ++i) result = add(c, result, c.in(i));
    if (c.inputs.size() > 1) result = div(c, result, c.b.number(static_cast<double>(c.inputs.size()), *result));
    c.out(result);
}

void emitNot(Call& c) {
    c.out(compare(c, Binary::EQUAL, c.in(0), c.b.number(0, *c.in(0))));
}

void emitBitwiseNot(Call& c) {
    V x = c.in(0);
    const double ones = x->elem == Elem::Uint16 ? 65535 : -1;
    c.out(c.b.alias(binary(c, Binary::BITWISE_XOR, x, c.b.number(ones, *x)), x->elem));
}

void emitBitShift(Call& c) {
    const std::string direction = c.text("direction", "");
    if (direction != "LEFT" && direction != "RIGHT")
        fail(Status::BadFormat, "the direction '%s' is neither LEFT nor RIGHT", direction.c_str());
    V result = binary(c, direction == "LEFT" ? Binary::LEFTSHIFT : Binary::RIGHTSHIFT, c.in(0), c.in(1));
    if (c.in(0)->elem == Elem::Uint16) result = binary(c, Binary::BITWISE_AND, result, c.b.number(65535, *result));
    c.out(c.b.alias(result, c.in(0)->elem));
}

void emitIsNan(Call& c) {
    V same = compare(c, Binary::EQUAL, c.in(0), c.in(0));
    c.out(compare(c, Binary::EQUAL, same, c.b.scalar(0)));
}

void emitIsInf(Call& c) {
    const bool negative = c.integer("detect_negative", 1) != 0;
    const bool positive = c.integer("detect_positive", 1) != 0;
    V x = c.in(0);
    const float infinity = std::numeric_limits<float>::infinity();
    if (negative && positive) {
        c.out(compare(c, Binary::EQUAL, unary(c, Unary::ABS, x), c.b.real(infinity)));
        return;
    }
    // Where neither infinity is requested no element may match, and none equals NaN.
    const float wanted = positive ? infinity : negative ? -infinity : std::nanf("");
    c.out(compare(c, Binary::EQUAL, x, c.b.real(wanted)));
}

void emitWhere(Call& c) {
    c.out(select(c, c.in(0), c.in(1), c.in(2)));
}

void emitCast(Call& c) {
    c.out(castTo(c, c.in(0), static_cast<Elem>(c.integer("to", 0))));
}

void emitCastLike(Call& c) {
    c.out(castTo(c, c.in(0), c.in(1)->elem));
}

void emitIdentity(Call& c) {
    c.out(c.in(0));
}

void emitClip(Call& c) {
    V x = c.in(0);
    V low = nullptr, high = nullptr;
    c.refuseAttributes({"min", "max"}, 11);
    if (c.opset < 11) {
        if (c.has("min")) low = c.b.real(c.real("min", 0));
        if (c.has("max")) high = c.b.real(c.real("max", 0));
    } else {
        low = c.maybe(1);
        high = c.maybe(2);
    }
    if (!low && !high) {
        c.out(x);
        return;
    }
    const bool plain = x->isFloat() && (!low || low->constant) && (!high || high->constant);
    if (plain) {
        const float largest = std::numeric_limits<float>::max();
        c.out(clip(c, x, low ? static_cast<float>(low->array().realAt(0)) : -largest,
                   high ? static_cast<float>(high->array().realAt(0)) : largest));
        return;
    }
    const Elem elem = x->elem;
    if (low) x = binary(c, Binary::MAXIMUM, x, low);
    if (high) x = binary(c, Binary::MINIMUM, x, high);
    c.out(c.b.alias(x, elem));
}

}  // namespace

constexpr Entry kElementwiseEntries[] = {
    {"Abs", 1, kNewest, emitUnary<Unary::ABS>, "UnaryOp"},
    {"Acos", 7, kNewest, emitUnary<Unary::ACOS>, "UnaryOp"},
    {"Acosh", 9, kNewest, emitUnary<Unary::ACOSH>, "UnaryOp"},
    {"Add", 1, kNewest, emitBinary<Binary::ADD>, "BinaryOp"},
    {"And", 1, kNewest, emitCompare<Binary::BITWISE_AND>, "BinaryOp"},
    {"Asin", 7, kNewest, emitUnary<Unary::ASIN>, "UnaryOp"},
    {"Asinh", 9, kNewest, emitUnary<Unary::ASINH>, "UnaryOp"},
    {"Atan", 7, kNewest, emitUnary<Unary::ATAN>, "UnaryOp"},
    {"Atanh", 9, kNewest, emitUnary<Unary::ATANH>, "UnaryOp"},
    {"BitShift", 11, kNewest, emitBitShift, "BinaryOp", "Unsigned integers of 32 bits count as signed."},
    {"BitwiseAnd", 18, kNewest, emitBitwise<Binary::BITWISE_AND>, "BinaryOp",
     "Unsigned integers of 32 bits count as signed."},
    {"BitwiseNot", 18, kNewest, emitBitwiseNot, "BinaryOp"},
    {"BitwiseOr", 18, kNewest, emitBitwise<Binary::BITWISE_OR>, "BinaryOp",
     "Unsigned integers of 32 bits count as signed."},
    {"BitwiseXor", 18, kNewest, emitBitwise<Binary::BITWISE_XOR>, "BinaryOp",
     "Unsigned integers of 32 bits count as signed."},
    {"Cast", 6, kNewest, emitCast, "Cast", "No text, no floats of 8 bits and less. Halves and doubles become floats."},
    {"CastLike", 15, kNewest, emitCastLike, "Cast", "As Cast."},
    {"Ceil", 1, kNewest, emitUnary<Unary::CEIL>, "UnaryOp"},
    {"Clip", 1, kNewest, emitClip, "ReLU6, or BinaryOp where a bound is fed or an integer"},
    {"Cos", 7, kNewest, emitUnary<Unary::COS>, "UnaryOp"},
    {"Cosh", 9, kNewest, emitUnary<Unary::COSH>, "UnaryOp"},
    {"Div", 1, kNewest, emitBinary<Binary::REALDIV>, "BinaryOp"},
    {"Equal", 1, kNewest, emitCompare<Binary::EQUAL>, "BinaryOp"},
    {"Erf", 9, kNewest, emitUnary<Unary::ERF>, "UnaryOp"},
    {"Exp", 1, kNewest, emitUnary<Unary::EXP>, "UnaryOp"},
    {"Floor", 1, kNewest, emitUnary<Unary::FLOOR>, "UnaryOp"},
    {"Greater", 1, kNewest, emitCompare<Binary::GREATER>, "BinaryOp"},
    {"GreaterOrEqual", 12, kNewest, emitCompare<Binary::GREATER_EQUAL>, "BinaryOp"},
    {"Identity", 1, kNewest, emitIdentity, "nothing"},
    {"IsInf", 10, kNewest, emitIsInf, "UnaryOp, BinaryOp"},
    {"IsNaN", 9, kNewest, emitIsNan, "BinaryOp"},
    {"Less", 1, kNewest, emitCompare<Binary::LESS>, "BinaryOp"},
    {"LessOrEqual", 12, kNewest, emitCompare<Binary::LESS_EQUAL>, "BinaryOp"},
    {"Log", 1, kNewest, emitUnary<Unary::LOG>, "UnaryOp"},
    {"Max", 1, kNewest, emitChain<Binary::MAXIMUM>, "BinaryOp"},
    {"Mean", 1, kNewest, emitMean, "BinaryOp"},
    {"Min", 1, kNewest, emitChain<Binary::MINIMUM>, "BinaryOp"},
    {"Mod", 10, kNewest, emitMod, "BinaryOp"},
    {"Mul", 1, kNewest, emitBinary<Binary::MUL>, "BinaryOp"},
    {"Neg", 1, kNewest, emitUnary<Unary::NEG>, "UnaryOp"},
    {"Not", 1, kNewest, emitNot, "BinaryOp"},
    {"Or", 1, kNewest, emitCompare<Binary::LOGICALOR>, "BinaryOp"},
    {"Pow", 1, kNewest, emitPow, "BinaryOp"},
    {"Reciprocal", 1, kNewest, emitUnary<Unary::RECIPROCAL>, "UnaryOp"},
    {"Round", 11, kNewest, emitUnary<Unary::ROUND>, "UnaryOp"},
    {"Sigmoid", 1, kNewest, emitUnary<Unary::SIGMOID>, "UnaryOp"},
    {"Sign", 9, kNewest, emitUnary<Unary::SIGN>, "UnaryOp"},
    {"Sin", 7, kNewest, emitUnary<Unary::SIN>, "UnaryOp"},
    {"Sinh", 9, kNewest, emitUnary<Unary::SINH>, "UnaryOp"},
    {"Sqrt", 1, kNewest, emitUnary<Unary::SQRT>, "UnaryOp"},
    {"Sub", 1, kNewest, emitBinary<Binary::SUB>, "BinaryOp"},
    {"Sum", 1, kNewest, emitChain<Binary::ADD>, "BinaryOp"},
    {"Tan", 7, kNewest, emitUnary<Unary::TAN>, "UnaryOp"},
    {"Tanh", 1, kNewest, emitUnary<Unary::TANH>, "UnaryOp"},
    {"Where", 9, kNewest, emitWhere, "Select"},
    {"Xor", 1, kNewest, emitCompare<Binary::LOGICALXOR>, "BinaryOp"},
};
extern constinit const Family elementwiseFamily = kElementwiseEntries;

}  // namespace mnnc::onnx
