// Attention on the CPU, row-major: one call of the kernel of its name.
#include "ops/attention_layout.h"

#include "backends/cpu/kernels/sequence/attention.h"
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

std::unique_ptr<Execution> createAttention(CpuBackend& backend, const Command& command, std::string&) {
    return std::make_unique<Attention>(backend, command);
}

}  // namespace

CpuFamily attentionCpu() {
    static constexpr CpuOp kOps[] = {{OpType::Attention, nullptr, createAttention}};
    return kOps;
}

}  // namespace mnnc::cpu
