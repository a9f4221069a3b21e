// GroupNorm: row-major, or packed where the groups are whole blocks of channels, which are contiguous then.
#include "ops/group_norm.h"

#include <algorithm>

#include "backends/vulkan/ops/checks.h"
#include "backends/vulkan/ops/families.h"
#include "backends/vulkan/ops/rows.h"

namespace mnnc::vulkan {

namespace {

class GroupNorm final : public VulkanExecution {
  public:
    GroupNorm(VulkanBackend& backend, const Command& command)
        : VulkanExecution(backend),
          command_(command),
          params_(command_.paramsAs<GroupNormParams>()),
          input_(*command_.inputs[0]) {}

    static Rows rowsOf(const VulkanBackend& backend, const Command& command) {
        constexpr int64_t kSharedBytes = 16;  // per invocation
        const Shape& shape = command.inputs[0]->shape;
        const int64_t rows = shape[0] * command.paramsAs<GroupNormParams>().groups;
        return {backend, rows, shape.elements() / rows, 1, kSharedBytes};
    }

    void prepare() override {
        const Shape& shape = input_.shape;
        plane_ = shape.elements(2, shape.rank());
        groupChannels_ = shape[1] / params_.groups;
        rows_ = rowsOf(backend(), command_);
        const auto count = static_cast<int64_t>(params_.gamma.size());
        if (count > 0)
            values_ = backend().weights(
                command_.params, "group norm values", 2 * count,
                [&](std::vector<float>& values) {
                    std::copy(params_.gamma.begin(), params_.gamma.end(), values.begin());
                    std::copy(params_.beta.begin(), params_.beta.end(), values.begin() + count);
                },
                true);
        std::vector<uint32_t> constants = rows_.constants();
        constants.insert(constants.end(), {input_.channelBlock > 1, count > 0, added(), params_.silu});
        pipeline_ = &backend().pipeline("group_norm", DataType::Float32, 4, rows_.localSize, std::move(constants));
    }

    void encode(FrameRecorder& recorder) const override {
        // Every binding needs a buffer: the input takes the place of absent operands.
        recorder.dispatch(*pipeline_,
                          {{recorder.reads(input_), values_ ? recorder.reads(*values_) : recorder.reads(input_),
                            recorder.reads(*command_.inputs[added() ? 1 : 0]), recorder.writes(*command_.outputs[0])}},
                          rows_.push()
                              .f(params_.epsilon)
                              .u(params_.groups, groupChannels_, plane_, static_cast<int64_t>(params_.gamma.size())),
                          rows_.groups(*pipeline_));
    }

  private:
    bool added() const { return command_.inputs.size() > 1; }

    const Command command_;
    const GroupNormParams& params_;
    const Operand& input_;
    Rows rows_;
    int64_t plane_ = 1, groupChannels_ = 1;
    VulkanBackend::WeightsPtr values_;
    const Pipeline* pipeline_ = nullptr;
};

StorageChoice groupNormStorage(const VulkanBackend& backend, const Command& command) {
    const Operand& input = *command.inputs[0];
    const int64_t groupChannels = input.shape[1] / command.paramsAs<GroupNormParams>().groups;
    if (input.channelBlock == 1 || groupChannels % kChannelBlock != 0) return {};
    return storagePacked(backend, command);
}

// Three passes compute mean, variance and results. In each round a loop adds the values of the added operand to four
// channels; in the last pass another one multiplies them by gamma.
bool supportsGroupNorm(const VulkanBackend& backend, const Command& command, std::string& reason) {
    return supportsFloat(backend, command, reason) &&
           fewRounds(backend, GroupNorm::rowsOf(backend, command).rounds(24), reason);
}

std::unique_ptr<Execution> createGroupNorm(VulkanBackend& backend, const Command& command) {
    return std::make_unique<GroupNorm>(backend, command);
}

}  // namespace

constexpr VulkanOp kGroupNorm[] = {{OpType::GroupNorm, supportsGroupNorm, groupNormStorage, createGroupNorm}};
extern constinit const VulkanFamily groupNormVulkan = kGroupNorm;

}  // namespace mnnc::vulkan
