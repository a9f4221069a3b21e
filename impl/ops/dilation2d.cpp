// Dilation2D (tf.nn.dilation2d): a convolution with the maximum of sums in place of the sum of products. It has the
// table and the extents of a depthwise convolution.
#include "ops/dilation2d.h"

#include "ops/channel_first.h"
#include "ops/convolution.h"
#include "ops/families.h"

namespace mnnc {

namespace {

ConvWindow dilationWindow(const ShapeContext& context) {
    const auto& params = context.node.paramsAs<ConvParams>();
    return convWindow(OpType::ConvolutionDepthwise, params, channelFirstShape(context.in(0), context.name()), nullptr,
                      nullptr, context.name());
}

void shapeDilation2d(const ShapeContext& context) {
    const Tensor& x = context.in(0);
    if (x.type != DataType::Float32)
        fail(Status::NotSupported, "op '%s': Dilation2D of %s is not implemented", context.name(),
             dataTypeName(x.type));
    const ConvWindow w = dilationWindow(context);
    Shape out = channelFirstShape(x, context.name());
    if (out.rank() != 4)
        fail(Status::ComputeSizeError, "op '%s': an input of rank 4 is needed, this one is %s", context.name(),
             out.text().c_str());
    out[2] = w.oh;
    out[3] = w.ow;
    context.set(0, shapeInFormat(out, x.format));
}

void geometryDilation2d(const OpContext& context) {
    const auto& conv = context.node.paramsAs<ConvParams>();
    const ConvWindow w = dilationWindow(context);
    auto params = std::make_shared<Dilation2dParams>();
    const FloatView weights = conv.weights(w.weightCount, w.oc, context.name());
    params->weights.assign(weights.span().begin(), weights.span().end());
    params->kernelY = w.kh, params->kernelX = w.kw;
    params->strideY = conv.strideY, params->strideX = conv.strideX;
    params->dilateY = conv.dilateY, params->dilateX = conv.dilateX;
    params->padTop = w.padTop, params->padLeft = w.padLeft;
    ValueCommand command = context.command();
    command.params = std::move(params);
    emitChannelFirst(context, std::move(command));
}

double dilation2dFlops(const ShapeContext& context) {
    const auto& conv = context.node.paramsAs<ConvParams>();
    return 2.0 * static_cast<double>(context.out(0).elements()) * conv.kernelY * conv.kernelX;
}

}  // namespace

constexpr OpDef kDilation2dOps[] = {{.type = OpType::Dilation2D,
                                     .parse = parseConvolution,
                                     .shape = shapeDilation2d,
                                     .geometry = geometryDilation2d,
                                     .flops = dilation2dFlops}};
extern constinit const OpFamily dilation2dOps = kDilation2dOps;

}  // namespace mnnc
