// Operators of the host, over row-major tensors. An output never shares memory with an input.
#include "net/custom.h"

#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/families.h"

namespace mnnc::cpu {

namespace {

struct HostState final : ExecutionState {
    explicit HostState(std::unique_ptr<HostComputation> made) : computation(std::move(made)) {}
    const std::unique_ptr<HostComputation> computation;
};

class HostExecution final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;
    std::unique_ptr<ExecutionState> makeState() const override {
        const std::vector<Tensor*> inputs(command().inputs.begin(), command().inputs.end()),
            outputs(command().outputs.begin(), command().outputs.end());
        return std::make_unique<HostState>(params<HostNodeParams>().node->plan(inputs, outputs));
    }
    void run(const Frame& frame) const override { static_cast<HostState*>(frame.state())->computation->run(frame); }
};

}  // namespace

constexpr CpuOp kCustom[] = {{OpType::Plugin, nullptr, makeExecution<HostExecution>}};
extern constinit const CpuFamily customCpu = kCustom;

}  // namespace mnnc::cpu
