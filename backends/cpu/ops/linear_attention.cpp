// LinearAttention: a convolution over rows, then the gated delta rule head by head (Yang, Kautz and Hatamizadeh, arXiv
// 2412.06464); or a short convolution alone. A run reads the kept numbers and writes new ones to other memory, so that
// a run that fails changes nothing.
#include "ops/linear_attention.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "backend/kept_state.h"
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/sequence/linear_attention.h"
#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/past_rows.h"
#include "base/checked.h"
#include "ops/short_convolution.h"

namespace mnnc::cpu {
namespace {

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
        weights_ = tapMajor(in(3).known<float>(), form_.channels, form_.taps);
        requestScratch(checkedMul(checkedMul(form_.rows, form_.channels, command().name.c_str()), sizeof(float),
                                  command().name.c_str()));
    }

    const KeptNeeds* kept() const noexcept override { return &needs_; }

    void run(const Frame& frame) const override {
        auto& state = *static_cast<KeptState*>(frame.state());
        auto* const x = static_cast<float*>(frame.scratch());
        const auto* projections = inData<float>(frame, 0);
        const PastRows rows{state.now, projections, form_.taps, channels()};
        convolve(rows, x, frame.pool());
        rows.keep(form_.rows, state.next);
        parallelFor(frame.pool(), form_.valueHeads, [&](int head) { runHead(frame, state, x, head); });
        state.replaced = true;
    }

  private:
    size_t channels() const { return static_cast<size_t>(form_.channels); }

    void convolve(const PastRows& from, float* x, ThreadPool& pool) const {
        const auto keys = static_cast<size_t>(form_.keyDepth);
        parallelFor(pool, form_.rows, [&](int row) {
            const float* rows[kMaxRowTaps];
            from.read(row, rows);
            float* const to = x + static_cast<size_t>(row) * channels();
            kernels_.convolve(rows, weights_.data(), static_cast<size_t>(form_.taps), channels(), to);
            const float scale = static_cast<float>(1 / std::sqrt(static_cast<double>(form_.keyDepth)));
            for (size_t head = 0; head < 2 * static_cast<size_t>(form_.keyHeads); ++head)
                kernels_.normalise(to + head * keys, keys, head < static_cast<size_t>(form_.keyHeads) ? scale : 1);
        });
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

class ShortConvolution final : public CommandExecution {
  public:
    ShortConvolution(const CpuBackend& backend, const Command& command)
        : CommandExecution(command),
          kernels_(linearAttentionKernels(backend.kernels().id)),
          form_(params<ShortConvolutionForm>()) {
        needs_.form.tensor = form_.tensor;
        needs_.form.numbers = form_.numbers();
        needs_.rows = form_.rows;
    }

    void prepare() override {
        weights_ = tapMajor(in(1).known<float>(), form_.channels, form_.taps);
        requestScratch(checkedMul(checkedMul(form_.rows, form_.channels, command().name.c_str()), sizeof(float),
                                  command().name.c_str()));
    }

    const KeptNeeds* kept() const noexcept override { return &needs_; }

    void run(const Frame& frame) const override {
        auto& state = *static_cast<KeptState*>(frame.state());
        auto* const products = static_cast<float*>(frame.scratch());
        const auto channels = static_cast<size_t>(form_.channels);
        const auto* const projections = inData<float>(frame, 0);
        auto* const out = outData<float>(frame);
        parallelFor(frame.pool(), form_.rows, [&](int row) {
            const float *b = projections + static_cast<size_t>(row) * 3 * channels, *x = b + 2 * channels;
            float* const to = products + static_cast<size_t>(row) * channels;
            for (size_t i = 0; i < channels; ++i) to[i] = b[i] * x[i];
        });
        const PastRows from{state.now, products, form_.taps, channels};
        parallelFor(frame.pool(), form_.rows, [&](int row) {
            const float* rows[kMaxRowTaps];
            from.read(row, rows);
            kernels_.convolveScaled(rows, weights_.data(), static_cast<size_t>(form_.taps), channels,
                                    projections + (static_cast<size_t>(row) * 3 + 1) * channels,
                                    out + static_cast<size_t>(row) * channels);
        });
        from.keep(form_.rows, state.next);
        state.replaced = true;
    }

  private:
    const LinearAttentionKernels& kernels_;
    const ShortConvolutionForm& form_;
    std::vector<float> weights_;  // [tap][channel]
    KeptNeeds needs_;
};

std::unique_ptr<Execution> createLinearAttention(CpuBackend& backend, const Command& command, std::string& reason) {
    const Operand& weights = *command.inputs.back();
    if (!weights.hasConstantValue || !weights.values)
        return refuse(reason, "the weights of its convolution are not constant");
    const auto* convolution = paramsIf<ShortConvolutionForm>(command.params.get());
    if ((convolution ? convolution->taps : command.paramsAs<LinearAttentionForm>().taps) > kMaxRowTaps)
        return refuse(reason, "its convolution has more than 32 taps");
    if (convolution) return std::make_unique<ShortConvolution>(backend, command);
    return std::make_unique<LinearAttention>(backend, command);
}

}  // namespace

constexpr CpuOp kLinearAttentionCpu[] = {{OpType::LinearAttention, nullptr, createLinearAttention}};
extern constinit const CpuFamily linearAttentionCpu = kLinearAttentionCpu;

}  // namespace mnnc::cpu
