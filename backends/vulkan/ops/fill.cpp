// Range of integers.
#include "backends/vulkan/ops/checks.h"
#include "backends/vulkan/ops/families.h"
#include "backends/vulkan/vulkan_execution.h"

namespace mnnc::vulkan {

namespace {

class Range final : public VulkanExecution {
  public:
    Range(VulkanBackend& backend, const Command& command) : VulkanExecution(backend), command_(command) {}

    void prepare() override { pipeline_ = &backend().exactPipeline("fill_range_i32", 3, kLocal); }

    void encode(FrameRecorder& recorder) const override {
        const Operand& output = *command_.outputs[0];
        recorder.dispatch(
            *pipeline_,
            {{recorder.reads(*command_.inputs[0]), recorder.reads(*command_.inputs[2]), recorder.writes(output)}},
            Push().u(output.elements()), ceilDiv(output.elements(), pipeline_->localSize));
    }

  private:
    const Command command_;
    const Pipeline* pipeline_ = nullptr;
};

bool supportsRange(const VulkanBackend&, const Command& command, std::string& reason) {
    if (command.outputs[0]->type != DataType::Int32 || command.outputs[0]->empty()) {
        reason = "the Vulkan kernel makes ranges of int32; those of floats are sums in order, which the CPU makes";
        return false;
    }
    return noEmptyInput(command, reason);
}

std::unique_ptr<Execution> createRange(VulkanBackend& backend, const Command& command) {
    return std::make_unique<Range>(backend, command);
}

}  // namespace

constexpr VulkanOp kFill[] = {{OpType::Range, supportsRange, nullptr, createRange}};
extern constinit const VulkanFamily fillVulkan = kFill;

}  // namespace mnnc::vulkan
