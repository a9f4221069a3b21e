// Decodes the weights of convolutions and inner products as floats, without their stored form.
#include "net/node_weights.h"

#include "base/error.h"
#include "ops/convolution.h"
#include "ops/convolution3d.h"
#include "ops/matmul.h"

namespace mnnc {

namespace {

std::vector<NodeWeights> pairOf(const Shape& shape, FloatView weights, FloatView bias) {
    std::vector<NodeWeights> both(2);
    both[0].shape = shape;
    both[0].values = std::move(weights);
    both[1].shape.push(static_cast<int64_t>(bias.size()));
    both[1].values = std::move(bias);
    return both;
}

Shape shapeOf(std::initializer_list<int64_t> extents) {
    Shape shape;
    for (const int64_t extent : extents) shape.push(extent);
    return shape;
}

std::vector<NodeWeights> convolutionWeights(OpType type, const ConvParams& params, size_t inputs, const char* node) {
    // The oldest int8 form has integers in place of a bias.
    if (params.outputCount == 0 || params.tensorInputs(inputs) > 1 || params.int8.folded) return {};
    const int64_t outputs = params.outputCount;
    const int64_t window = int64_t{params.kernelY} * params.kernelX;
    FloatView weights = params.weights(-1, outputs, node);
    const auto count = static_cast<int64_t>(weights.size());
    if (window < 1 || count % (outputs * window) != 0)
        fail(Status::BadWeights, "op '%s': %lld weights cannot be divided into %lld outputs of %lld positions", node,
             asLong(count), asLong(outputs), asLong(window));
    int64_t rows = outputs, columns = count / (outputs * window);
    if (isDeconvolution(type)) {
        const int64_t groups = isDepthwise(type) ? outputs : params.group;
        if (groups < 1 || outputs % groups != 0)
            fail(Status::BadWeights, "op '%s': %lld outputs cannot be divided into %lld groups", node, asLong(outputs),
                 asLong(groups));
        rows = columns * groups;
        columns = outputs / groups;
    }
    return pairOf(shapeOf({rows, columns, params.kernelY, params.kernelX}), std::move(weights),
                  params.bias(outputs, node));
}

std::vector<NodeWeights> convolution3dWeights(const Conv3dParams& params, const Shape& input, const char* node) {
    const Conv3dWindow window = conv3dWindow(params, input, node);
    int64_t rows = window.oc, columns = window.ic / window.groups;
    if (params.transposed) {
        rows = window.ic;
        columns = window.oc / window.groups;
    }
    return pairOf(shapeOf({rows, columns, params.kernel[0], params.kernel[1], params.kernel[2]}),
                  params.weights(window.weightCount, window.oc, node), params.bias(window.oc, node));
}

// The type decides, because gradients and dilations have ConvParams, too.
bool isConvolution(OpType type) {
    return type == OpType::Convolution || type == OpType::ConvolutionDepthwise || isDeconvolution(type) ||
           isInt8Convolution(type);
}

std::vector<NodeWeights> innerProductWeights(const InnerProductParams& params) {
    std::vector<float> bias = params.bias;
    bias.resize(static_cast<size_t>(params.outputs));
    return pairOf(shapeOf({params.outputs, params.inputs}), FloatView::borrow(params.weight),
                  FloatView::own(std::move(bias)));
}

}  // namespace

std::vector<NodeWeights> nodeWeights(OpType type, const ParamsPtr& params, std::span<Tensor* const> inputs,
                                     const char* node) {
    const auto* convolution2d = paramsIf<ConvParams>(params.get());
    if (convolution2d && isConvolution(type)) return convolutionWeights(type, *convolution2d, inputs.size(), node);
    if (const auto* convolution = paramsIf<Conv3dParams>(params.get()))
        return convolution3dWeights(*convolution, inputs[0]->shape, node);
    if (const auto* product = paramsIf<InnerProductParams>(params.get())) return innerProductWeights(*product);
    return {};
}

}  // namespace mnnc
