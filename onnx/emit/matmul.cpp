// Matrix products.
#include "linear.h"

namespace mnnc::onnx {
namespace {

void emitMatMul(Call& c) {
    V a = c.in(0), b = c.in(1);
    const Elem elem = a->elem;
    if (!a->isFloat()) {
        // Exact while sums stay below 2^24, as for codes of 8 bits and less than 256 of them.
        a = castTo(c, a, Elem::Float);
        b = castTo(c, b, Elem::Float);
    }
    c.out(castTo(c, product(c, a, b), elem));
}

void emitGemm(Call& c) {
    V a = c.in(0), b = c.in(1), bias = c.maybe(2);
    const float alpha = c.real("alpha", 1), beta = c.real("beta", 1);
    const Elem elem = a->elem;
    if (!a->isFloat()) {
        a = castTo(c, a, Elem::Float);
        b = castTo(c, b, Elem::Float);
        if (bias) bias = castTo(c, bias, Elem::Float);
    }
    V result = gemm(c, a, b, bias, alpha, beta, c.integer("transA", 0) != 0, c.integer("transB", 0) != 0);
    c.out(castTo(c, result, elem));
}

void emitMatMulInteger(Call& c) {
    const auto centred = [&](size_t i, size_t zero, bool rows) {
        V x = castTo(c, c.in(i), Elem::Float);
        V point = c.maybe(zero);
        if (!point) return x;
        point = castTo(c, point, Elem::Float);
        if (rows && point->rank() == 1 && point->extent(0) > 1) point = unsqueeze(c, point, {1});
        return sub(c, x, point);
    };
    c.out(castTo(c, matmul(c, centred(0, 2, true), centred(1, 3, false)), Elem::Int32));
}

}  // namespace

constexpr Entry kMatmulEntries[] = {
    {"Gemm", 1, kNewest, emitGemm,
     "Convolution of 1x1 with constant matrices of 16 numbers and more; MatMul, BinaryOp"},
    {"MatMul", 1, kNewest, emitMatMul, "As Gemm", "Integers are multiplied as floats: exact below 2^24."},
    {"MatMulInteger", 10, kNewest, emitMatMulInteger, "Cast, BinaryOp, MatMul", "Exact below 2^24."},
};
extern constinit const Family matmulFamily = kMatmulEntries;

}  // namespace mnnc::onnx
