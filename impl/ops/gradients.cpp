// PoolGrad: the gradient of a pooling with respect to its input. Conv2DBackPropFilter: the gradient of a convolution
// with respect to its weights, lowered to a product of the output gradient and the patches of the input.
#include "ops/gradients.h"

#include "base/checked.h"
#include "ops/channel_first.h"
#include "ops/columns.h"
#include "ops/convolution.h"
#include "ops/families.h"
#include "ops/matmul.h"
#include "ops/op_helpers.h"
#include "tensor/region_builder.h"

namespace mnnc {

namespace {

void requireFloatGradients(const ShapeContext& context) {
    for (int i = 0; i < context.inputCount(); ++i)
        if (context.in(i).type != DataType::Float32)
            fail(Status::NotSupported, "op '%s': gradients of %s are not implemented", context.name(),
                 dataTypeName(context.in(i).type));
}

void requireChannelFirstShape(const ShapeContext& context, int input, const Shape& expected) {
    const Shape given = channelFirstShape(context.in(input), context.name());
    if (!(given == expected))
        fail(Status::ComputeSizeError, "op '%s': input %d is %s with channels first, %s is needed", context.name(),
             input, given.text().c_str(), expected.text().c_str());
}

PoolWindow poolGradWindow(const ShapeContext& context, const Shape& x) {
    if (x.rank() != 4)
        fail(Status::ComputeSizeError, "op '%s': an input of rank 4 is needed, this one is %s", context.name(),
             x.text().c_str());
    return poolWindow(context.node.paramsAs<PoolParams>(), x, context.name());
}

void shapePoolGrad(const ShapeContext& context) {
    requireFloatGradients(context);
    const Shape x = channelFirstShape(context.in(0), context.name());
    const PoolWindow w = poolGradWindow(context, x);
    const bool global = context.node.paramsAs<PoolParams>().global;
    const Shape pooled{x[0], x[1], global ? 1 : w.axis[1].out, global ? 1 : w.axis[2].out};
    requireChannelFirstShape(context, 1, pooled);
    requireChannelFirstShape(context, 2, pooled);
    context.set(0, context.in(0).shape);
}

void geometryPoolGrad(const OpContext& context) {
    const Shape x = channelFirstShape(context.in(0), context.name());
    const PoolWindow w = poolGradWindow(context, x);
    auto params = std::make_shared<PoolGradParams>();
    params->average = context.node.paramsAs<PoolParams>().average;
    params->planes = x[0] * x[1];
    params->rows = w.axis[1];
    params->columns = w.axis[2];
    ValueCommand command = context.command();
    command.params = std::move(params);
    for (Tensor*& input : command.inputs) input = channelFirstInput(context, input);
    command.outputs[0] = channelFirstOutput(context, context.outputs[0]);
    Tensor* const computed = command.outputs[0];
    context.geometry.emit(std::move(command));
    finishOutput(context, context.outputs[0], computed);
}

double poolGradFlops(const ShapeContext& context) {
    const auto& params = context.node.paramsAs<PoolParams>();
    double taps = static_cast<double>(context.in(1).elements());
    if (params.global) return static_cast<double>(context.in(0).elements());
    for (const int k : params.kernel) taps *= k;
    return taps;
}

// The convolution whose weights get the gradient; input 1 is the gradient of its outputs.
struct FilterGradient {
    ConvParams conv;
    ConvWindow window;
};

FilterGradient filterGradient(const ShapeContext& context) {
    const Shape x = channelFirstShape(context.in(0), context.name());
    const Shape dy = channelFirstShape(context.in(1), context.name());
    if (x.rank() != 4 || dy.rank() != 4 || x[0] != dy[0])
        fail(Status::ComputeSizeError, "op '%s': an input %s and a gradient %s do not fit together", context.name(),
             x.text().c_str(), dy.text().c_str());
    FilterGradient gradient{context.node.paramsAs<ConvParams>(), {}};
    ConvParams& conv = gradient.conv;
    conv.inputCount = 0;
    if (dy[1] > INT32_MAX || dy[1] < 1)
        fail(Status::ComputeSizeError, "op '%s': the gradient has %lld channels, 1 to 2^31 - 1 are possible",
             context.name(), asLong(dy[1]));
    conv.outputCount = static_cast<int>(dy[1]);
    gradient.window = convWindow(OpType::Convolution, conv, x, nullptr, nullptr, context.name());
    const ConvWindow& w = gradient.window;
    if (w.oh != dy[2] || w.ow != dy[3])
        fail(Status::ComputeSizeError, "op '%s': the gradient is %lld x %lld, %lld x %lld is needed", context.name(),
             asLong(dy[2]), asLong(dy[3]), asLong(w.oh), asLong(w.ow));
    if (w.kh * w.kw > RegionBuilder::kMaxRegions)
        fail(Status::NotSupported, "op '%s': a gradient of %lld x %lld weights is not implemented", context.name(),
             asLong(w.kh), asLong(w.kw));
    return gradient;
}

// Returns the number of columns of the product: the places of all images.
int64_t outputPlaces(const ConvWindow& w, const char* name) {
    return checkedMul(w.batch, checkedMul(w.oh, w.ow, name), name);
}

void shapeFilterGradient(const ShapeContext& context) {
    requireFloatGradients(context);
    const ConvWindow w = filterGradient(context).window;
    checkedMul(checkedMul(w.ic, w.kh * w.kw, context.name()), outputPlaces(w, context.name()), context.name());
    const Shape out{w.oc, w.ic / w.groups, w.kh, w.kw};
    out.elements();
    context.set(0, out, DataType::Float32, Format::NCHW);
}

// Returns the patches [input channel][tap][image][place], which are zero where a tap lies in the padding.
Tensor* emitPatches(const OpContext& context, const FilterGradient& gradient) {
    const ConvWindow& w = gradient.window;
    const ConvParams& conv = gradient.conv;
    Tensor* const image = channelFirstInput(context, context.inputs[0]);
    const int64_t plane = w.ih * w.iw, places = w.oh * w.ow, row = w.batch * places, taps = w.kh * w.kw;
    Tensor* const patches =
        context.geometry.temporary(Shape{w.groups, w.ic / w.groups * taps, row}, DataType::Float32, Format::NCHW);
    RegionBuilder builder(context.name());
    for (int64_t tap = 0; tap < taps; ++tap) {
        const int64_t offsetY = tap / w.kw * conv.dilateY - w.padTop;
        const int64_t offsetX = tap % w.kw * conv.dilateX - w.padLeft;
        const PatchRange overY = patchesInside(w.ih, w.oh, conv.strideY, offsetY);
        const PatchRange overX = patchesInside(w.iw, w.ow, conv.strideX, offsetX);
        const BoxAxis axes[] = {{w.ic, plane, taps * row},
                                {w.batch, w.ic * plane, places},
                                {overY.last - overY.first, conv.strideY * w.iw, w.ow},
                                {overX.last - overX.first, conv.strideX, 1}};
        builder.box(0, (overY.first * conv.strideY + offsetY) * w.iw + overX.first * conv.strideX + offsetX,
                    tap * row + overY.first * w.ow + overX.first, axes);
    }
    context.geometry.raster(patches, {image}, builder.take(), context.node.name + "/patches");
    return patches;
}

// Returns the gradient of the outputs as [output channel][image][place].
Tensor* emitGradient(const OpContext& context, const ConvWindow& w) {
    Tensor* const given = channelFirstInput(context, context.inputs[1]);
    const int64_t places = w.oh * w.ow;
    Tensor* const ordered =
        context.geometry.temporary(Shape{w.groups, w.oc / w.groups, w.batch * places}, DataType::Float32, Format::NCHW);
    const BoxAxis axes[] = {{w.oc, places, w.batch * places}, {w.batch, w.oc * places, places}, {places, 1, 1}};
    RegionBuilder builder(context.name());
    builder.box(0, 0, 0, axes);
    context.geometry.raster(ordered, {given}, builder.take(), context.node.name + "/gradient");
    return ordered;
}

void geometryFilterGradient(const OpContext& context) {
    const FilterGradient gradient = filterGradient(context);
    const ConvWindow& w = gradient.window;
    if (context.in(1).empty()) return context.geometry.raster(context.outputs[0], {}, {}, context.node.name);
    auto params = std::make_shared<MatMulParams>();
    params->transposeB = true;
    Tensor* const product = context.geometry.temporary(Shape{w.groups, w.oc / w.groups, w.ic / w.groups * w.kh * w.kw},
                                                       DataType::Float32, Format::NCHW);
    ValueCommand command;
    command.type = OpType::BatchMatMul;
    command.name = context.node.name;
    command.params = std::move(params);
    command.inputs = {emitGradient(context, w), emitPatches(context, gradient)};
    command.outputs = {product};
    context.geometry.emit(std::move(command));
    context.geometry.copyLinear(context.outputs[0], product, context.node.name + "/weights");
}

double filterGradientFlops(const ShapeContext& context) {
    const ConvWindow w = filterGradient(context).window;
    return 2.0 * static_cast<double>(outputPlaces(w, context.name())) * static_cast<double>(w.weightCount);
}

}  // namespace

constexpr OpDef kGradientOps[] = {
    {.type = OpType::PoolGrad,
     .parse = parsePooling,
     .shape = shapePoolGrad,
     .geometry = geometryPoolGrad,
     .flops = poolGradFlops},
    {.type = OpType::Conv2DBackPropFilter,
     .parse = parseConvolution,
     .shape = shapeFilterGradient,
     .geometry = geometryFilterGradient,
     .flops = filterGradientFlops},
};
extern constinit const OpFamily gradientOps = kGradientOps;

}  // namespace mnnc
