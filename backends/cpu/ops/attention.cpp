// Attention on the CPU, row-major: one call of attention(), or of keptAttention() over kept keys and values.
#include "ops/attention.h"

#include "backend/kept_state.h"
#include "backends/cpu/kernels/sequence/attention.h"
#include "backends/cpu/kernels/sequence/kept_attention.h"
#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/gemm_type.h"

namespace mnnc::cpu {
namespace {

class Attention final : public CommandExecution {
  public:
    Attention(const CpuBackend& backend, const Command& command)
        : CommandExecution(command), backend_(backend), args_{params<AttentionForm>(), gemmType(backend)} {}

    void prepare() override {
        requestScratch(attentionScratchBytes(backend_.kernels(), args_, backend_.planningPool().threads(),
                                             command().name.c_str()));
    }

    void run(const Frame& frame) const override {
        const auto& form = params<AttentionForm>();
        AttentionData data;
        data.q = inData<float>(frame, 0);
        data.k = inData<float>(frame, 1);
        data.v = inData<float>(frame, 2);
        for (size_t i = 0; i < form.steps.size(); ++i) data.steps[i] = inData<void>(frame, form.firstStep() + i);
        if (form.hasSinks) data.sinks = inData<float>(frame, form.sinksInput());
        data.out = outData<float>(frame);
        data.scratch = frame.scratch();
        attention(backend_.kernels(), args_, data, frame.pool());
    }

    std::string algorithm() const override { return gemmText(backend_, args_.type); }

  private:
    const CpuBackend& backend_;
    const AttentionArgs args_;
};

class KeptAttention final : public CommandExecution {
  public:
    KeptAttention(const CpuBackend& backend, const Command& command)
        : CommandExecution(command), backend_(backend), form_(params<KeptAttentionForm>()) {
        args_.type = gemmType(backend);
        args_.rows = form_.rows;
        args_.heads = form_.heads;
        args_.keyHeads = form_.keyHeads;
        args_.depth = form_.depth;
        args_.valueDepth = form_.valueDepth;
        args_.scale = form_.scale;
        needs_.form = {form_.tensor, form_.keyHeads, form_.depth, form_.valueDepth, 0};
        needs_.rows = form_.rows;
        if (form_.masked) needs_.mask = in(3).number;
    }

    void prepare() override {
        requestScratch(keptAttentionScratchBytes(backend_.kernels(), args_, backend_.planningPool().threads(),
                                                 command().name.c_str()));
    }

    const KeptNeeds* kept() const noexcept override { return &needs_; }

    // The session has compared the extents of the mask with the number of kept rows.
    void run(const Frame& frame) const override {
        KeptAttentionData data;
        data.state = static_cast<const KeptState*>(frame.state());
        data.q = inData<float>(frame, 0);
        data.k = inData<float>(frame, 1);
        data.v = inData<float>(frame, 2);
        if (form_.masked)
            data.mask =
                inData<float>(frame, 3) + int64_t{form_.maskEntry} * form_.rows * (data.state->length + form_.rows);
        data.out = outData<float>(frame);
        data.scratch = frame.scratch();
        keptAttention(backend_.kernels(), args_, data, frame.pool());
    }

    std::string algorithm() const override { return gemmText(backend_, args_.type); }

  private:
    const CpuBackend& backend_;
    const KeptAttentionForm& form_;
    KeptAttentionArgs args_;
    KeptNeeds needs_;
};

std::unique_ptr<Execution> createAttention(CpuBackend& backend, const Command& command, std::string&) {
    if (command.paramsIf<KeptAttentionForm>()) return std::make_unique<KeptAttention>(backend, command);
    return std::make_unique<Attention>(backend, command);
}

}  // namespace

constexpr CpuOp kAttentionCpu[] = {{OpType::Attention, nullptr, createAttention}};
extern constinit const CpuFamily attentionCpu = kAttentionCpu;

}  // namespace mnnc::cpu
