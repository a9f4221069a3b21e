// Operators of the host: over row-major tensors, never in the memory of an input.
#include "ops/custom.h"

#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/families.h"

namespace mnnc::cpu {

namespace {

class HostExecution final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;
    void prepare() override {
        computation_ = params<HostNodeParams>().node->plan(command().inputs, command().outputs);
    }
    void run(const Frame& frame) const override { computation_->run(frame); }

  private:
    std::unique_ptr<HostComputation> computation_;
};

constexpr CpuOp kCustom[] = {{OpType::Plugin, nullptr, makeExecution<HostExecution>}};

}  // namespace

CpuFamily customCpu() {
    return kCustom;
}

}  // namespace mnnc::cpu
