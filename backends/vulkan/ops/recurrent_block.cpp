// LSTMBlockCell: the sums of its gates in 32 bits, then all results that follow from them.
#include <algorithm>
#include <bit>

#include "backends/vulkan/ops/checks.h"
#include "backends/vulkan/ops/families.h"
#include "backends/vulkan/vulkan_execution.h"
#include "ops/recurrent.h"

namespace mnnc::vulkan {

namespace {

constexpr uint32_t kMaxBlockThreads = 128, kBlockUnits = 16;
constexpr uint32_t kResults = 7, kBlockBuffers = 5 + kResults;

class LstmBlock final : public VulkanExecution {
  public:
    LstmBlock(VulkanBackend& backend, const Command& command)
        : VulkanExecution(backend),
          command_(command),
          params_(command_.paramsAs<LstmBlockParams>()),
          batch_(command_.inputs[0]->shape[0]),
          inputs_(command_.inputs[0]->shape[1]),
          hidden_(command_.inputs[1]->shape[1]) {}

    void prepare() override {
        const uint32_t threads = std::bit_floor(std::min(kMaxBlockThreads, backend().limits().groupInvocations));
        sums_ = &backend().pipeline("recurrent_block_sums", DataType::Float32, 5, threads, {kBlockUnits});
        gates_ = &backend().pipeline("recurrent_block", DataType::Float32, kBlockBuffers, kLocal,
                                     {params_.peephole, static_cast<uint32_t>(command_.outputs.size())});
        requestScratch(sumBytes());
    }

    void encode(FrameRecorder& recorder) const override {
        const auto in = [&](size_t i) { return recorder.reads(*command_.inputs[i]); };
        const int64_t unitTiles = ceilDiv(hidden_, int64_t{kBlockUnits});
        recorder.dispatch(*sums_, {{in(0), in(2), in(3), in(7), recorder.scratch(0, sumBytes(), true)}},
                          Push().u(inputs_, hidden_, unitTiles), batch_ * unitTiles);
        std::vector<Binding> bindings{recorder.scratch(0, sumBytes(), false), in(1)};
        for (const size_t i : {4, 5, 6}) bindings.push_back(in(params_.peephole ? i : 1));
        for (size_t k = 0; k < kResults; ++k)
            bindings.push_back(recorder.writes(*command_.outputs[k < command_.outputs.size() ? k : 0]));
        recorder.dispatch(*gates_, bindings,
                          Push().u(batch_ * hidden_, hidden_).f(params_.forgetBias, params_.cellClip),
                          ceilDiv(batch_ * hidden_, gates_->localSize));
    }

  private:
    int64_t sumBytes() const { return batch_ * hidden_ * kQuadBytes; }

    const Command command_;
    const LstmBlockParams& params_;
    const int64_t batch_, inputs_, hidden_;
    const Pipeline *sums_ = nullptr, *gates_ = nullptr;
};

bool supportsLstmBlock(const VulkanBackend& backend, const Command& command, std::string& reason) {
    const auto& p = command.paramsAs<LstmBlockParams>();
    for (size_t i = 0; i < command.inputs.size(); ++i)
        if (command.inputs[i]->empty() && (p.peephole || i < 4 || i > 6))
            return refuse(reason, "the Vulkan kernel takes no empty inputs");
    const Limits& limits = backend.limits();
    if (limits.storageBuffers < kBlockBuffers || limits.groupInvocations < kBlockUnits ||
        limits.sharedMemory < kMaxBlockThreads * kQuadBytes)
        return refuse(reason, "the device has too few buffers, invocations or bytes of shared memory for the kernel");
    const int64_t state = command.inputs[1]->elements();
    if (checkedMul(state, kQuadBytes, "sums") > limits.storageRange)
        return refuse(
            reason, format("its sums exceed what the device binds at once (%lld bytes)", asLong(limits.storageRange)));
    return fewRounds(backend, checkedAdd(command.inputs[0]->shape[1], command.inputs[1]->shape[1], "rows"), reason);
}

std::unique_ptr<Execution> createLstmBlock(VulkanBackend& backend, const Command& command) {
    return std::make_unique<LstmBlock>(backend, command);
}

}  // namespace

constexpr VulkanOp kLstmBlock[] = {{OpType::LSTMBlockCell, supportsLstmBlock, nullptr, createLstmBlock}};
extern constinit const VulkanFamily recurrentBlockVulkan = kLstmBlock;

}  // namespace mnnc::vulkan
