// Attention, row-major: one dispatch, whose work groups walk over the keys. A table has the beginnings of the matrices
// of each head.
#include "ops/attention.h"

#include <algorithm>

#include "backends/vulkan/ops/checks.h"
#include "backends/vulkan/ops/families.h"
#include "backends/vulkan/ops/kept_attention.h"
#include "backends/vulkan/vulkan_execution.h"

namespace mnnc::vulkan {

namespace {

// The constants are those of attention.comp.
constexpr int64_t kTile = 32, kMaxQuads = 4;
constexpr int64_t kTileBytes = 4 * (kTile * 33 + 2 * kTile * 17 + 3 * kTile);
constexpr uint32_t kFixedBuffers = 6, kFewSteps = 2;
constexpr uint32_t kStepWords = 5;  // of a step in the table: row step, column step, columns, scale, `dropped`

uint32_t stepBuffers(const AttentionForm& form) {
    return form.steps.size() <= kFewSteps ? kFewSteps : kMaxAttentionSteps;
}

class Attention final : public VulkanExecution {
  public:
    Attention(VulkanBackend& backend, const Command& command)
        : VulkanExecution(backend), command_(command), form_(command_.paramsAs<AttentionForm>()) {}

    void prepare() override {
        makeTable();
        quads_ = std::min(kMaxQuads, ceilDiv(form_.valueDepth, 32));
        uint32_t kinds = 0;
        for (size_t i = 0; i < form_.steps.size(); ++i) {
            const AttentionStep& step = form_.steps[i];
            kinds |= (static_cast<uint32_t>(step.kind) | uint32_t{step.keepsZeros} << 2) << 4 * i;
        }
        const bool isMany = stepBuffers(form_) > kFewSteps;
        pipeline_ = &backend().pipeline(
            isMany ? "attention_many" : "attention", DataType::Float32, kFixedBuffers + stepBuffers(form_), kLocal,
            {static_cast<uint32_t>(quads_), static_cast<uint32_t>(form_.steps.size()), kinds, form_.hasSinks,
             hasWholeQuads(), form_.queriesTransposed, form_.keysTransposed});
    }

    void encode(FrameRecorder& recorder) const override {
        const int64_t blocks = ceilDiv(form_.queries, kTile), slices = ceilDiv(form_.valueDepth, quads_ * 32);
        Push push;
        push.u(form_.queries, form_.keys, form_.depth, form_.valueDepth, blocks, slices);
        push.u(headWords(), stepsAt_).f(form_.scale);
        const auto steps = [&](const AttentionOperand& operand, bool isTransposed) {
            const auto step = static_cast<int64_t>(operand.rowStep);
            push.u(isTransposed ? 1 : step, isTransposed ? step : 1);
        };
        steps(form_.q, form_.queriesTransposed);
        steps(form_.k, form_.keysTransposed);
        steps(form_.v, form_.valuesTransposed);
        steps(form_.out, form_.outTransposed);
        // Every binding needs a buffer: the queries take the place of an absent operand.
        const auto input = [&](size_t i, bool isThere) { return recorder.reads(*command_.inputs[isThere ? i : 0]); };
        std::vector<Binding> bindings = {input(0, true),          input(1, true),
                                         input(2, true),          recorder.writes(*command_.outputs[0]),
                                         recorder.reads(*table_), input(form_.sinksInput(), form_.hasSinks)};
        for (size_t i = 0; i < stepBuffers(form_); ++i)
            bindings.push_back(input(form_.firstStep() + i, i < form_.steps.size()));
        recorder.dispatch(*pipeline_, bindings, push, form_.heads * blocks * slices);
    }

  private:
    // The words for each head: the places of its queries, keys, values, results and sink, then its place in each step's
    // operand.
    int64_t headWords() const { return 5 + static_cast<int64_t>(form_.steps.size()); }

    void makeTable() {
        std::vector<uint32_t> words;
        const auto add = [&](size_t word) { words.push_back(static_cast<uint32_t>(word)); };
        for (int head = 0; head < form_.heads; ++head) {
            for (const AttentionOperand* operand : {&form_.q, &form_.k, &form_.v, &form_.out, &form_.sinks})
                add(operand->at(head));
            for (const AttentionStep& step : form_.steps) add(step.operand.at(head));
        }
        stepsAt_ = static_cast<int64_t>(words.size());
        size_t columnsAt = words.size() + form_.steps.size() * kStepWords;
        for (const AttentionStep& step : form_.steps) {
            add(step.operand.rowStep);
            add(step.columnStep);
            add(step.runs.empty() ? 0 : columnsAt);
            words.push_back(floatWord(step.scale));
            words.push_back(floatWord(step.dropped));
            if (!step.runs.empty()) columnsAt += static_cast<size_t>(form_.keys);
        }
        for (const AttentionStep& step : form_.steps)
            for (size_t i = 0; i + 1 < step.runs.size(); ++i)
                for (int32_t key = step.runs[i].key; key < step.runs[i + 1].key; ++key)
                    words.push_back(
                        static_cast<uint32_t>(step.runs[i].place + (key - step.runs[i].key) * step.runs[i].step));
        table_ = backend().table(words);
    }

    bool hasWholeQuads() const {
        const auto isWhole = [](size_t place) { return place % 4 == 0; };
        return form_.valueDepth % 4 == 0 && !form_.valuesTransposed && isWhole(form_.v.rowStep) &&
               std::all_of(form_.v.heads.begin(), form_.v.heads.end(), isWhole);
    }

    const Command command_;
    const AttentionForm& form_;
    VulkanBackend::WeightsPtr table_;
    int64_t quads_ = 1, stepsAt_ = 0;
    const Pipeline* pipeline_ = nullptr;
};

bool supportsAttention(const VulkanBackend& backend, const Command& command, std::string& reason) {
    if (command.paramsIf<KeptAttentionForm>()) return supportsKeptAttention(backend, command, reason);
    const Limits& limits = backend.limits();
    const auto& form = command.paramsAs<AttentionForm>();
    if (limits.storageBuffers < kFixedBuffers + stepBuffers(form) || limits.groupInvocations < kLocal ||
        limits.sharedMemory < kTileBytes)
        return refuse(reason, "the device has too few buffers, invocations or bytes of shared memory for the kernel");
    const auto steps = static_cast<int64_t>(form.steps.size());
    const int64_t words = int64_t{form.heads} * (5 + steps) + steps * (kStepWords + int64_t{form.keys});
    if (words * 4 > limits.storageRange) return refuse(reason, "its table exceeds what the device binds at once");
    // For a tile of keys, each chunk of the depth takes 16 rounds for products and up to 17 to fetch operands; each key
    // takes three for the values.
    const int64_t ofTile = 3 * kTile + 1 + ceilDiv(int64_t{form.depth}, int64_t{16}) * 33;
    return fewRounds(backend, ceilDiv(int64_t{form.keys}, int64_t{kTile}) * ofTile, reason) &&
           supportsFloat(backend, command, reason);
}

std::unique_ptr<Execution> createAttention(VulkanBackend& backend, const Command& command) {
    if (command.paramsIf<KeptAttentionForm>()) return createKeptAttention(backend, command);
    return std::make_unique<Attention>(backend, command);
}

}  // namespace

constexpr VulkanOp kAttention[] = {{OpType::Attention, supportsAttention, nullptr, createAttention}};
extern constinit const VulkanFamily attentionVulkan = kAttention;

}  // namespace mnnc::vulkan
