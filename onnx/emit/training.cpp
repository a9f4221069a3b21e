// Steps of optimisers, written as arithmetic.
#include "base/error.h"
#include "helpers.h"

namespace mnnc::onnx {
namespace {

// The inputs are R, T, and `kinds` lists of the same number of tensors.
size_t tensorsOf(Call& c, size_t kinds) {
    if (c.inputs.size() < 2 + kinds || (c.inputs.size() - 2) % kinds != 0)
        fail(Status::BadFormat, "it has %zu inputs; two, and %zu for each tensor, are needed", c.inputs.size(), kinds);
    return (c.inputs.size() - 2) / kinds;
}

// The gradient plus the gradient of the regularisation, norm_coefficient * x^2 / 2.
V regularised(Call& c, V x, V gradient) {
    return add(c, mul(c, x, c.b.real(c.real("norm_coefficient", 0))), gradient);
}

V isLater(Call& c) {
    V count = castTo(c, c.in(1), Elem::Float);
    return compare(c, Binary::GREATER, count, c.b.real(0));
}

void emitAdagrad(Call& c) {
    const size_t n = tensorsOf(c, 3);
    V count = castTo(c, c.in(1), Elem::Float), one = c.b.real(1);
    V rate = div(c, c.in(0), add(c, one, mul(c, count, c.b.real(c.real("decay_factor", 0)))));
    for (size_t i = 0; i < n; ++i) {
        V x = c.in(2 + i), g = regularised(c, x, c.in(2 + n + i));
        V squares = add(c, c.in(2 + 2 * n + i), mul(c, g, g));
        V root = add(c, unary(c, Unary::SQRT, squares), c.b.real(c.real("epsilon", 1e-6f)));
        c.out(i, sub(c, x, div(c, mul(c, rate, g), root)));
        c.out(n + i, squares);
    }
}

void emitAdam(Call& c) {
    const size_t n = tensorsOf(c, 4);
    const float alpha = c.real("alpha", 0.9f), beta = c.real("beta", 0.999f);
    V count = castTo(c, c.in(1), Elem::Float), one = c.b.real(1);
    V bias = unary(c, Unary::SQRT, sub(c, one, binary(c, Binary::POW, c.b.real(beta), count)));
    V adjusted = div(c, mul(c, c.in(0), bias), sub(c, one, binary(c, Binary::POW, c.b.real(alpha), count)));
    V rate = select(c, isLater(c), adjusted, c.in(0));
    for (size_t i = 0; i < n; ++i) {
        V x = c.in(2 + i), g = regularised(c, x, c.in(2 + n + i));
        V mean = add(c, mul(c, c.in(2 + 2 * n + i), c.b.real(alpha)), mul(c, g, c.b.real(1 - alpha)));
        V squares = add(c, mul(c, c.in(2 + 3 * n + i), c.b.real(beta)), mul(c, mul(c, g, g), c.b.real(1 - beta)));
        V root = add(c, unary(c, Unary::SQRT, squares), c.b.real(c.real("epsilon", 1e-6f)));
        V result = sub(c, x, div(c, mul(c, rate, mean), root));
        const float behind = c.real("norm_coefficient_post", 0);
        c.out(i, behind == 0 ? result : mul(c, result, c.b.real(1 - behind)));
        c.out(n + i, mean);
        c.out(2 * n + i, squares);
    }
}

void emitMomentum(Call& c) {
    const size_t n = tensorsOf(c, 3);
    const std::string mode = c.text("mode", "standard");
    V alpha = c.b.real(c.real("alpha", 0)), beta = select(c, isLater(c), c.b.real(c.real("beta", 0)), c.b.real(1));
    for (size_t i = 0; i < n; ++i) {
        V x = c.in(2 + i), g = regularised(c, x, c.in(2 + n + i));
        V momentum = add(c, mul(c, alpha, c.in(2 + 2 * n + i)), mul(c, beta, g));
        V step = mode == "nesterov" ? add(c, g, mul(c, alpha, momentum)) : momentum;
        c.out(i, sub(c, x, mul(c, c.in(0), step)));
        c.out(n + i, momentum);
    }
}

constexpr const char* kTraining = "ai.onnx.preview.training";
}  // namespace

constexpr Entry kTrainingEntries[] = {
    {"Adagrad", 1, kNewest, emitAdagrad, "BinaryOp, UnaryOp", "", kTraining},
    {"Adam", 1, kNewest, emitAdam, "BinaryOp, UnaryOp, Select", "", kTraining},
    {"Momentum", 1, kNewest, emitMomentum, "BinaryOp, Select", "", kTraining},
};
extern constinit const Family trainingFamily = kTrainingEntries;

}  // namespace mnnc::onnx
