// Windows over unsigned 8-bit codes in older TFLite files: TfQuantizedConv2D, QuantizedDepthwiseConv2D,
// QuantizedAvgPool, QuantizedMaxPool. Their arithmetic is that of TFLite's reference kernels.
#include "ops/channel_first.h"
#include "ops/families.h"
#include "ops/op_helpers.h"
#include "ops/uint8_codes.h"

namespace mnnc {

namespace {

int extentOf(int value, int minimum, const char* what, const char* name) {
    if (value < minimum || value > kMaxWindowExtent)
        fail(Status::BadParameter, "op '%s': %s is %d, allowed are %d to %d", name, what, value, minimum,
             kMaxWindowExtent);
    return value;
}

CodeRange statedRange(int low, int high, const CodeRange& otherwise, const char* name) {
    if (low == 0 && high == 0) return otherwise;
    if (low < 0 || high > 255 || low > high)
        fail(Status::BadParameter, "op '%s': results between %d and %d are not a range of codes", name, low, high);
    return {low, high};
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
        fail(Status::BadParameter,
             "op '%s' has %d groups and %d output channels, one group and at least one channel are needed", name,
             c.group(), c.outputCount());
    p.outputCount = c.outputCount();
}

ParamsPtr parseConv(const wire::Op& op, const ParseContext& context) {
    const char* name = context.node.name.c_str();
    const auto* table = op.main_as_TfQuantizedConv2D();
    if (!table || !table->common()) fail(Status::BadParameter, "op '%s': the convolution parameters are missing", name);
    auto p = std::make_shared<CodeConvParams>();
    p->depthwise = context.node.type == OpType::QuantizedDepthwiseConv2D;
    fillWindow(*table->common(), p->window, name);
    if (p->depthwise) p->depthMultiplier = extentOf(table->depthMultiplier(), 1, "depthMultiplier", name);
    if (table->weight()) p->weights.assign(table->weight()->begin(), table->weight()->end());
    if (table->bias()) p->bias.assign(table->bias()->begin(), table->bias()->end());
    const auto channels = static_cast<size_t>(p->window.outputCount);
    if (p->weights.size() < channels || (!p->bias.empty() && p->bias.size() != channels))
        fail(Status::BadWeights, "op '%s': %zu weights and %zu biases do not fit %zu output channels", name,
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
        if (table->multiplier() < 0 || std::abs(int64_t{table->shift()}) > FixedFactor::kMaxShift)
            fail(Status::BadParameter, "op '%s': a multiplier of %d with a shift of %d is not possible", name,
                 table->multiplier(), table->shift());
        p->factor = {table->multiplier(), -table->shift()};
    }
    p->range = statedRange(table->outMin(), table->outMax(), rangeOf(table->activationType(), out, name), name);
    return p;
}

void shapeConv(const ShapeContext& context) {
    requireCodes(context);
    const auto& p = context.node.paramsAs<CodeConvParams>();
    Shape shape = channelFirstShape(context.in(0), context.name());
    if (shape.rank() != 4)
        fail(Status::ComputeSizeError, "op '%s': an input of rank 4 is needed, this one is %s", context.name(),
             context.in(0).shape.text().c_str());
    const ConvWindow w = convWindow(OpType::Convolution, p.window, shape, nullptr, nullptr, context.name());
    const int64_t perGroup = p.depthwise ? 1 : w.ic;
    const int64_t count = checkedMul(checkedMul(w.kh * w.kw, perGroup, "weights"), w.oc, "weights");
    if (count != static_cast<int64_t>(p.weights.size()) ||
        (p.depthwise && w.oc != checkedMul(w.ic, p.depthMultiplier, "channels")))
        fail(Status::ComputeSizeError, "op '%s': %zu weights do not fit %lld to %lld channels and %lld taps",
             context.name(), p.weights.size(), asLong(w.ic), asLong(w.oc), asLong(w.kh * w.kw));
    shape[1] = w.oc;
    shape[2] = w.oh;
    shape[3] = w.ow;
    context.set(0, shapeInFormat(shape, context.in(0).format), DataType::UInt8, context.in(0).format);
}

void geometryChannelFirst(const OpContext& context) {
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
    if (context.node.type == OpType::QuantizedAvgPool) return parsePoolTable(op.main_as_QuantizedAvgPool(), name, true);
    return parsePoolTable(op.main_as_QuantizedMaxPool(), name, false);
}

void shapePool(const ShapeContext& context) {
    requireCodes(context);
    Shape shape = channelFirstShape(context.in(0), context.name());
    if (shape.rank() != 4)
        fail(Status::ComputeSizeError, "op '%s': an input of rank 4 is needed, this one is %s", context.name(),
             context.in(0).shape.text().c_str());
    const PoolWindow w = poolWindow(context.node.paramsAs<CodePoolParams>().window, shape, context.name());
    shape[2] = w.axis[1].out;
    shape[3] = w.axis[2].out;
    context.set(0, shapeInFormat(shape, context.in(0).format), DataType::UInt8, context.in(0).format);
}

constexpr OpDef convDef(OpType type) {
    return {.type = type, .parse = parseConv, .shape = shapeConv, .geometry = geometryChannelFirst};
}

constexpr OpDef poolDef(OpType type) {
    return {.type = type, .parse = parsePool, .shape = shapePool, .geometry = geometryChannelFirst};
}

}  // namespace

constexpr OpDef kUint8Ops[] = {
    convDef(OpType::TfQuantizedConv2D),
    convDef(OpType::QuantizedDepthwiseConv2D),
    poolDef(OpType::QuantizedAvgPool),
    poolDef(OpType::QuantizedMaxPool),
};
extern constinit const OpFamily uint8Ops = kUint8Ops;

}  // namespace mnnc
