// GridSample of packed pictures and volumes; the grid is row-major.
#include "ops/grid_sample.h"

#include "backends/vulkan/ops/checks.h"
#include "backends/vulkan/ops/families.h"
#include "backends/vulkan/vulkan_execution.h"

namespace mnnc::vulkan {

namespace {

class GridSample final : public VulkanExecution {
  public:
    GridSample(VulkanBackend& backend, const Command& command)
        : VulkanExecution(backend), command_(command), input_(*command_.inputs[0]), output_(*command_.outputs[0]) {}

    void prepare() override {
        const auto& p = command_.paramsAs<GridSampleParams>();
        const auto axes = static_cast<uint32_t>(input_.shape.rank() - 2);
        pipeline_ = &backend().pipeline("grid_sample", output_.type, 3, kLocal,
                                        {axes, p.nearest, static_cast<uint32_t>(p.padding), p.alignCorners});
    }

    void encode(FrameRecorder& recorder) const override {
        const Packed in(input_), out(output_);
        const Shape& shape = input_.shape;
        const int64_t quads = out.n * out.blocks * out.plane;
        Push push;
        push.u(quads, out.plane, out.blocks, in.plane);
        for (int i = 1; i <= 3; ++i) push.u(i <= shape.rank() - 2 ? shape[shape.rank() - i] : 1);
        recorder.dispatch(*pipeline_,
                          {{recorder.reads(input_), recorder.reads(*command_.inputs[1]), recorder.writes(output_)}},
                          push, ceilDiv(quads, pipeline_->localSize));
    }

  private:
    const Command command_;
    const Operand& input_;
    const Operand& output_;
    const Pipeline* pipeline_ = nullptr;
};

bool supportsGridSample(const VulkanBackend& backend, const Command& command, std::string& reason) {
    if (!supportsFloat(backend, command, reason)) return false;
    if (!canPack(*command.inputs[0]) || !canPack(*command.outputs[0]))
        return refuse(reason, "the Vulkan kernel samples tensors that can be packed by channels");
    return true;
}

std::unique_ptr<Execution> createGridSample(VulkanBackend& backend, const Command& command) {
    return std::make_unique<GridSample>(backend, command);
}

}  // namespace

constexpr VulkanOp kGridSample[] = {{OpType::GridSample, supportsGridSample, storagePacked, createGridSample}};
extern constinit const VulkanFamily gridSampleVulkan = kGridSample;

}  // namespace mnnc::vulkan
