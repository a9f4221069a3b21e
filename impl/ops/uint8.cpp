// Operators over unsigned 8-bit codes that older TFLite files become: TfQuantizedConv2D, QuantizedDepthwiseConv2D,
// QuantizedAdd, QuantizedAvgPool, QuantizedMaxPool, QuantizedLogistic, QuantizedSoftmax. Their arithmetic is that of TFLite's
// reference kernels.
#include "ops/uint8.h"

#include <cmath>

#include "mnn_generated.h"
#include "ops/channel_first.h"
#include "ops/families.h"
#include "ops/op_helpers.h"
#include "ops/unary.h"

namespace mnnc {

namespace {

constexpr int kMaxExtent = 1 << 20;

struct Codes {
    double scale = 0;
    int32_t zero = 0;
};

Codes codesOf(const wire::QuantizedParam* table, const char* what, const char* name) {
    if (!table) fail(Status::BadParameter, "op '%s': its %s is missing", name, what);
    const float scale = table->scale();
    if (!(scale > 0) || !std::isfinite(scale) || table->zeroPoint() < 0 || table->zeroPoint() > 255)
        fail(Status::BadParameter, "op '%s': its %s has scale %g and zero point %d", name, what,
             static_cast<double>(scale), table->zeroPoint());
    return {static_cast<double>(scale), table->zeroPoint()};
}

int extentOf(int value, int least, const char* what, const char* name) {
    if (value < least || value > kMaxExtent)
        fail(Status::BadParameter, "op '%s': %s is %d, allowed are %d to %d", name, what, value, least,
             kMaxExtent);
    return value;
}

FixedFactor factorOf(double factor, const char* name) {
    if (!(factor > 0) || factor > 1 << 30)
        fail(Status::BadParameter, "op '%s': its scales give a factor of %g", name, factor);
    return FixedFactor::of(factor);
}

// The codes that a fused activation leaves (CalculateActivationRangeQuantized of TFLite).
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
            fail(Status::NotSupported, "op '%s': the fused activation %d", name,
                 static_cast<int>(activation));
    }
}

CodeRange statedRange(int low, int high, const CodeRange& otherwise, const char* name) {
    if (low == 0 && high == 0) return otherwise;
    if (low < 0 || high > 255 || low > high)
        fail(Status::BadParameter, "op '%s': results between %d and %d", name, low, high);
    return {low, high};
}

void requireCodes(const ShapeContext& context) {
    for (int i = 0; i < context.inputCount(); ++i)
        if (context.in(i).type != DataType::UInt8)
            fail(Status::BadType, "op '%s': input %d must be uint8, it is %s", context.name(), i,
                 dataTypeName(context.in(i).type));
}

void fillWindow(const wire::Convolution2DCommon& c, ConvParams& p, const char* name) {
    p.kernelX = extentOf(c.kernelX(), 1, "the kernel width", name);
    p.kernelY = extentOf(c.kernelY(), 1, "the kernel height", name);
    p.strideX = extentOf(c.strideX(), 1, "the stride in x", name);
    p.strideY = extentOf(c.strideY(), 1, "the stride in y", name);
    p.dilateX = extentOf(c.dilateX(), 1, "the dilation in x", name);
    p.dilateY = extentOf(c.dilateY(), 1, "the dilation in y", name);
    p.padX = extentOf(c.padX(), 0, "padX", name);
    p.padY = extentOf(c.padY(), 0, "padY", name);
    const int mode = static_cast<int>(c.padMode());
    if (mode < 0 || mode > 2) fail(Status::BadParameter, "op '%s': padMode %d is unknown", name, mode);
    p.padMode = static_cast<ConvPad>(mode);
    if (c.group() > 1 || c.outputCount() < 1)
        fail(Status::BadParameter, "op '%s': %d groups and %d output channels", name, c.group(),
             c.outputCount());
    p.outputCount = c.outputCount();
}

ParamsPtr parseConv(const wire::Op& op, const ParseContext& context) {
    const char* name = context.node.name.c_str();
    const auto* table = op.main_as_TfQuantizedConv2D();
    if (!table || !table->common())
        fail(Status::BadParameter, "op '%s': the convolution parameters are missing", name);
    auto p = std::make_shared<CodeConvParams>();
    p->depthwise = context.node.type == OpType::QuantizedDepthwiseConv2D;
    fillWindow(*table->common(), p->window, name);
    if (p->depthwise) p->depthMultiplier = extentOf(table->depthMultiplier(), 1, "depthMultiplier", name);
    if (table->weight()) p->weights.assign(table->weight()->begin(), table->weight()->end());
    if (table->bias()) p->bias.assign(table->bias()->begin(), table->bias()->end());
    const auto channels = static_cast<size_t>(p->window.outputCount);
    if (p->weights.size() < channels || (!p->bias.empty() && p->bias.size() != channels))
        fail(Status::BadWeights, "op '%s': %zu weights and %zu biases for %zu output channels", name,
             p->weights.size(), p->bias.size(), channels);
    p->bias.resize(channels, 0);
    const Codes in = codesOf(table->inputQuantizedParam(), "inputQuantizedParam", name);
    const Codes weight = codesOf(table->filterQuantizedParam(), "filterQuantizedParam", name);
    const Codes out = codesOf(table->outputQuantizedParam(), "outputQuantizedParam", name);
    p->zeroIn = in.zero;
    p->zeroWeight = weight.zero;
    p->zeroOut = out.zero;
    p->factor = factorOf(in.scale * weight.scale / out.scale, name);
    if (table->multiplier() != 0) {
        if (table->multiplier() < 0 || std::abs(int64_t{table->shift()}) > FixedFactor::kMostShift)
            fail(Status::BadParameter, "op '%s': a multiplier of %d with a shift of %d", name,
                 table->multiplier(), table->shift());
        p->factor = {table->multiplier(), -table->shift()};
    }
    p->range =
        statedRange(table->outMin(), table->outMax(), rangeOf(table->activationType(), out, name), name);
    return p;
}

void shapeConv(const ShapeContext& context) {
    requireCodes(context);
    const auto& p = context.node.paramsAs<CodeConvParams>();
    Shape shape = channelFirstShape(context.in(0), context.name());
    if (shape.rank() != 4)
        fail(Status::ComputeSizeError, "op '%s': an input of rank 4 is needed, this one is %s",
             context.name(), context.in(0).shape.text().c_str());
    const ConvWindow w = convWindow(OpType::Convolution, p.window, shape, nullptr, nullptr, context.name());
    const int64_t perGroup = p.depthwise ? 1 : w.ic;
    const int64_t count = checkedMul(checkedMul(w.kh * w.kw, perGroup, "weights"), w.oc, "weights");
    if (count != static_cast<int64_t>(p.weights.size()) ||
        (p.depthwise && w.oc != checkedMul(w.ic, p.depthMultiplier, "channels")))
        fail(Status::ComputeSizeError, "op '%s': %zu weights for %lld to %lld channels and %lld taps",
             context.name(), p.weights.size(), asLong(w.ic), asLong(w.oc), asLong(w.kh * w.kw));
    shape[1] = w.oc;
    shape[2] = w.oh;
    shape[3] = w.ow;
    context.set(0, shapeInFormat(shape, context.in(0).format), DataType::UInt8, context.in(0).format);
}

void channelFirst(const OpContext& context) {
    emitChannelFirst(context, context.command());
}

template <typename Table>
ParamsPtr parsePoolTable(const Table* table, const char* name, bool average) {
    if (!table) fail(Status::BadParameter, "op '%s': the pooling parameters are missing", name);
    auto p = std::make_shared<CodePoolParams>();
    p->window.average = average;
    p->window.count = PoolCount::ExcludePadding;
    p->window.ceil = false;
    const int pad = static_cast<int>(table->padType());
    if (pad < 0 || pad > 2) fail(Status::BadParameter, "op '%s': padType %d is unknown", name, pad);
    p->window.padType = static_cast<PoolPad>(pad);
    p->window.kernel = {extentOf(table->kernelY(), 1, "the kernel height", name),
                        extentOf(table->kernelX(), 1, "the kernel width", name)};
    p->window.stride = {extentOf(table->strideY(), 1, "the stride in y", name),
                        extentOf(table->strideX(), 1, "the stride in x", name)};
    p->window.pad = {extentOf(table->padY(), 0, "padY", name), extentOf(table->padX(), 0, "padX", name)};
    p->range = statedRange(table->outputActivationMin(), table->outputActivationMax(), {}, name);
    return p;
}

ParamsPtr parsePool(const wire::Op& op, const ParseContext& context) {
    const char* name = context.node.name.c_str();
    if (context.node.type == OpType::QuantizedAvgPool)
        return parsePoolTable(op.main_as_QuantizedAvgPool(), name, true);
    return parsePoolTable(op.main_as_QuantizedMaxPool(), name, false);
}

void shapePool(const ShapeContext& context) {
    requireCodes(context);
    Shape shape = channelFirstShape(context.in(0), context.name());
    if (shape.rank() != 4)
        fail(Status::ComputeSizeError, "op '%s': an input of rank 4 is needed, this one is %s",
             context.name(), context.in(0).shape.text().c_str());
    const PoolWindow w = poolWindow(context.node.paramsAs<CodePoolParams>().window, shape, context.name());
    shape[2] = w.axis[1].out;
    shape[3] = w.axis[2].out;
    context.set(0, shapeInFormat(shape, context.in(0).format), DataType::UInt8, context.in(0).format);
}

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
    if (!(context.in(0).shape == context.in(1).shape))
        fail(Status::NotSupported, "op '%s': inputs %s and %s; equal shapes are needed", context.name(),
             context.in(0).shape.text().c_str(), context.in(1).shape.text().c_str());
    context.set(0, context.in(0).shape);
}

ParamsPtr parseLogistic(const wire::Op& op, const ParseContext& context) {
    const char* name = context.node.name.c_str();
    const auto* table = op.main_as_QuantizedLogistic();
    if (!table) fail(Status::BadParameter, "op '%s' carries no QuantizedLogistic table", name);
    // A float operator where the file has float tensors between its codes; then the table is not read.
    const auto* in = table->inputQuantizedParam();
    auto p = std::make_shared<CodeTableParams>();
    if (!in || in->zeroPoint() < 0) return p;
    const Codes codes = codesOf(in, "inputQuantizedParam", name);
    for (int q = 0; q < 256; ++q) {
        const double value = 1 / (1 + std::exp(-(q - codes.zero) * codes.scale));
        p->results[static_cast<size_t>(q)] = static_cast<uint8_t>(std::min(std::round(value * 256), 255.0));
    }
    return p;
}

void shapeLogistic(const ShapeContext& context) {
    if (context.in(0).type != DataType::Float32) requireCodes(context);
    context.set(0, context.in(0).shape);
}

void lowerLogistic(const OpContext& context) {
    if (context.in(0).type != DataType::Float32) return context.geometry.emit(context.command());
    auto params = std::make_shared<UnaryParams>();
    params->code = kUnarySigmoid;
    Command command = context.command();
    command.type = OpType::UnaryOp;
    command.params = std::move(params);
    context.geometry.emit(std::move(command));
}

ParamsPtr parseSoftmax(const wire::Op& op, const ParseContext& context) {
    const char* name = context.node.name.c_str();
    const auto* table = op.main_as_QuantizedSoftmax();
    if (!table) fail(Status::BadParameter, "op '%s' carries no QuantizedSoftmax table", name);
    const double step = static_cast<double>(table->beta()) * static_cast<double>(table->inputScale());
    if (!(step >= 0) || !std::isfinite(step))
        fail(Status::BadParameter, "op '%s': beta is %g and inputScale %g", name,
             static_cast<double>(table->beta()), static_cast<double>(table->inputScale()));
    auto p = std::make_shared<CodeSoftmaxParams>();
    for (size_t d = 0; d < 256; ++d)
        p->powers[d] = static_cast<float>(std::exp(-static_cast<double>(d) * step));
    return p;
}

void shapeSoftmax(const ShapeContext& context) {
    requireCodes(context);
    if (context.in(0).shape.rank() < 1)
        fail(Status::ComputeSizeError, "op '%s': its input has no axis", context.name());
    context.set(0, context.in(0).shape);
}

constexpr OpDef convDef(OpType type) {
    return {.type = type, .parse = parseConv, .shape = shapeConv, .geometry = channelFirst};
}

constexpr OpDef poolDef(OpType type) {
    return {.type = type, .parse = parsePool, .shape = shapePool, .geometry = channelFirst};
}

}  // namespace

OpFamily uint8Ops() {
    static constexpr OpDef kOps[] = {
        convDef(OpType::TfQuantizedConv2D),
        convDef(OpType::QuantizedDepthwiseConv2D),
        poolDef(OpType::QuantizedAvgPool),
        poolDef(OpType::QuantizedMaxPool),
        {.type = OpType::QuantizedAdd, .parse = parseAdd, .shape = shapeAdd},
        {.type = OpType::QuantizedLogistic,
         .parse = parseLogistic,
         .shape = shapeLogistic,
         .geometry = lowerLogistic},
        {.type = OpType::QuantizedSoftmax, .parse = parseSoftmax, .shape = shapeSoftmax},
    };
    return kOps;
}

}  // namespace mnnc
