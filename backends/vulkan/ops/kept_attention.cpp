// Kept attention, row-major: a dispatch for each page, which also stores the rows of the run that lie there, and one
// that adds their results. The recorded commands depend on the pages, but not on the number of rows in them.
#include "backends/vulkan/ops/kept_attention.h"

#include <algorithm>
#include <array>

#include "backend/kept_state.h"
#include "backends/vulkan/ops/checks.h"
#include "base/checked.h"
#include "ops/attention.h"

namespace mnnc::vulkan {

namespace {

// The constants are those of kept_attention.comp.
constexpr int64_t kMaxQueries = 8;  // of a work group
constexpr int64_t kSharedBytes = 4 * (kMaxQueries * (kKeptPageRows + kLocal + 1) + kLocal);
constexpr uint32_t kPageBuffers = 7, kCombineBuffers = 3;
enum class MaskKind : uint32_t { None, Elements, Floats };

// Pages of different slots are computed at the same time: there are as many slots as give this many groups, but at most
// kMaxSlots.
constexpr int64_t kEnoughGroups = 256, kMaxSlots = 16;

int64_t slotBytes(const VulkanBackend& backend, const KeptAttentionForm& form) {
    constexpr const char* kWhat = "sums of attention";
    const int64_t rows = checkedMul(form.rows, form.heads, kWhat);
    return roundUp(checkedMul(checkedMul(rows, int64_t{form.valueDepth} + 2, kWhat), sizeof(float), kWhat),
                   backend.alignment());
}

class KeptAttention final : public VulkanExecution {
  public:
    KeptAttention(VulkanBackend& backend, const Command& command)
        : VulkanExecution(backend), command_(command), form_(command_.paramsAs<KeptAttentionForm>()) {
        needs_.form = {form_.tensor, form_.keyHeads, form_.depth, form_.valueDepth, 0};
        needs_.rows = form_.rows;
        if (form_.masked) needs_.mask = command_.inputs[3]->number;
    }

    const KeptNeeds* kept() const noexcept override { return &needs_; }

    void prepare() override {
        const int64_t rows = int64_t{form_.rows} * (form_.heads / form_.keyHeads);
        while (queries_ < kMaxQueries && queries_ < rows) queries_ *= 2;
        blocks_ = ceilDiv(rows, queries_);
        slotBytes_ = slotBytes(backend(), form_);
        const int64_t bindable = std::max<int64_t>(backend().limits().storageRange / slotBytes_, 1);
        slots_ = std::min(std::clamp<int64_t>(kEnoughGroups / (blocks_ * form_.keyHeads), 1, kMaxSlots), bindable);
        requestScratch(checkedMul(slots_, slotBytes_, command_.name.c_str()));
        auto kind = MaskKind::None;
        if (form_.masked) kind = command_.inputs[3]->onDevice ? MaskKind::Elements : MaskKind::Floats;
        for (const bool halves : {false, true})
            pipelines_[halves] = &backend().pipeline(
                "kept_attention", DataType::Float32, kPageBuffers, kLocal,
                {static_cast<uint32_t>(queries_), halves, static_cast<uint32_t>(kind), form_.depth % 4 == 0});
        combine_ = &backend().pipeline("kept_attention_combine", DataType::Float32, kCombineBuffers, kLocal);
    }

    void encode(FrameRecorder& recorder) const override {
        const auto* state = static_cast<const KeptState*>(recorder.state());
        if (!state) fail(Status::Internal, "op '%s' has no state", command_.name.c_str());
        const Binding length = FrameRecorder::reads(blockOf(state->lengthWord));
        // The extent of a mask in memory of the host differs from run to run; its memory suffices for all runs.
        const Operand& read = *command_.inputs[form_.masked ? 3 : 0];
        const Binding mask = read.onDevice ? recorder.reads(read) : recorder.readsFrom(read);
        for (size_t i = 0; i < state->blocks.size(); ++i) {
            const auto page = static_cast<int64_t>(i);
            Push push;
            push.u(form_.rows, form_.heads, form_.keyHeads, form_.depth, form_.valueDepth, blocks_);
            push.u(page * kKeptPageRows, page < slots_, int64_t{form_.maskEntry} * form_.rows).f(form_.scale);
            const Block& memory = blockOf(state->blocks[i]);
            const std::array<Binding, kPageBuffers> bindings = {
                recorder.reads(*command_.inputs[0]),
                recorder.reads(*command_.inputs[1]),
                recorder.reads(*command_.inputs[2]),
                bindBlock(memory, 0, memory.bytes(), true),
                length,
                recorder.scratch(page % slots_ * slotBytes_, slotBytes_, true),
                mask};
            recorder.dispatch(*pipelines_[state->halves], bindings, push, blocks_ * form_.keyHeads);
        }
        const int64_t elements = command_.outputs[0]->elements();
        Push push;
        push.u(elements, form_.rows, form_.heads, form_.keyHeads, form_.valueDepth);
        push.u(slots_, slotBytes_ / static_cast<int64_t>(sizeof(float)));
        const std::array<Binding, kCombineBuffers> bindings = {recorder.scratch(0, slots_ * slotBytes_, false), length,
                                                               recorder.writes(*command_.outputs[0])};
        recorder.dispatch(*combine_, bindings, push, ceilDiv(elements, combine_->localSize));
    }

  private:
    static const Block& blockOf(const DeviceBlock* block) { return static_cast<const Block&>(*block); }

    const Command command_;
    const KeptAttentionForm& form_;
    KeptNeeds needs_;
    int64_t queries_ = 1;  // of a group
    int64_t blocks_ = 1, slots_ = 1, slotBytes_ = 0;
    const Pipeline* pipelines_[2] = {};  // for rows of floats and of halves
    const Pipeline* combine_ = nullptr;
};

}  // namespace

bool supportsKeptAttention(const VulkanBackend& backend, const Command& command, std::string& reason) {
    const auto& form = command.paramsAs<KeptAttentionForm>();
    const Limits& limits = backend.limits();
    if (limits.storageBuffers < kPageBuffers || limits.groupInvocations < kLocal || limits.sharedMemory < kSharedBytes)
        return refuse(reason, "the device has too few buffers, invocations or bytes of shared memory for the kernel");
    const KeptForm kept{form.tensor, form.keyHeads, form.depth, form.valueDepth, 0};
    const int64_t maxFloats = std::min<int64_t>(limits.storageRange, INT32_MAX) / static_cast<int64_t>(sizeof(float));
    if (kept.rowElements() > maxFloats / kKeptPageRows ||
        int64_t{form.rows} * form.heads > maxFloats / (int64_t{form.valueDepth} + 2))
        return refuse(
            reason,
            format("a page of its keys and values, or its sums, exceed what the device binds at once (%lld bytes)",
                   asLong(limits.storageRange)));
    return supportsFloat(backend, command, reason);
}

std::unique_ptr<Execution> createKeptAttention(VulkanBackend& backend, const Command& command) {
    return std::make_unique<KeptAttention>(backend, command);
}

}  // namespace mnnc::vulkan
