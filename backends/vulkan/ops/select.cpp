// Select on the device: the geometry gives operands of one element or of the output's size.
#include "backends/vulkan/ops/checks.h"
#include "backends/vulkan/ops/families.h"
#include "backends/vulkan/vulkan_execution.h"

namespace mnnc::vulkan {

namespace {

class Select final : public VulkanExecution {
  public:
    Select(VulkanBackend& backend, const Command& command) : VulkanExecution(backend), command_(command) {}

    void prepare() override {
        const auto one = [&](size_t i) { return uint32_t{command_.inputs[i]->elements() == 1}; };
        const bool half = backend().half(*command_.inputs[0]);
        pipeline_ = &backend().pipeline("select", *command_.outputs[0], 4, 64, {one(0), half, one(1), one(2)});
    }

    void encode(FrameRecorder& recorder) const override {
        const Operand& output = *command_.outputs[0];
        const int64_t quads = ceilDiv(output.storageElements(), 4);
        recorder.dispatch(*pipeline_,
                          {{recorder.reads(*command_.inputs[0]), recorder.reads(*command_.inputs[1]),
                            recorder.reads(*command_.inputs[2]), recorder.writes(output)}},
                          Push().u(quads), ceilDiv(quads, pipeline_->localSize));
    }

  private:
    const Command command_;
    const Pipeline* pipeline_ = nullptr;
};

bool supportsSelect(const VulkanBackend&, const Command& command, std::string& reason) {
    const Operand& output = *command.outputs[0];
    if (command.inputs[1]->type != output.type || command.inputs[2]->type != output.type)
        return refuse(reason, "the Vulkan kernel selects between values of one type");
    for (const Operand* input : command.inputs)
        if (input->elements() != 1 && input->elements() != output.elements())
            return refuse(reason, "the Vulkan kernel takes operands of one element or of the output's size");
    return noEmptyInput(command, reason);
}

// The output is packed when the selected operands are, and every operand has the output's shape or one element.
StorageChoice storageSelect(const VulkanBackend&, const Command& command) {
    const Operand& output = *command.outputs[0];
    StorageChoice choice{.inputBlock = kChannelBlock, .outputBlock = kChannelBlock};
    bool packed = false;
    for (size_t i = 0; i < 3; ++i) {
        const Operand& input = *command.inputs[i];
        if (input.elements() == 1)
            choice.rowMajorInputs |= 1u << i;
        else if (!(input.shape == output.shape) || !canPack(input))
            return {};
        else if (i > 0 && input.channelBlock > 1)
            packed = true;
    }
    return packed && canPack(output) ? choice : StorageChoice{};
}

std::unique_ptr<Execution> createSelect(VulkanBackend& backend, const Command& command) {
    return std::make_unique<Select>(backend, command);
}

}  // namespace

constexpr VulkanOp kSelect[] = {{OpType::Select, supportsSelect, storageSelect, createSelect}};
extern constinit const VulkanFamily selectVulkan = kSelect;

}  // namespace mnnc::vulkan
