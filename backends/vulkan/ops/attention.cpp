// Attention without a cache, row-major: one dispatch, whose work groups walk over the keys.
#include "ops/attention.h"

#include <algorithm>
#include <cmath>

#include "backends/vulkan/ops/checks.h"
#include "backends/vulkan/ops/families.h"
#include "backends/vulkan/vulkan_execution.h"

namespace mnnc::vulkan {

namespace {

// As attention.comp has them.
constexpr uint32_t kLocal = 64;
constexpr int64_t kTile = 32, kMaxQuads = 4;
constexpr uint32_t kBuffers = 6;
constexpr int64_t kSharedBytes = 4 * (kTile * 33 + 2 * kTile * 17 + 3 * kTile);

AttentionSizes sizesOf(const Command& command) {
    return attentionSizes(command.inputs[0]->shape, command.inputs[1]->shape, command.inputs[2]->shape,
                          command.name.c_str());
}

class Attention final : public VulkanExecution {
  public:
    Attention(VulkanBackend& backend, const Command& command)
        : VulkanExecution(backend), command_(command), sizes_(sizesOf(command_)) {}

    void prepare() override {
        quads_ = std::min(kMaxQuads, ceilDiv(sizes_.valueDepth, 32));
        const size_t inputs = command_.inputs.size();
        const uint32_t mask = inputs < 4 ? 0 : command_.inputs[3]->type == DataType::Float32 ? 1 : 2;
        pipeline_ = &backend().pipeline(
            "attention", DataType::Float32, kBuffers, kLocal,
            {static_cast<uint32_t>(quads_), mask, inputs > 4, sizes_.valueDepth % 4 == 0});
    }

    void encode(Recorder& recorder) override {
        const AttentionSizes& s = sizes_;
        const float given = command_.paramsAs<AttentionParams>().scale;
        const auto scale =
            given != 0 ? given : static_cast<float>(1 / std::sqrt(static_cast<double>(s.depth)));
        const int64_t blocks = ceilDiv(s.queries, kTile), slices = ceilDiv(s.valueDepth, quads_ * 32);
        Push push;
        push.u(s.queries).u(s.keys).u(s.heads).u(s.keyHeads).u(s.depth).u(s.valueDepth).u(blocks).u(slices);
        push.f(scale);
        for (int axis = 0; axis < 4; ++axis) push.u(maskStep(axis));
        // Every binding needs a buffer: another operand stands in for a mask or sinks that are absent.
        const auto optional = [&](size_t i) {
            return reads(*command_.inputs[i < command_.inputs.size() ? i : 0]);
        };
        recorder.dispatch(
            *pipeline_,
            {{reads(*command_.inputs[0]), reads(*command_.inputs[1]), reads(*command_.inputs[2]),
              writes(*command_.outputs[0]), optional(3), optional(4)}},
            push, s.batch * s.heads * blocks * slices);
    }

  private:
    // From one element to the next of the mask along axis `axis` of the scores [batch][head][query][key].
    int64_t maskStep(int axis) const {
        if (command_.inputs.size() < 4) return 0;
        const Shape& mask = command_.inputs[3]->shape;
        const int own = axis - (4 - mask.rank());
        return own < 0 || mask[own] == 1 ? 0 : mask.elements(own + 1, mask.rank());
    }

    const Command command_;
    const AttentionSizes sizes_;
    int64_t quads_ = 1;
    const Pipeline* pipeline_ = nullptr;
};

bool supportsAttention(const VulkanBackend& backend, const Command& command, std::string& reason) {
    const Limits& limits = backend.limits();
    if (limits.storageBuffers < kBuffers || limits.groupInvocations < kLocal ||
        limits.sharedMemory < kSharedBytes) {
        reason = "the device has too few buffers, invocations or bytes of shared memory for the kernel";
        return false;
    }
    return supportsFloat(backend, command, reason);
}

std::unique_ptr<Execution> createAttention(VulkanBackend& backend, const Command& command) {
    return std::make_unique<Attention>(backend, command);
}

constexpr VulkanOp kAttention[] = {{OpType::Attention, supportsAttention, nullptr, createAttention}};

}  // namespace

VulkanFamily attentionVulkan() {
    return kAttention;
}

}  // namespace mnnc::vulkan
