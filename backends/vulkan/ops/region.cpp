// ROIAlign of packed pictures. The kernel reads no picture outside of the batch; a check beside it reports the first
// region that names such a picture to the host.
#include "ops/region.h"

#include "backends/vulkan/ops/checks.h"
#include "backends/vulkan/ops/families.h"
#include "backends/vulkan/vulkan_execution.h"

namespace mnnc::vulkan {

namespace {

constexpr int64_t kRegionChunk = 4096;  // regions of one group of the check

class RoiAlign final : public VulkanExecution {
  public:
    RoiAlign(VulkanBackend& backend, const Command& command)
        : VulkanExecution(backend),
          command_(command),
          params_(command_.paramsAs<RoiParams>()),
          input_(*command_.inputs[0]),
          output_(*command_.outputs[0]),
          indexed_(command_.inputs.size() > 2) {}

    void prepare() override {
        pipeline_ =
            &backend().pipeline("region_align", output_.type, 4, kLocal, {indexed_, params_.aligned, params_.maximum});
        check_ = &backend().pipeline("region_check", pictures(), 2, kLocal);
    }

    void encode(FrameRecorder& recorder) const override {
        const Packed out(output_);
        const Shape& in = input_.shape;
        const int64_t quads = out.n * out.blocks * out.plane;
        recorder.dispatch(*pipeline_,
                          {{recorder.reads(input_), recorder.reads(*command_.inputs[1]), recorder.reads(pictures()),
                            recorder.writes(output_)}},
                          Push()
                              .u(quads, params_.height, params_.width, out.blocks, in[2], in[3], in[0], params_.samples)
                              .f(params_.scale),
                          ceilDiv(quads, pipeline_->localSize));
        recorder.dispatch(*check_, {{recorder.reads(pictures()), recorder.writesReport()}},
                          Push().u(out.n, kRegionChunk, indexed_ ? 1 : 5, in[0]), checkGroups());
    }

    int64_t reportBytes() const override { return checkGroups() * 8; }

    void afterRun(const uint32_t* report) const override {
        for (int64_t group = 0; group < checkGroups(); ++group) {
            const uint32_t region = report[2 * group];
            if (region == UINT32_MAX) continue;
            const uint32_t bits = report[2 * group + 1];
            float number;
            __builtin_memcpy(&number, &bits, sizeof number);
            fail(Status::InputDataError, "op '%s': region %u is in picture %g of a batch of %lld",
                 command_.name.c_str(), region,
                 indexed_ ? static_cast<double>(static_cast<int32_t>(bits)) : static_cast<double>(number),
                 asLong(input_.shape[0]));
        }
    }

  private:
    // Returns the tensor that has the number of each region's picture.
    const Operand& pictures() const { return *command_.inputs[indexed_ ? 2 : 1]; }
    int64_t checkGroups() const { return ceilDiv(output_.shape[0], kRegionChunk); }

    const Command command_;
    const RoiParams& params_;
    const Operand& input_;
    const Operand& output_;
    const bool indexed_;
    const Pipeline* pipeline_ = nullptr;
    const Pipeline* check_ = nullptr;
};

bool supportsRoiAlign(const VulkanBackend& backend, const Command& command, std::string& reason) {
    if (!supportsFloat(backend, command, reason)) return false;
    const auto& p = command.paramsAs<RoiParams>();
    const Operand& input = *command.inputs[0];
    // Limits on the samples that a single invocation adds up: after a longer time the driver may consider the device
    // lost. Where their number is 0, there are as many along an axis as the picture has pixels, and a few more.
    constexpr int kMaxSamples = 64;
    constexpr int64_t kMaxPixels = 1 << 18;
    if (p.samples > kMaxSamples || (p.samples == 0 && input.shape.elements(2, 4) > kMaxPixels))
        return refuse(reason,
                      format("the Vulkan kernel takes up to %d samples along an axis, or pictures of up to %lld pixels",
                             kMaxSamples, asLong(kMaxPixels)));
    // Floats represent every integer up to this one.
    constexpr int64_t kWholeNumbers = 1 << 24;
    if (command.inputs.size() < 3 && input.shape[0] > kWholeNumbers)
        return refuse(reason, format("the numbers of %lld pictures are not exact as floats of the device",
                                     asLong(input.shape[0])));
    const auto samples = [&](int axis) { return p.samples > 0 ? p.samples : input.shape[axis] + 8; };
    return fewRounds(backend, nestedRounds({samples(2), samples(3)}), reason);
}

std::unique_ptr<Execution> createRoiAlign(VulkanBackend& backend, const Command& command) {
    return std::make_unique<RoiAlign>(backend, command);
}

}  // namespace

constexpr VulkanOp kRegion[] = {{OpType::ROIAlign, supportsRoiAlign, storagePacked, createRoiAlign}};
extern constinit const VulkanFamily regionVulkan = kRegion;

}  // namespace mnnc::vulkan
