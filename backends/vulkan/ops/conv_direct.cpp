// Convolutions with row-major weights: tensors, and groups that do not fill blocks.
#include <algorithm>

#include "backends/vulkan/ops/convolution.h"

namespace mnnc::vulkan {

namespace {

class ConvDirect final : public ConvExecution {
  public:
    using ConvExecution::ConvExecution;

    void prepare() override {
        if (!c_.tensorWeights) {
            weights_ =
                backend().weights(command_.params, "conv direct", c_.w.weightCount, [&](std::vector<float>& values) {
                    const FloatView weights = modelWeights();
                    std::copy(weights.span().begin(), weights.span().end(), values.begin());
                });
            bias_ = packedBias(false);
        }
        const bool hasBias = !c_.tensorWeights || command_.operands() > 2;
        pipeline_ = &outputPipeline("conv_direct", 4, 64, {c_.transposed, hasBias, c_.postOps.code});
    }

    void encode(FrameRecorder& recorder) const override {
        const ConvWindow& w = c_.w;
        const int64_t total = w.batch * c_.outBlocks * w.oh * w.ow;
        // Without a bias some buffer must be bound in its place.
        const Binding weights = weights_ ? recorder.reads(*weights_) : recorder.reads(*command_.inputs[1]);
        const Binding bias = bias_                     ? recorder.reads(*bias_)
                             : command_.operands() > 2 ? recorder.reads(*command_.inputs[2])
                                                       : weights;
        recorder.dispatch(*pipeline_,
                          withResidual(recorder, {recorder.reads(input_), weights, bias, recorder.writes(output_)}),
                          Push()
                              .u(total, c_.outBlocks, c_.inBlocks, w.oc, c_.groupIn, c_.groupOut, w.kh, w.kw, w.ih,
                                 w.iw, w.oh, w.ow, c_.strideY, c_.strideX, w.padTop, w.padLeft, c_.dilateY, c_.dilateX)
                              .f(c_.postOps.lo, c_.postOps.hi),
                          ceilDiv(total, pipeline_->localSize));
    }

  private:
    VulkanBackend::WeightsPtr weights_, bias_;
    const Pipeline* pipeline_ = nullptr;
};

}  // namespace

std::unique_ptr<Execution> makeConvDirect(VulkanBackend& backend, const Command& command) {
    return std::make_unique<ConvDirect>(backend, command);
}

}  // namespace mnnc::vulkan
