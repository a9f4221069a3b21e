// Fully connected layers: products with so few pixels that the depth has to be shared out.
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
        : ConvExecution(backend, command), weights_(backend, c_) {}

    void onResize() override {
        parts_ = weights_.prepare(backend(), command_.params, name());
        bias_ = storedBias(true);
        const uint32_t threads = threadsOf(backend());
        pixels_ = std::min(kPixels, std::bit_ceil(static_cast<uint32_t>(all())));
        pipeline_ = &storingPipeline("conv_vector", 4, threads,
                                     {kQuadThreads, threads / kQuadThreads, pixels_,
                                      static_cast<uint32_t>(c_.w.ic % kPack), c_.finish});
    }

    void encode(Recorder& recorder) override {
        for (const ConvGemmWeights::Part& part : parts_) {
            const int64_t quadTiles = ceilDiv(part.quads, kQuadThreads);
            recorder.dispatch(
                *pipeline_, withResidual({reads(input_), reads(*part.block), reads(*bias_), writes(output_)}),
                Push()
                    .u(quadTiles)
                    .u(all())
                    .u(c_.w.oh * c_.w.ow)
                    .u(c_.inBlocks)
                    .u(c_.outBlocks)
                    .u(part.quads)
                    .u(part.first)
                    .f(c_.low)
                    .f(c_.high),
                quadTiles * ceilDiv(all(), pixels_));
        }
    }

  private:
    int64_t all() const { return c_.w.batch * c_.w.oh * c_.w.ow; }

    const ConvGemmWeights weights_;
    std::vector<ConvGemmWeights::Part> parts_;
    VulkanBackend::WeightsPtr bias_;
    uint32_t pixels_ = 1;
    const Pipeline* pipeline_ = nullptr;
};

}  // namespace

bool convIsVector(const VulkanBackend& backend, const ConvCase& c) {
    const uint32_t threads = threadsOf(backend);
    return c.point() && c.w.groups == 1 && c.w.batch * c.w.oh * c.w.ow <= kMaxPixels &&
           threads >= kQuadThreads * kPixels && threads * kPixels * 16 <= backend.limits().sharedMemory;
}

std::unique_ptr<Execution> makeConvVector(VulkanBackend& backend, const Command& command) {
    return std::make_unique<ConvVector>(backend, command);
}

}  // namespace mnnc::vulkan
