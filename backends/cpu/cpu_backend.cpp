// The CPU backend answers from its table of operators and its list of fusion patterns.
#include "backends/cpu/cpu_backend.h"

#include "backend/cores.h"
#include "backend/shared_runtime.h"
#include "backends/cpu/cpu_runtime.h"
#include "backends/cpu/fusions/patterns.h"
#include "backends/cpu/kernels/cpu_costs.h"
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/ops/common_algorithm.h"
#include "backends/cpu/ops/table.h"
#include "backends/cpu/processor_costs.h"
#include "base/aligned.h"
#include "base/error.h"

namespace mnnc::cpu {

namespace {

class CpuRuntime final : public Runtime {
  public:
    explicit CpuRuntime(const BackendConfig& config)
        : kernels_(selectKernels(config.cpuIsa)),
          costs_(*kernels_.costs),
          threads_(config.shared ? config.shared->threads : ownWorkers(config)),
          pool_(threads_->pool(config.threads)) {
        if (!config.shared || !config.shared->costs) return;
        const CostSections& sections = config.shared->costs->sections;
        const auto section = sections.find(kernels_.isa);
        if (section == sections.end()) return;  // this instruction set was not measured
        applyCosts(section->second, costs_.cycles);
        kernels_.costs = &costs_;
    }

    std::unique_ptr<Backend> createBackend(const BackendConfig& config, WeightStore& weights) override {
        return std::make_unique<CpuBackend>(kernels_, pool_, config, weights);
    }

  private:
    static SharedThreadsPtr ownWorkers(const BackendConfig& config) {
        const bool placed = config.power != Power::Normal && config.threads > 1;
        return makeWorkers(config.threads,
                           placed ? coresOf(machineCores(), {}, config.power, config.threads) : std::vector<int>());
    }

    Kernels kernels_;
    CpuCosts costs_;  // with the host's measurements, where there are any
    const SharedThreadsPtr threads_;
    const std::shared_ptr<ThreadPool> pool_;
};

// Returns the pattern that executes a fused command: its own, or the pattern of the same name where another backend
// matched it.
const FusionPattern* fusionPattern(const Command& fused) {
    return findPattern(fusionPatterns(), typeName(fused));
}

}  // namespace

std::shared_ptr<Runtime> createCpuRuntime(const BackendConfig& config) {
    return std::make_shared<CpuRuntime>(config);
}

CpuBackend::CpuBackend(const Kernels& kernels, std::shared_ptr<ThreadPool> pool, const BackendConfig& config,
                       WeightStore& weights)
    : kernels_(kernels), pool_(std::move(pool)), config_(config), weights_(weights) {
    if (config.precision != Precision::Low || config.fp32Operators.empty()) return;
    BackendConfig fp32 = config;
    fp32.precision = Precision::Normal;
    fp32.fp32Operators.clear();
    fp32_ = std::make_unique<CpuBackend>(kernels_, pool_, fp32, weights_);
}

EffectiveSettings CpuBackend::settings() const {
    EffectiveSettings own;
    own.precision = config_.precision;
    if (config_.precision == Precision::Low && !kernels_.bf16) {
        own.precision = Precision::Normal;
        own.precisionReason = "there are no products of bf16 or fp16 numbers in this instruction set";
    }
    own.memory = config_.memory;
    if (config_.memory == MemoryMode::High) {
        own.memory = MemoryMode::Normal;
        own.memoryReason = "the CPU backend keeps no more than its kernels read";
    }
    own.threads = pool_->threads();
    own.isa = kernels_.isa;
    return own;
}

HostMemoryPtr CpuBackend::hostMemory() const noexcept {
    return config_.shared ? config_.shared->memory : nullptr;
}

std::shared_ptr<void> CpuBackend::weightMemory(int64_t bytes, int64_t inAll) const {
    HostMemoryPtr host = hostMemory();
    if (!host) return weights_.memory().allocate(bytes, inAll - weights_.bytes() - bytes);
    const auto block = std::make_shared<AlignedBuffer>(bytes, std::move(host));
    return {block, block->data()};
}

int CpuBackend::channelBlock() const noexcept {
    return kernels_.lanes;
}

StorageChoice CpuBackend::chooseStorage(const Command& command) const {
    if (command.type == OpType::Fused) return fusionPattern(command)->storage(*this, command);
    const CpuOp* op = findCpuOp(command.type);
    return op && op->storage ? op->storage(*this, command) : StorageChoice{};
}

bool CpuBackend::supportsPostOps(const Command& command) const {
    const CpuOp* op = findCpuOp(command.type);
    return op && op->supportsPostOps && op->supportsPostOps(*this, command);
}

bool CpuBackend::supportsViews(const Command& command) const {
    const CpuOp* op = findCpuOp(command.type);
    return op && op->supportsViews && op->supportsViews(*this, command);
}

std::span<const FusionPattern* const> CpuBackend::patterns() const noexcept {
    return fusionPatterns();
}

bool CpuBackend::canQuantize(const Command& command) const {
    if (command.type == OpType::Fused) return fusionPattern(command) == &kElementwiseChain;
    const CpuOp* op = findCpuOp(command.type);
    return op && op->canQuantize && op->canQuantize(command);
}

uint32_t CpuBackend::loadsInputs(OpType type) const noexcept {
    const CpuOp* op = findCpuOp(type);
    return op ? op->loadsInputs : 0;
}

int CpuBackend::commonAlgorithm(std::span<const Command* const> commands) const {
    return cpu::commonAlgorithm(*this, commands);
}

bool CpuBackend::supports(const Command& command, std::string& reason) const {
    if (command.type == OpType::Fused ? fusionPattern(command) != nullptr : findCpuOp(command.type) != nullptr)
        return true;
    return refuse(reason, "the CPU backend has no kernel for it");
}

std::unique_ptr<Execution> CpuBackend::create(const Command& command, std::string& reason) {
    if (command.fp32 && fp32_) return fp32_->create(command, reason);
    if (command.type == OpType::Fused) return fusionPattern(command)->create(*this, command, reason);
    return findCpuOp(command.type)->create(*this, command, reason);
}

StorageChoice storageFollow(const CpuBackend&, const Command& command) {
    StorageChoice choice;
    if (!command.inputs.empty()) choice.inputBlock = choice.outputBlock = command.inputs[0]->channelBlock;
    return choice;
}

StorageChoice storagePacked(const CpuBackend& backend, const Command&) {
    StorageChoice choice;
    choice.inputBlock = choice.outputBlock = backend.channelBlock();
    choice.rowMajorInputs = ~1u;
    return choice;
}

}  // namespace mnnc::cpu
