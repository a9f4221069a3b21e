// Operators without windows over unsigned 8-bit codes in older TFLite files: QuantizedAdd, QuantizedLogistic,
// QuantizedSoftmax. Their arithmetic is that of TFLite's reference kernels.
#include <cmath>

#include "ops/families.h"
#include "ops/op_helpers.h"
#include "ops/uint8_codes.h"
#include "ops/unary.h"
#include "tensor/region_builder.h"

namespace mnnc {

Codes codesOf(const wire::QuantizedParam* table, const char* what, const char* name) {
    if (!table) fail(Status::BadParameter, "op '%s': its %s is missing", name, what);
    const float scale = table->scale();
    if (!(scale > 0) || !std::isfinite(scale) || table->zeroPoint() < 0 || table->zeroPoint() > 255)
        fail(Status::BadParameter,
             "op '%s': its %s has scale %g and zero point %d, a positive scale and a zero point of 0 to 255 are needed",
             name, what, static_cast<double>(scale), table->zeroPoint());
    return {static_cast<double>(scale), table->zeroPoint()};
}

FixedFactor factorOf(double factor, const char* name) {
    if (!(factor > 0) || factor > 1 << 30)
        fail(Status::BadParameter, "op '%s': its scales give a factor of %g, it must be above 0 and at most 2^30", name,
             factor);
    return FixedFactor::of(factor);
}

CodeRange rangeOf(wire::FusedActivation activation, const Codes& out, const char* name) {
    const auto code = [&](double real) {
        return static_cast<int32_t>(std::clamp(std::round(real / out.scale) + out.zero, 0.0, 255.0));
    };
    switch (activation) {
        case wire::FusedActivation::kTfLiteActNone:
            return {};
        case wire::FusedActivation::kTfLiteActRelu:
            return {code(0), 255};
        case wire::FusedActivation::kTfLiteActRelu1:
            return {code(-1), code(1)};
        case wire::FusedActivation::kTfLiteActRelu6:
            return {code(0), code(6)};
        default:
            fail(Status::NotSupported, "op '%s': the fused activation %d is not supported", name,
                 static_cast<int>(activation));
    }
}

void requireCodes(const ShapeContext& context) {
    for (int i = 0; i < context.inputCount(); ++i)
        if (context.in(i).type != DataType::UInt8)
            fail(Status::BadType, "op '%s': input %d must be uint8, it is %s", context.name(), i,
                 dataTypeName(context.in(i).type));
}

namespace {

ParamsPtr parseAdd(const wire::Op& op, const ParseContext& context) {
    const char* name = context.node.name.c_str();
    const auto* table = op.main_as_QuantizedAdd();
    if (!table) fail(Status::BadParameter, "op '%s' carries no QuantizedAdd table", name);
    const Codes in[2] = {codesOf(table->input1QuantizedParam(), "input1QuantizedParam", name),
                         codesOf(table->input2QuantizedParam(), "input2QuantizedParam", name)};
    const Codes out = codesOf(table->outputQuantizedParam(), "outputQuantizedParam", name);
    auto p = std::make_shared<CodeAddParams>();
    const double twice = 2 * std::max(in[0].scale, in[1].scale);
    for (int i = 0; i < 2; ++i) {
        p->zero[i] = in[i].zero;
        p->factor[i] = factorOf(in[i].scale / twice, name);
    }
    p->zeroOut = out.zero;
    p->factorOut = factorOf(twice / ((1 << kCodeAddBits) * out.scale), name);
    p->range = rangeOf(table->activationType(), out, name);
    return p;
}

void shapeAdd(const ShapeContext& context) {
    requireCodes(context);
    const Shape& a = context.in(0).shape;
    const Shape& b = context.in(1).shape;
    if (a.rank() != b.rank() && context.in(0).format != Format::NHWC)
        fail(Status::NotSupported,
             "op '%s': inputs %s and %s of different ranks are supported with their channels last only", context.name(),
             a.text().c_str(), b.text().c_str());
    const Shape shape = broadcastShapes(a, b, context.name());
    shape.elements();
    context.set(0, shape);
}

// Repeats an operand that is smaller than the result.
Tensor* repeated(const OpContext& context, Tensor* operand) {
    const Shape &in = operand->shape, &out = context.out(0).shape;
    if (in == out) return operand;
    Tensor* const copy = context.geometry.temporary(out, operand->type, context.out(0).format);
    const Strides src = rowMajorStrides(in), dst = rowMajorStrides(out);
    std::vector<BoxAxis> axes;
    for (int i = 0, missing = out.rank() - in.rank(); i < out.rank(); ++i) {
        const bool same = i < missing || in[i - missing] == 1;
        axes.push_back({out[i], same ? 0 : src[static_cast<size_t>(i - missing)], dst[static_cast<size_t>(i)]});
    }
    RegionBuilder builder(context.name());
    builder.box(0, 0, 0, axes);
    context.geometry.raster(copy, {operand}, builder.take(), context.node.name + "/repeated");
    return copy;
}

void geometryAdd(const OpContext& context) {
    ValueCommand command = context.command();
    for (Tensor*& operand : command.inputs) operand = repeated(context, operand);
    context.geometry.emit(std::move(command));
}

ParamsPtr parseLogistic(const wire::Op& op, const ParseContext& context) {
    const char* name = context.node.name.c_str();
    const auto* table = op.main_as_QuantizedLogistic();
    if (!table) fail(Status::BadParameter, "op '%s' carries no QuantizedLogistic table", name);
    // Between float tensors the operator computes in floats and needs no table of codes.
    const auto* in = table->inputQuantizedParam();
    auto p = std::make_shared<CodeTableParams>();
    if (!in || in->zeroPoint() < 0) return p;
    const Codes codes = codesOf(in, "inputQuantizedParam", name);
    for (int q = 0; q < 256; ++q) {
        const double value = 1 / (1 + std::exp(-(q - codes.zero) * codes.scale));
        p->results[static_cast<size_t>(q)] = static_cast<uint8_t>(std::min(std::round(value * 256), 255.0));
    }
    p->known = true;
    return p;
}

void shapeLogistic(const ShapeContext& context) {
    if (context.in(0).type != DataType::Float32) {
        requireCodes(context);
        if (!context.node.paramsAs<CodeTableParams>().known)
            fail(Status::BadParameter, "op '%s' has codes as input, but no inputQuantizedParam with a zero point",
                 context.name());
    }
    context.set(0, context.in(0).shape);
}

void lowerLogistic(const OpContext& context) {
    if (context.in(0).type != DataType::Float32) return context.geometry.emit(context.command());
    auto params = std::make_shared<UnaryParams>();
    params->code = kUnarySigmoid;
    ValueCommand command = context.command();
    command.type = OpType::UnaryOp;
    command.params = std::move(params);
    context.geometry.emit(std::move(command));
}

ParamsPtr parseCodeSoftmax(const wire::Op& op, const ParseContext& context) {
    const char* name = context.node.name.c_str();
    const auto* table = op.main_as_QuantizedSoftmax();
    if (!table) fail(Status::BadParameter, "op '%s' carries no QuantizedSoftmax table", name);
    const double step = static_cast<double>(table->beta()) * static_cast<double>(table->inputScale());
    if (!(step >= 0) || !std::isfinite(step))
        fail(Status::BadParameter,
             "op '%s': beta is %g and inputScale %g, their product must be finite and not negative", name,
             static_cast<double>(table->beta()), static_cast<double>(table->inputScale()));
    auto p = std::make_shared<CodeSoftmaxParams>();
    for (size_t d = 0; d < 256; ++d) p->powers[d] = static_cast<float>(std::exp(-static_cast<double>(d) * step));
    return p;
}

void shapeCodeSoftmax(const ShapeContext& context) {
    requireCodes(context);
    if (context.in(0).shape.rank() < 1)
        fail(Status::ComputeSizeError, "op '%s': its input has no axis", context.name());
    context.set(0, context.in(0).shape);
}

}  // namespace

constexpr OpDef kUint8PointwiseOps[] = {
    {.type = OpType::QuantizedAdd, .parse = parseAdd, .shape = shapeAdd, .geometry = geometryAdd},
    {.type = OpType::QuantizedLogistic, .parse = parseLogistic, .shape = shapeLogistic, .geometry = lowerLogistic},
    {.type = OpType::QuantizedSoftmax, .parse = parseCodeSoftmax, .shape = shapeCodeSoftmax},
};
extern constinit const OpFamily uint8PointwiseOps = kUint8PointwiseOps;

}  // namespace mnnc
