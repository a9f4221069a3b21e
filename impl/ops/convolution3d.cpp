// Convolution3D and ConvTranspose3D: parameters, shape rules, cost.
#include "ops/convolution3d.h"

#include <algorithm>
#include <limits>

#include "mnn_generated.h"
#include "model/model.h"
#include "model/table_arrays.h"
#include "model/wire_access.h"
#include "ops/channel_first.h"
#include "ops/families.h"
#include "ops/op_helpers.h"

namespace mnnc {

namespace {

constexpr const char* kAxisNames[] = {"depth", "height", "width"};

// Three values, or `missing` where the list is absent.
std::array<int, 3> threeOf(const flatbuffers::Vector<int32_t>* list, int missing, int low, int high, const char* what,
                           const char* name) {
    std::array<int, 3> values{missing, missing, missing};
    if (!list || list->size() == 0) return values;
    if (list->size() < 3) fail(Status::BadParameter, "%s: %s has %u values, 3 are needed", name, what, list->size());
    for (size_t i = 0; i < 3; ++i) {
        values[i] = list->Get(static_cast<uint32_t>(i));
        requireRange(values[i], low, high, what, name);
    }
    return values;
}

void readVolumePads(const flatbuffers::Vector<int32_t>* list, Conv3dParams& p, const char* name) {
    if (!list || list->size() == 0) return;
    if (list->size() != 3 && list->size() < 6)
        fail(Status::BadParameter, "%s: pads has %u values, 3 or 6 are needed", name, list->size());
    p.statesPads = true;
    for (uint32_t i = 0; i < 3; ++i) {
        p.begin[i] = list->Get(i);
        p.end[i] = list->size() >= 6 ? list->Get(i + 3) : p.begin[i];
        requireRange(p.begin[i], -kMaxPad, kMaxPad, "a pad", name);
        requireRange(p.end[i], -kMaxPad, kMaxPad, "a pad", name);
    }
}

ParamsPtr parseConvolution3d(const wire::Op& op, const ParseContext& context) {
    const char* name = context.node.name.c_str();
    const wire::Convolution3D* table = op.main_as_Convolution3D();
    if (!table || !table->common()) fail(Status::BadParameter, "%s: the convolution parameters are missing", name);
    const wire::Convolution3DCommon& c = *table->common();
    auto p = std::make_shared<Conv3dParams>();
    if (vectorSize(c.kernels()) == 0) fail(Status::BadParameter, "%s: kernels is missing", name);
    p->kernel = threeOf(c.kernels(), 1, 1, kMaxWindowExtent, "kernels", name);
    p->stride = threeOf(c.strides(), 1, 1, kMaxWindowExtent, "strides", name);
    p->dilate = threeOf(c.dilates(), 1, 1, kMaxWindowExtent, "dilates", name);
    p->extra = threeOf(c.outPads(), 0, -kMaxPad, kMaxPad, "outPads", name);
    readVolumePads(c.pads(), *p, name);
    requireRange(static_cast<int>(c.padMode()), 0, 2, "padMode", name);
    p->padMode = static_cast<ConvPad>(c.padMode());
    p->transposed = context.node.type == OpType::ConvTranspose3D;
    if (c.hasOutputShape())
        fail(Status::NotSupported, "a 3-D convolution that is given its output shape is not implemented");
    p->group = c.group() == 0 ? 1 : c.group();
    p->inputCount = c.inputCount();
    p->outputCount = c.outputCount();
    requireRange(p->group, 1, INT32_MAX, "group", name);
    requireRange(p->inputCount, 0, INT32_MAX, "inputCount", name);
    requireRange(p->outputCount, 1, INT32_MAX, "outputCount", name);
    p->relu = c.relu();
    p->relu6 = c.relu6();
    p->model = &context.model;
    p->op = &op;
    p->table = table;
    if (vectorSize(table->weight()) > 0) p->storedWeights = vectorSize(table->weight());
    return p;
}

struct Axis {
    int64_t in, kernel, stride, dilate, begin, end, extra;
    int64_t effective() const { return (kernel - 1) * dilate + 1; }
};

int64_t outputExtent(const Axis& a, ConvPad mode, bool transposed) {
    if (transposed) {
        const int64_t whole = checkedMul(a.in, a.stride, "convolution extent");
        return mode == ConvPad::Same ? whole : whole - a.stride + a.effective() - a.begin - a.end + a.extra;
    }
    if (mode == ConvPad::Same) return ceilDiv(a.in, a.stride);
    const int64_t padded = a.in + a.begin + a.end;
    return padded < a.effective() ? 0 : (padded - a.effective()) / a.stride + 1;
}

// Returns the begin pad of SAME as frameworks define it: the smaller half comes first.
int64_t sameBegin(const Axis& a, int64_t out, bool transposed) {
    const int64_t total =
        transposed ? (a.in - 1) * a.stride + a.effective() - out : (out - 1) * a.stride + a.effective() - a.in;
    return std::max<int64_t>(total, 0) / 2;
}

int64_t groupsOf(const Conv3dParams& p, int64_t ic, const char* name) {
    const int64_t stated = p.inputCount;
    if (stated == 0 || stated == ic) return p.group;
    if (checkedMul(stated, p.group, name) != ic)
        fail(Status::ComputeSizeError, "%s: the input has %lld channels, the weights are for %lld in %d groups", name,
             asLong(ic), asLong(stated), p.group);
    return p.transposed ? p.group : ic / stated;
}

void convolution3dShape(const ShapeContext& context) {
    const Tensor& x = context.in(0);
    if (x.type != DataType::Float32)
        fail(Status::NotSupported, "%s: a 3-D convolution of %s is not implemented", context.name(),
             dataTypeName(x.type));
    const auto& params = context.node.paramsAs<Conv3dParams>();
    // A convolution that was put together from others uses the axes of its input in their order.
    const bool asItStands = !params.depthTaps.empty();
    const Shape input = asItStands ? x.shape : channelFirstShape(x, context.name());
    const Conv3dWindow w = conv3dWindow(params, input, context.name());
    const Shape out{w.batch, w.oc, w.out[0], w.out[1], w.out[2]};
    if (asItStands)
        context.set(0, out, x.type, Format::NC4HW4);
    else
        context.set(0, shapeInFormat(out, x.format));
}

void convolution3dGeometry(const OpContext& context) {
    ValueCommand command = context.command();
    Tensor* const x = context.inputs[0];
    if (!context.node.paramsAs<Conv3dParams>().depthTaps.empty() && x->format == Format::NHWC) {
        command.inputs[0] = context.geometry.temporary(x->shape, x->type, Format::NC4HW4);
        context.geometry.copyLinear(command.inputs[0], x, context.node.name + "/channel_first");
        context.geometry.emit(std::move(command));
        return;
    }
    emitChannelFirst(context, std::move(command));
}

double convolution3dFlops(const ShapeContext& context) {
    const auto& params = context.node.paramsAs<Conv3dParams>();
    const Tensor& x = context.in(0);
    const Shape input = params.depthTaps.empty() ? channelFirstShape(x, context.name()) : x.shape;
    const Conv3dWindow w = conv3dWindow(params, input, context.name());
    double positions = static_cast<double>(w.batch);
    for (const int64_t extent : params.transposed ? w.in : w.out) positions *= static_cast<double>(extent);
    return 2.0 * positions * static_cast<double>(w.weightCount);
}

}  // namespace

Conv3dWindow conv3dWindow(const Conv3dParams& p, const Shape& input, const char* name) {
    if (input.rank() != 5)
        fail(Status::ComputeSizeError, "%s: an input of rank 5 is needed, this one is %s", name, input.text().c_str());
    Conv3dWindow w;
    w.batch = requireInt(input[0], "batch", name);
    w.ic = requireInt(input[1], "channel count", name);
    w.oc = p.outputCount;
    if (w.ic < 1) fail(Status::ComputeSizeError, "%s: the input %s has no channels", name, input.text().c_str());
    w.groups = groupsOf(p, w.ic, name);
    if (w.ic % w.groups != 0 || w.oc % w.groups != 0)
        fail(Status::ComputeSizeError, "%s: %lld groups do not divide %lld input and %lld output channels", name,
             asLong(w.groups), asLong(w.ic), asLong(w.oc));
    w.weightCount = checkedMul(w.oc, w.ic / w.groups, name);
    for (const int extent : p.kernel) w.weightCount = checkedMul(w.weightCount, extent, name);
    if (p.storedWeights >= 0 && p.storedWeights != w.weightCount)
        fail(Status::BadWeights, "%s: the operator has %lld weights, %lld are needed", name, asLong(p.storedWeights),
             asLong(w.weightCount));
    // Kernels address a window with 32-bit offsets.
    constexpr int64_t kMaxWindow = 1 << 24;
    int64_t taps = 1;
    for (size_t i = 0; i < 3; ++i) {
        const Axis a{
            input[static_cast<int>(i) + 2], p.kernel[i], p.stride[i], p.dilate[i], p.begin[i], p.end[i], p.extra[i]};
        taps = checkedMul(taps, a.kernel, name);
        if (checkedMul(a.kernel - 1, a.dilate, name) >= kMaxWindow || taps > kMaxWindow)
            fail(Status::ComputeSizeError, "%s: a window of %d x %d x %d taps is too large", name, p.kernel[0],
                 p.kernel[1], p.kernel[2]);
        if (a.in < 1)
            fail(Status::ComputeSizeError, "%s: the input %s has an empty volume", name, input.text().c_str());
        w.in[i] = requireInt(a.in, "input extent", name);
        w.out[i] = requireInt(outputExtent(a, p.padMode, p.transposed), "output extent", name);
        if (w.out[i] < (p.transposed ? 1 : 0))
            fail(Status::ComputeSizeError, "%s: the %s of the output would be %lld", name, kAxisNames[i],
                 asLong(w.out[i]));
        w.begin[i] = p.padMode == ConvPad::Same && !p.statesPads ? sameBegin(a, w.out[i], p.transposed) : a.begin;
        requireInt(w.begin[i], "padding", name);
    }
    return w;
}

WeightFiles Conv3dParams::files() const {
    return model ? model->weightFiles(*op) : WeightFiles(nullptr);
}

int64_t Conv3dParams::modelBytes() const {
    if (!model) return 0;
    const ExternalFile* const beside = op ? files().external : nullptr;
    return static_cast<int64_t>(model->byteSize()) + (beside ? beside->size() : 0);
}

FloatView Conv3dParams::weights(int64_t expectedCount, int64_t outputChannels, const char* name) const {
    if (depthTaps.empty()) {
        if (model) model->readingWeights(expectedCount * static_cast<int64_t>(sizeof(float)));
        FloatView stored = convolution3dArrays(*table, files(), name).first;
        if (static_cast<int64_t>(stored.size()) != expectedCount)
            fail(Status::BadWeights, "%s: the operator has %zu weights, %lld are needed", name, stored.size(),
                 asLong(expectedCount));
        return stored;
    }
    const auto taps = static_cast<int64_t>(depthTaps.size()), area = int64_t{kernel[1]} * kernel[2];
    std::vector<float> all(static_cast<size_t>(expectedCount));
    for (int64_t k = 0; k < taps; ++k) {
        const FloatView tap = depthTaps[static_cast<size_t>(k)]->weights(expectedCount / taps, outputChannels, name);
        for (int64_t row = 0; row < expectedCount / taps / area; ++row)
            std::copy_n(tap.data() + row * area, area, all.data() + (row * taps + k) * area);
    }
    return FloatView::own(std::move(all));
}

FloatView Conv3dParams::bias(int64_t outputChannels, const char* name) const {
    std::vector<float> sum(static_cast<size_t>(outputChannels));
    if (depthTaps.empty()) {
        FloatView stored = convolution3dArrays(*table, files(), name).second;
        if (stored.empty()) return FloatView::own(std::move(sum));
        if (static_cast<int64_t>(stored.size()) != outputChannels)
            fail(Status::BadWeights, "%s: the bias has %zu values, one for each of %lld outputs is needed", name,
                 stored.size(), asLong(outputChannels));
        return stored;
    }
    for (const auto& tap : depthTaps) {
        const FloatView part = tap->bias(outputChannels, name);
        for (size_t i = 0; i < sum.size(); ++i) sum[i] += part.span()[i];
    }
    return FloatView::own(std::move(sum));
}

constexpr OpDef kConvolution3dOps[] = {
    {.type = OpType::Convolution3D,
     .parse = parseConvolution3d,
     .shape = convolution3dShape,
     .geometry = convolution3dGeometry,
     .flops = convolution3dFlops},
    {.type = OpType::ConvTranspose3D,
     .parse = parseConvolution3d,
     .shape = convolution3dShape,
     .geometry = convolution3dGeometry,
     .flops = convolution3dFlops},
};
extern constinit const OpFamily convolution3dOps = kConvolution3dOps;

}  // namespace mnnc
