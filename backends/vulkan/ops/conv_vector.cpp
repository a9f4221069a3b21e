// Fully connected layers: products with so few pixels that several invocations divide the depth of an output.
#include <algorithm>
#include <bit>

#include "backends/vulkan/ops/convolution.h"

namespace mnnc::vulkan {

namespace {

constexpr int64_t kMaxPixels = 8;
constexpr uint32_t kQuadThreads = 4, kPixels = 4;

uint32_t threadsOf(const VulkanBackend& backend) {
    return std::bit_floor(std::min(128u, backend.limits().groupInvocations));
}

class ConvVector final : public ConvExecution {
  public:
    ConvVector(VulkanBackend& backend, const Command& command)
        : ConvExecution(backend, command), weights_(backend, c_, convCodes(backend, c_, command_)) {}

    void prepare() override {
        weightSlices_ = weights_.prepare(backend(), command_.params, name());
        bias_ = weights_.bias(backend(), command_.params, name());
        const uint32_t threads = threadsOf(backend());
        pixels_ = std::min(kPixels, std::bit_ceil(static_cast<uint32_t>(pixelCount())));
        std::vector<uint32_t> constants = {kQuadThreads, threads / kQuadThreads, pixels_,
                                           static_cast<uint32_t>(c_.w.ic % kChannelBlock), c_.postOps.code};
        weights_.addConstants(constants);
        pipeline_ = &outputPipeline(weights_.shader("conv_vector"), 4, threads, std::move(constants));
    }

    void encode(FrameRecorder& recorder) const override {
        for (const ConvGemmWeights::Slice& slice : weightSlices_) {
            const int64_t quadTiles = ceilDiv(slice.quads, kQuadThreads);
            recorder.dispatch(
                *pipeline_,
                withResidual(recorder, {recorder.reads(input_), recorder.reads(*slice.block), recorder.reads(*bias_),
                                        recorder.writes(output_)}),
                Push()
                    .u(quadTiles, pixelCount(), c_.w.oh * c_.w.ow, c_.inBlocks, c_.outBlocks, slice.quads, slice.first)
                    .f(c_.postOps.lo, c_.postOps.hi),
                quadTiles * ceilDiv(pixelCount(), pixels_));
        }
    }

  private:
    int64_t pixelCount() const { return c_.w.batch * c_.w.oh * c_.w.ow; }

    const ConvGemmWeights weights_;
    std::vector<ConvGemmWeights::Slice> weightSlices_;
    VulkanBackend::WeightsPtr bias_;
    uint32_t pixels_ = 1;
    const Pipeline* pipeline_ = nullptr;
};

}  // namespace

bool convIsVector(const VulkanBackend& backend, const ConvGeometry& c) {
    const uint32_t threads = threadsOf(backend);
    return c.isPointwise() && c.w.groups == 1 && c.w.batch * c.w.oh * c.w.ow <= kMaxPixels &&
           threads >= kQuadThreads * kPixels && threads * kPixels * 16 <= backend.limits().sharedMemory;
}

int64_t convVectorRounds(const VulkanBackend& backend, const ConvGeometry& c) {
    const int64_t divided = threadsOf(backend) / kQuadThreads;
    return ceilDiv(c.inBlocks, divided) + divided;  // for the products, and at most for their sum
}

std::unique_ptr<Execution> makeConvVector(VulkanBackend& backend, const Command& command) {
    return std::make_unique<ConvVector>(backend, command);
}

}  // namespace mnnc::vulkan
