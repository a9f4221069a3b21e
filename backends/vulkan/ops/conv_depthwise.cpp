// Depthwise convolutions and deconvolutions.
#include <algorithm>

#include "backends/vulkan/ops/convolution.h"

namespace mnnc::vulkan {

namespace {

constexpr int64_t kMaxSpan = 12;               // input rows an invocation holds
constexpr int64_t kManyInvocations = 1 << 15;  // enough for each to compute several outputs

class ConvDepthwise final : public ConvExecution {
  public:
    using ConvExecution::ConvExecution;

    void prepare() override {
        bias_ = packedBias(true);
        weights_ = backend().weights(
            command_.params, "conv depthwise", c_.taps * c_.outBlocks * kChannelBlock, [&](std::vector<float>& values) {
                const FloatView weights = modelWeights();
                const int64_t row = c_.outBlocks * kChannelBlock;
                for (int64_t oc = 0; oc < c_.w.oc; ++oc)
                    for (int64_t t = 0; t < c_.taps; ++t)
                        values[static_cast<size_t>(t * row + oc)] = weights[static_cast<size_t>(oc * c_.taps + t)];
            });
        const auto word = [](int64_t value) { return static_cast<uint32_t>(value); };
        if (c_.transposed) {
            pipeline_ =
                &outputPipeline("conv_depthwise_transposed", 4, 64,
                                {word(c_.w.kh), word(c_.w.kw), word(c_.strideY), word(c_.strideX), c_.postOps.code});
            return;
        }
        chooseRows();
        pipeline_ = &outputPipeline("conv_depthwise", 4, 64,
                                    {word(c_.w.kh), word(c_.w.kw), word(c_.strideY), word(c_.dilateY), word(rows_),
                                     sharesRows_, c_.postOps.code});
    }

    void encode(FrameRecorder& recorder) const override {
        const ConvWindow& w = c_.w;
        const int64_t strips = ceilDiv(w.oh, rows_);
        const int64_t total = w.batch * c_.outBlocks * strips * w.ow;
        Push push;
        push.u(total);
        if (!c_.transposed) push.u(strips);
        push.u(c_.outBlocks, w.ih, w.iw, w.oh, w.ow);
        if (c_.transposed)
            push.u(w.padTop, w.padLeft, c_.dilateY, c_.dilateX);
        else
            push.u(c_.strideX, w.padTop, w.padLeft, c_.dilateX);
        recorder.dispatch(*pipeline_,
                          withResidual(recorder, {recorder.reads(input_), recorder.reads(*weights_),
                                                  recorder.reads(*bias_), recorder.writes(output_)}),
                          push.f(c_.postOps.lo, c_.postOps.hi), ceilDiv(total, pipeline_->localSize));
    }

  private:
    int64_t span(int64_t rows) const { return (rows - 1) * c_.strideY + (c_.w.kh - 1) * c_.dilateY + 1; }

    // Lets an invocation compute several outputs below one another where that saves loads and leaves enough
    // invocations.
    void chooseRows() {
        rows_ = 1;
        for (const int64_t rows : {4, 2}) {
            const int64_t total = c_.w.batch * c_.outBlocks * ceilDiv(c_.w.oh, rows) * c_.w.ow;
            if (span(rows) > kMaxSpan || span(rows) >= rows * c_.w.kh || total < kManyInvocations) continue;
            rows_ = rows;
            break;
        }
        sharesRows_ = rows_ > 1;
    }

    VulkanBackend::WeightsPtr weights_, bias_;
    int64_t rows_ = 1;
    bool sharesRows_ = false;
    const Pipeline* pipeline_ = nullptr;
};

}  // namespace

std::unique_ptr<Execution> makeConvDepthwise(VulkanBackend& backend, const Command& command) {
    return std::make_unique<ConvDepthwise>(backend, command);
}

}  // namespace mnnc::vulkan
