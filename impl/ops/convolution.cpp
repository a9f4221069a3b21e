// Convolution, ConvolutionDepthwise, Deconvolution, DeconvolutionDepthwise, ConvInt8, DepthwiseConvInt8: parameters,
// shape rules, cost.
#include "ops/convolution.h"

#include <cmath>

#include "mnn_generated.h"
#include "model/model.h"
#include "model/weight_form.h"
#include "model/weights.h"
#include "model/wire_access.h"
#include "ops/channel_first.h"
#include "ops/families.h"
#include "ops/op_helpers.h"
#include "ops/quantized.h"

namespace mnnc {

namespace {

std::vector<int> readPads(const flatbuffers::Vector<int32_t>* list, const char* what, const char* name) {
    if (!list || list->size() == 0) return {};
    if (list->size() != 2 && list->size() < 4)
        fail(Status::BadParameter, "%s: %s has %u values, 2 or 4 are needed", name, what, list->size());
    std::vector<int> values(list->begin(), list->end());
    values.resize(values.size() >= 4 ? 4 : 2);
    for (const int value : values) requireRange(value, -kMaxPad, kMaxPad, what, name);
    return values;
}

ConvInt8Info parseInt8(const wire::Convolution2D& table, OpType type, const char* name) {
    ConvInt8Info info;
    const WeightForm form = convWeightForm(table, name);
    info.codes = (form == WeightForm::Codes || form == WeightForm::RawInt8) && vectorSize(table.weight()) == 0 &&
                 convScalesPerOutput(table) <= 1;
    info.minima = info.codes && convHasMinima(table);
    if (const wire::IDSTQuan* quan = table.quanParameter()) {
        info.scaleIn = quan->scaleIn();
        info.scaleOut = quan->scaleOut();
    }
    bool results = true;
    if (const wire::QuantizedFloatParam* quan = table.symmetricQuan()) {
        info.folded = vectorSize(quan->scale()) > 0 && vectorSize(quan->bias()) > 0;
        info.floatOutput = quan->outputDataType() == wire::DataType::DT_FLOAT;
        info.zeroIn = quan->zeroPoint();
        info.zeroOut = quan->outputZeroPoint();
        info.min = quan->clampMin();
        info.max = quan->clampMax();
        results = info.min <= info.max && (info.floatOutput || quan->outputDataType() == wire::DataType::DT_INT8);
    }
    if (isInt8Convolution(type) && !results)
        fail(Status::BadParameter,
             "%s: int8 results are clamped to %d and %d and have type %d, an ascending range and int8 or float are "
             "needed",
             name, info.min, info.max, static_cast<int>(table.symmetricQuan()->outputDataType()));
    if (isInt8Convolution(type) && !info.codes)
        fail(Status::NotSupported, "%s: the weights of an int8 convolution are not codes with a scale per channel",
             name);
    info.codes &= results;
    return info;
}

}  // namespace

ParamsPtr parseConvolution(const wire::Op& op, const ParseContext& context) {
    const char* name = context.node.name.c_str();
    const wire::Convolution2D* table = op.main_as_Convolution2D();
    if (!table || !table->common()) fail(Status::BadParameter, "%s: the convolution parameters are missing", name);
    const wire::Convolution2DCommon& c = *table->common();
    auto p = std::make_shared<ConvParams>();
    p->kernelX = c.kernelX();
    p->kernelY = c.kernelY();
    p->strideX = c.strideX();
    p->strideY = c.strideY();
    p->dilateX = c.dilateX();
    p->dilateY = c.dilateY();
    requireRange(p->kernelX, 1, kMaxWindowExtent, "the kernel width", name);
    requireRange(p->kernelY, 1, kMaxWindowExtent, "the kernel height", name);
    requireRange(p->strideX, 1, kMaxWindowExtent, "the stride in x", name);
    requireRange(p->strideY, 1, kMaxWindowExtent, "the stride in y", name);
    requireRange(p->dilateX, 1, kMaxWindowExtent, "the dilation in x", name);
    requireRange(p->dilateY, 1, kMaxWindowExtent, "the dilation in y", name);
    requireRange(static_cast<int>(c.padMode()), 0, 2, "padMode", name);
    p->padMode = static_cast<ConvPad>(c.padMode());
    p->padX = c.padX();
    p->padY = c.padY();
    requireRange(p->padX, -kMaxPad, kMaxPad, "padX", name);
    requireRange(p->padY, -kMaxPad, kMaxPad, "padY", name);
    p->pads = readPads(c.pads(), "pads", name);
    if (c.outPads() && c.outPads()->size() > 0) {
        if (c.outPads()->size() < 2) fail(Status::BadParameter, "%s: outPads has 1 value, 2 are needed", name);
        p->outPads.assign(c.outPads()->begin(), c.outPads()->begin() + 2);
        for (const int value : p->outPads) requireRange(value, -kMaxPad, kMaxPad, "outPads", name);
    }
    p->group = c.group() == 0 ? 1 : c.group();
    p->inputCount = c.inputCount();
    p->outputCount = c.outputCount();
    requireRange(p->group, 1, INT32_MAX, "group", name);
    requireRange(p->inputCount, 0, INT32_MAX, "inputCount", name);
    requireRange(p->outputCount, 0, INT32_MAX, "outputCount", name);
    if (c.relu() || c.relu6()) p->epilogue.lo = 0;
    if (c.relu6()) p->epilogue.hi = 6;
    p->hasOutputShape = isDeconvolution(context.node.type) && c.hasOutputShape();

    const int tensors = p->tensorInputs(context.node.inputs.size());
    if (tensors < 1 || tensors > 3)
        fail(Status::BadParameter, "%s: %zu inputs do not fit a convolution%s", name, context.node.inputs.size(),
             p->hasOutputShape ? " with an output shape" : "");
    if (tensors == 1 && p->outputCount == 0 && !isDepthwise(context.node.type))
        fail(Status::BadParameter, "%s: outputCount is 0 and the weights are not tensors", name);
    p->model = &context.model;
    p->op = &op;
    p->table = table;
    if (tensors == 1 && convWeightForm(*table, name) != WeightForm::None)
        p->storedWeights = convWeightCount(*table, WeightFiles(&context.model.bytes(), nullptr), name);
    if (tensors == 1 && !isDeconvolution(context.node.type)) p->int8 = parseInt8(*table, context.node.type, name);
    return p;
}

namespace {

// Height and width from an output-shape input, [n, h, w, c] in every format.
const int64_t* givenOutputSize(const ShapeContext& context, const ConvParams& params, int64_t (&size)[2]) {
    if (!params.hasOutputShape) return nullptr;
    const std::vector<int64_t> list = context.ints(context.inputCount() - 1);
    if (list.size() < 3)
        fail(Status::ComputeSizeError, "%s: the output shape has %zu values, 4 are needed", context.name(),
             list.size());
    size[0] = list[1];
    size[1] = list[2];
    return size[0] > 0 && size[1] > 0 ? size : nullptr;
}

ConvWindow windowOf(const ShapeContext& context, const int64_t* outputSize) {
    const ConvParams& params = context.node.paramsAs<ConvParams>();
    const int tensors = params.tensorInputs(context.inputs.size());
    const Tensor* weight = tensors > 1 ? &context.in(1) : nullptr;
    return convWindow(context.node.type, params, channelFirstShape(context.in(0), context.name()), weight, outputSize,
                      context.name());
}

// A float operator over an int8 tensor computes with the dequantised values; planning makes it an int8 one where the
// result has a scale, too.
bool readsCodes(const ShapeContext& context) {
    return context.in(0).type == DataType::Int8 && !isInt8Convolution(context.node.type);
}

// Returns the scale of an input for which readsCodes() is true.
TensorQuant meaningOf(const ShapeContext& context) {
    const Tensor& x = context.in(0);
    if (x.quant.known()) return x.quant;
    const ConvInt8Info& info = context.node.paramsAs<ConvParams>().int8;
    if (info.scaleIn > 0 && std::isfinite(info.scaleIn))
        return {info.scaleIn, static_cast<float>(info.zeroIn), -128, 127};
    fail(Status::NotSupported,
         "%s: its input '%s' is int8, and the file gives no scale for it (converters lose the scale of int8 inputs)",
         context.name(), x.name.c_str());
}

void convolutionShape(const ShapeContext& context) {
    const ConvParams& params = context.node.paramsAs<ConvParams>();
    int64_t size[2] = {0, 0};
    const ConvWindow w = windowOf(context, givenOutputSize(context, params, size));
    const int tensors = params.tensorInputs(context.inputs.size());
    const bool int8 = isInt8Convolution(context.node.type);
    const DataType needed = int8 ? DataType::Int8 : DataType::Float32;
    const bool codes = readsCodes(context);
    if (codes) meaningOf(context);
    for (int i = codes ? 1 : 0; i < tensors; ++i)
        if (context.in(i).type != needed)
            fail(Status::BadType, "%s: input %d is %s, %s is needed", context.name(), i,
                 dataTypeName(context.in(i).type), dataTypeName(needed));
    if (tensors > 2 && context.in(2).elements() != w.oc)
        fail(Status::ComputeSizeError, "%s: the bias has %lld values, one for each of %lld output channels is needed",
             context.name(), asLong(context.in(2).elements()), asLong(w.oc));
    Shape out = channelFirstShape(context.in(0), context.name());
    out[1] = w.oc;
    if (out.rank() > 2) out[2] = w.oh;
    if (out.rank() > 3) out[3] = w.ow;
    const DataType type = int8 && !params.int8.floatOutput ? DataType::Int8 : DataType::Float32;
    context.set(0, shapeInFormat(out, context.in(0).format), type, context.in(0).format);
}

Tensor* asFloat(const OpContext& context) {
    const Tensor& x = context.in(0);
    const TensorQuant quant = meaningOf(context);
    Tensor* values = context.geometry.temporary(x.shape, DataType::Float32, x.format);
    values->quant = quant;
    auto params = std::make_shared<QuantCastParams>();
    params->scale = {quant.scale};
    params->zero = {quant.zero};
    ValueCommand command;
    command.type = OpType::Int8ToFloat;
    command.name = context.node.name + "/values";
    command.params = std::move(params);
    command.inputs = {context.inputs[0]};
    command.outputs = {values};
    context.geometry.emit(std::move(command));
    return values;
}

// The command loses the output-shape input: the output's extents replace it.
void convolutionGeometry(const OpContext& context) {
    ValueCommand command = context.command();
    const ConvParams& params = context.node.paramsAs<ConvParams>();
    if (params.hasOutputShape) command.inputs.pop_back();
    if (readsCodes(context)) command.inputs[0] = asFloat(context);
    command.epilogue = params.epilogue;
    emitChannelFirst(context, std::move(command));
}

uint32_t outputShapeInput(const Node& node) {
    const ConvParams& params = node.paramsAs<ConvParams>();
    return params.hasOutputShape ? 1u << (node.inputs.size() - 1) : 0u;
}

double convolutionFlops(const ShapeContext& context) {
    const Shape out = channelFirstShape(context.out(0), context.name());
    const int64_t size[2] = {out.at(2), out.at(3)};
    const ConvWindow w = windowOf(context, size);
    const bool transposed = isDeconvolution(context.node.type);
    const double pixels = transposed ? static_cast<double>(w.ih) * static_cast<double>(w.iw)
                                     : static_cast<double>(w.oh) * static_cast<double>(w.ow);
    return 2.0 * static_cast<double>(w.batch) * pixels * static_cast<double>(w.weightCount);
}

constexpr OpDef convolutionDef(OpType type) {
    return {.type = type,
            .parse = parseConvolution,
            .shape = convolutionShape,
            .geometry = convolutionGeometry,
            .valueInputs = outputShapeInput,
            .shapeOnlyInputs = outputShapeInput,
            .flops = convolutionFlops};
}

}  // namespace

namespace {

// Returns the values of all parts one after another; `read` returns the values of one part.
template <typename Read>
FloatView joinParts(const ConvParams& params, int64_t outputChannels, const char* name, const Read& read) {
    const auto count = static_cast<int64_t>(params.parts.size());
    if (outputChannels % count != 0)
        fail(Status::BadWeights, "%s: %lld output channels cannot be divided into %lld groups", name,
             asLong(outputChannels), asLong(count));
    std::vector<float> all;
    for (const auto& part : params.parts) {
        const FloatView values = read(*part, outputChannels / count);
        all.insert(all.end(), values.span().begin(), values.span().end());
    }
    return FloatView::own(std::move(all));
}

}  // namespace

int64_t ConvParams::modelBytes() const {
    if (!parts.empty()) return parts.front()->modelBytes();
    if (!model) return 0;
    const ExternalFile* const beside = files().external;
    return static_cast<int64_t>(model->byteSize()) + (beside ? beside->size() : 0);
}

WeightFiles ConvParams::files() const {
    if (!model) return nullptr;
    return {&model->bytes(), vectorSize(table->external()) > 1 ? model->externalFiles().forOp(*op) : nullptr};
}

FloatView ConvParams::weights(int64_t expectedCount, int64_t outputChannels, const char* name) const {
    if (!parts.empty()) {
        const auto count = static_cast<int64_t>(parts.size());
        const int64_t each = expectedCount < 0 ? -1 : expectedCount / count;
        FloatView all = joinParts(*this, outputChannels, name, [&](const ConvParams& part, int64_t channels) {
            return part.weights(each, channels, name);
        });
        if (expectedCount >= 0 && static_cast<int64_t>(all.size()) != expectedCount)
            fail(Status::BadWeights, "%s: the operator has %zu weights, %lld are needed", name, all.size(),
                 asLong(expectedCount));
        return all;
    }
    if (model) model->readingWeights(std::max<int64_t>(expectedCount, 1) * static_cast<int64_t>(sizeof(float)));
    return decodeConvWeights(*table, expectedCount, outputChannels, files(), name);
}

FloatSource ConvParams::weightSource(int64_t expectedCount, int64_t outputChannels, const char* name) const {
    if (!parts.empty()) return FloatSource(weights(expectedCount, outputChannels, name));
    if (model) model->readingWeights(std::max<int64_t>(expectedCount, 1));
    return convWeightSource(*table, expectedCount, outputChannels, files(), name);
}

std::optional<QuantizedForm> ConvParams::quantizedForm(int64_t expectedCount, int64_t outputChannels,
                                                       const char* name) const {
    if (!parts.empty()) return std::nullopt;
    return mnnc::quantizedForm(*table, expectedCount, outputChannels, files(), name);
}

QuantizedWeights ConvParams::quantizedWeights(int64_t expectedCount, int64_t outputChannels, const char* name) const {
    if (model) model->readingWeights(std::max<int64_t>(expectedCount, 1));
    return decodeQuantizedWeights(*table, expectedCount, outputChannels, files(), name);
}

QuantizedSource ConvParams::quantizedSource(int64_t expectedCount, int64_t outputChannels, const char* name) const {
    if (model) model->readingWeights(std::max<int64_t>(expectedCount, 1));
    return {*table, expectedCount, outputChannels, files(), name};
}

FloatView ConvParams::bias(int64_t outputChannels, const char* name) const {
    if (!parts.empty())
        return joinParts(*this, outputChannels, name,
                         [&](const ConvParams& part, int64_t channels) { return part.bias(channels, name); });
    return convBias(*table, outputChannels, files(), name);
}

FoldedScales ConvParams::foldedScales(int64_t outputChannels, const char* name) const {
    const wire::QuantizedFloatParam& quan = *table->symmetricQuan();
    if (quan.bias()->size() != outputChannels || quan.scale()->size() != outputChannels)
        fail(Status::BadWeights, "%s: the operator has %u int8 biases and %u scales, %lld of each are needed", name,
             quan.bias()->size(), quan.scale()->size(), asLong(outputChannels));
    return {{quan.bias()->begin(), quan.bias()->end()}, {quan.scale()->begin(), quan.scale()->end()}};
}

constexpr OpDef kConvolutionOps[] = {
    convolutionDef(OpType::Convolution),   convolutionDef(OpType::ConvolutionDepthwise),
    convolutionDef(OpType::Deconvolution), convolutionDef(OpType::DeconvolutionDepthwise),
    convolutionDef(OpType::ConvInt8),      convolutionDef(OpType::DepthwiseConvInt8),
};
extern constinit const OpFamily convolutionOps = kConvolutionOps;

}  // namespace mnnc
