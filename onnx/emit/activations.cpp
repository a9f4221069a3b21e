// Activations of ONNX.
#include "helpers.h"

namespace mnnc::onnx {
namespace {

void emitRelu(Call& c) {
    V x = c.in(0);
    if (!x->isFloat()) {
        c.out(binary(c, Binary::MAXIMUM, x, c.b.number(0, *x)));
        return;
    }
    c.out(c.b.op(OpType::ReLU, wire::ReluT(), {x}));
}

void emitLeakyRelu(Call& c) {
    c.out(leakyRelu(c, c.in(0), c.real("alpha", 0.01f)));
}

void emitPRelu(Call& c) {
    V x = c.in(0), slope = c.in(1);
    if (c.opset < 7 && slope->rank() == 1 && x->rank() > 2) slope = unsqueeze(c, slope, allAxes(x->rank() - 1, 1));
    if (slope->constant && x->isFloat() && slope->elementCount() == 1 && slope->rank() <= x->rank()) {
        c.out(leakyRelu(c, x, static_cast<float>(slope->array().realAt(0))));
        return;
    }
    // Arranges one slope for each channel.
    const size_t rank = slope->rank();
    const size_t behind = x->rank() - std::min<size_t>(x->rank(), 2);  // axes after the channel axis
    if (slope->constant && x->isFloat() && x->rank() >= 4 && x->rank() <= 5 && x->fixed(1) &&
        slope->elementCount() == x->dims[0][1] && rank > behind && rank <= x->rank() &&
        slope->dims[0][rank - 1 - behind] == x->dims[0][1]) {
        wire::PReluT table;
        table.slopeCount = static_cast<int32_t>(slope->elementCount());
        table.slope = slope->array().allFloats();
        c.out(fromPacked(c, c.b.op(OpType::PReLU, table, {toPacked(c, x)})));
        return;
    }
    V below = compare(c, Binary::LESS, x, c.b.number(0, *x));
    c.out(select(c, below, mul(c, x, slope), x));
}

V elu(Call& c, V x, float alpha) {
    wire::ELUT table;
    table.alpha = alpha;
    return c.b.op(OpType::ELU, table, {x});
}

void emitElu(Call& c) {
    c.out(elu(c, c.in(0), c.real("alpha", 1)));
}

void emitCelu(Call& c) {
    const float alpha = c.real("alpha", 1);
    V x = c.in(0);
    if (alpha == 1) {
        c.out(elu(c, x, 1));
        return;
    }
    V inner = elu(c, div(c, x, c.b.real(alpha)), 1);
    c.out(mul(c, inner, c.b.real(alpha)));
}

void emitSelu(Call& c) {
    wire::SeluT table;
    table.alpha = c.real("alpha", 1.67326319217681884765625f);
    table.scale = c.real("gamma", 1.05070102214813232421875f);
    c.out(c.b.op(OpType::Selu, table, {c.in(0)}));
}

void emitHardSigmoid(Call& c) {
    V x = mul(c, c.in(0), c.b.real(c.real("alpha", 0.2f)));
    c.out(clip(c, add(c, x, c.b.real(c.real("beta", 0.5f))), 0, 1));
}

void emitSoftsign(Call& c) {
    V x = c.in(0);
    V below = add(c, unary(c, Unary::ABS, x), c.b.real(1));
    c.out(div(c, x, below));
}

void emitMish(Call& c) {
    V x = c.in(0);
    c.out(mul(c, x, unary(c, Unary::TANH, unary(c, Unary::BNLL, x))));
}

void emitThresholdedRelu(Call& c) {
    V x = c.in(0);
    V above = compare(c, Binary::GREATER, x, c.b.real(c.real("alpha", 1)));
    c.out(select(c, above, x, c.b.real(0)));
}

void emitShrink(Call& c) {
    V x = c.in(0);
    const float bias = c.real("bias", 0), limit = c.real("lambd", 0.5f);
    const Elem elem = x->elem;
    if (!x->isFloat()) x = castTo(c, x, Elem::Float);
    V low = compare(c, Binary::LESS, x, c.b.real(-limit)), high = compare(c, Binary::GREATER, x, c.b.real(limit));
    V above = select(c, high, sub(c, x, c.b.real(bias)), c.b.real(0));
    V result = select(c, low, add(c, x, c.b.real(bias)), above);
    c.out(castTo(c, result, elem));
}

void emitGelu(Call& c) {
    const std::string approximate = c.text("approximate", "none");
    if (approximate != "none" && approximate != "tanh")
        refuse("the approximation '%s' is unknown", approximate.c_str());
    if (approximate == "tanh")
        c.out(geluByTanh(c, c.in(0)));
    else
        c.out(unary(c, Unary::GELU_STANDARD, c.in(0)));
}

void emitSwish(Call& c) {
    c.out(swish(c, c.in(0), c.real("alpha", 1)));
}

}  // namespace

constexpr Entry kActivationsEntries[] = {
    {"Celu", 12, kNewest, emitCelu, "ELU, or BinaryOp and ELU"},
    {"Elu", 1, kNewest, emitElu, "ELU"},
    {"Gelu", 20, kNewest, emitGelu, "UnaryOp; with tanh BinaryOp and UnaryOp"},
    {"HardSigmoid", 1, kNewest, emitHardSigmoid, "BinaryOp, ReLU6"},
    {"HardSwish", 14, kNewest, emitUnary<Unary::HARDSWISH>, "UnaryOp"},
    {"LeakyRelu", 1, kNewest, emitLeakyRelu, "ReLU"},
    {"Mish", 18, kNewest, emitMish, "UnaryOp, BinaryOp"},
    {"PRelu", 1, kNewest, emitPRelu, "ReLU, PReLU, or Select and BinaryOp"},
    {"Relu", 1, kNewest, emitRelu, "ReLU; BinaryOp for integers"},
    {"Selu", 1, kNewest, emitSelu, "Selu"},
    {"Shrink", 9, kNewest, emitShrink, "Select, BinaryOp"},
    {"Softplus", 1, kNewest, emitUnary<Unary::BNLL>, "UnaryOp"},
    {"Softsign", 1, kNewest, emitSoftsign, "UnaryOp, BinaryOp"},
    {"Swish", 24, kNewest, emitSwish, "UnaryOp, BinaryOp"},
    {"ThresholdedRelu", 10, kNewest, emitThresholdedRelu, "Select, BinaryOp"},
};
extern constinit const Family activationFamily = kActivationsEntries;

}  // namespace mnnc::onnx
