// LinearAttention: a convolution over rows, then the gated delta rule head by head. A run reads the kept numbers and
// writes new ones to other memory, so that a run that fails changes nothing.
#include "ops/linear_attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "backend/kept_state.h"
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/sequence/linear_attention.h"
#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/families.h"
#include "base/checked.h"

namespace mnnc::cpu {
namespace {

constexpr int kMaxTaps = 32;

class LinearAttention final : public CommandExecution {
  public:
    LinearAttention(const CpuBackend& backend, const Command& command)
        : CommandExecution(command),
          kernels_(linearAttentionKernels(backend.kernels().id)),
          form_(params<LinearAttentionForm>()) {
        needs_.form.tensor = form_.tensor;
        needs_.form.numbers = form_.numbers();
        needs_.rows = form_.rows;
    }

    void prepare() override {
        const auto* weights = in(3).known<float>();
        weights_.resize(static_cast<size_t>(form_.channels) * static_cast<size_t>(form_.taps));
        for (size_t c = 0; c < static_cast<size_t>(form_.channels); ++c)
            for (size_t t = 0; t < static_cast<size_t>(form_.taps); ++t)
                weights_[t * static_cast<size_t>(form_.channels) + c] =
                    weights[c * static_cast<size_t>(form_.taps) + t];
        requestScratch(checkedMul(checkedMul(form_.rows, form_.channels, command().name.c_str()), sizeof(float),
                                  command().name.c_str()));
    }

    const KeptNeeds* kept() const noexcept override { return &needs_; }

    void run(const Frame& frame) const override {
        auto& state = *static_cast<KeptState*>(frame.state());
        auto* const x = static_cast<float*>(frame.scratch());
        const auto* projections = inData<float>(frame, 0);
        convolve(projections, state.now, x, frame.pool());
        keepRows(projections, state.now, state.next);
        parallelFor(frame.pool(), form_.valueHeads, [&](int head) { runHead(frame, state, x, head); });
        state.replaced = true;
    }

  private:
    size_t channels() const { return static_cast<size_t>(form_.channels); }
    // Returns a row of the projections. Rows below 0 are from before the run, and lie in the kept numbers.
    const float* rowOf(const float* projections, const float* kept, int64_t row) const {
        return row < 0 ? kept + (row + form_.taps - 1) * form_.channels : projections + row * form_.channels;
    }

    void convolve(const float* projections, const float* kept, float* x, ThreadPool& pool) const {
        const auto keys = static_cast<size_t>(form_.keyDepth);
        parallelFor(pool, form_.rows, [&](int row) {
            const float* rows[kMaxTaps];
            for (int t = 0; t < form_.taps; ++t) rows[t] = rowOf(projections, kept, int64_t{row} + t - form_.taps + 1);
            float* const to = x + static_cast<size_t>(row) * channels();
            kernels_.convolve(rows, weights_.data(), static_cast<size_t>(form_.taps), channels(), to);
            const float scale = static_cast<float>(1 / std::sqrt(static_cast<double>(form_.keyDepth)));
            for (size_t head = 0; head < 2 * static_cast<size_t>(form_.keyHeads); ++head)
                kernels_.normalise(to + head * keys, keys, head < static_cast<size_t>(form_.keyHeads) ? scale : 1);
        });
    }

    void keepRows(const float* projections, const float* now, float* next) const {
        for (int i = 0; i < form_.taps - 1; ++i)
            std::memcpy(next + static_cast<size_t>(i) * channels(),
                        rowOf(projections, now, int64_t{form_.rows} + i - form_.taps + 1), channels() * sizeof(float));
    }

    void runHead(const Frame& frame, const KeptState& state, const float* x, int head) const {
        const auto heads = static_cast<size_t>(form_.valueHeads), own = static_cast<size_t>(head);
        const auto keys = static_cast<size_t>(form_.keyDepth), values = static_cast<size_t>(form_.valueDepth);
        const size_t keyHead = own / (heads / static_cast<size_t>(form_.keyHeads));
        const auto place = static_cast<size_t>(form_.columnNumbers() + head * form_.matrixNumbers());
        DeltaRow step{};
        step.matrix = state.next + place;
        step.keyDepth = keys;
        step.valueDepth = values;
        std::memcpy(step.matrix, state.now + place, keys * values * sizeof(float));
        const auto *gates = inData<float>(frame, 1), *factors = inData<float>(frame, 2);
        auto* const out = outData<float>(frame);
        for (size_t row = 0; row < static_cast<size_t>(form_.rows); ++row) {
            const float* const from = x + row * channels();
            step.q = from + keyHead * keys;
            step.k = step.q + static_cast<size_t>(form_.keyHeads) * keys;
            step.v = from + 2 * static_cast<size_t>(form_.keyHeads) * keys + own * values;
            step.fade = std::exp(gates[row * heads + own]);
            step.learn = factors[row * heads + own];
            step.out = out + (row * heads + own) * values;
            kernels_.deltaRow(step);
        }
    }

    const LinearAttentionKernels& kernels_;
    const LinearAttentionForm& form_;
    std::vector<float> weights_;  // [tap][channel]
    KeptNeeds needs_;
};

std::unique_ptr<Execution> createLinearAttention(CpuBackend& backend, const Command& command, std::string& reason) {
    const Operand& weights = *command.inputs[3];
    if (!weights.hasConstantValue || !weights.values)
        return refuse(reason, "the weights of its convolution are no constant");
    if (command.paramsAs<LinearAttentionForm>().taps > kMaxTaps)
        return refuse(reason, "its convolution has more than 32 taps");
    return std::make_unique<LinearAttention>(backend, command);
}

}  // namespace

constexpr CpuOp kLinearAttentionCpu[] = {{OpType::LinearAttention, nullptr, createLinearAttention}};
extern constinit const CpuFamily linearAttentionCpu = kLinearAttentionCpu;

}  // namespace mnnc::cpu
