// The CPU backend: one table of executions, the thread pool of its runtime, the kernels of one instruction set.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "backend/backend.h"
#include "backend/refusal.h"
#include "backend/thread_pool.h"
#include "backend/weight_store.h"
#include "base/host_memory.h"

namespace mnnc {
struct Kernels;
}

namespace mnnc::cpu {

using PackedWeights = std::shared_ptr<const void>;

class CpuBackend final : public Backend {
  public:
    CpuBackend(const Kernels& kernels, std::shared_ptr<ThreadPool> pool, const BackendConfig& config,
               WeightStore& weights);
    const char* name() const noexcept override { return "cpu"; }
    EffectiveSettings settings() const override;
    bool supports(const Command& command, std::string& reason) const override;
    bool supportsPostOps(const Command& command) const override;
    bool supportsViews(const Command& command) const override;
    std::span<const FusionPattern* const> patterns() const noexcept override;
    bool canQuantize(const Command& command) const override;
    bool packsInt8() const noexcept override { return true; }
    uint32_t loadsInputs(OpType type) const noexcept override;
    int commonAlgorithm(std::span<const Command* const> commands) const override;
    StorageChoice chooseStorage(const Command& command) const override;
    std::unique_ptr<Execution> create(const Command& command, std::string& reason) override;
    ThreadPool* runPool() const noexcept override { return pool_.get(); }
    void prepareOn(ThreadPool* pool) noexcept override {
        leased_ = pool;
        if (fp32_) fp32_->prepareOn(pool);
    }

    const Kernels& kernels() const noexcept { return kernels_; }
    // The threads that prepare executions. A run uses the threads of its frame.
    ThreadPool& planningPool() const noexcept { return leased_ ? *leased_ : *pool_; }
    // Returns weights that are prepared once for all sessions, see WeightStore. inAll: the bytes that all weights of
    // the model may take, where known.
    PackedWeights weights(const WeightStore::Owner& owner, const std::string& variant, int64_t bytes,
                          const std::function<void(void*)>& fill, int64_t inAll = 0) const {
        return weights_.get<void>(owner, variant, bytes, config_.maxMemoryBytes, [&] {
            auto buffer = weightMemory(bytes, inAll);
            fill(buffer.get());
            return buffer;
        });
    }
    // Prepares the weights of a constant operand, shared by all commands that read it. Where a session has content of
    // its own, the weights belong to the command. Only constants of the model can be shared: the content of a folded
    // one may change with the shapes.
    PackedWeights weightsOf(const Command& command, size_t input, const std::string& variant, int64_t bytes,
                            const std::function<void(void*)>& fill) const {
        const WeightStore::Owner& content = command.inputs[input]->content;
        return weights(content ? content : command.params, variant, bytes, fill);
    }
    // The memory from which an execution allocates its blocks while it plans. Null: the library's allocator.
    HostMemoryPtr hostMemory() const noexcept;
    const BackendConfig& config() const noexcept { return config_; }
    int channelBlock() const noexcept;  // channels per block of packed tensors

  private:
    std::shared_ptr<void> weightMemory(int64_t bytes, int64_t inAll) const;

    const Kernels& kernels_;
    std::shared_ptr<ThreadPool> pool_;
    BackendConfig config_;
    WeightStore& weights_;
    ThreadPool* leased_ = nullptr;      // the pool of the session's call under way; null between calls
    std::unique_ptr<CpuBackend> fp32_;  // makes the executions of commands with `fp32`; null: this backend does
};

// One operator of the CPU backend. Families are lines of ops/families.def.
struct CpuOp {
    OpType type;
    // Null: every tensor is row-major.
    StorageChoice (*storage)(const CpuBackend& backend, const Command& command);
    // May return null and fill `reason`.
    std::unique_ptr<Execution> (*create)(CpuBackend& backend, const Command& command, std::string& reason);
    // Null: the operator takes no epilogue.
    bool (*supportsPostOps)(const CpuBackend& backend, const Command& command) = nullptr;
    // Null: the operator does not take int8 tensors.
    bool (*canQuantize)(const Command& command) = nullptr;
    uint32_t loadsInputs = 0;  // see Backend::loadsInputs
    // Null: the operator takes no operand views.
    bool (*supportsViews)(const CpuBackend& backend, const Command& command) = nullptr;
};
using CpuFamily = std::span<const CpuOp>;

// Storage rules shared by many operators.
// Stores all tensors packed like input 0 is stored now (elementwise operators of one shape).
StorageChoice storageFollow(const CpuBackend& backend, const Command& command);
// Stores input 0 and the outputs packed, all other inputs row-major (convolution, pooling, resize).
StorageChoice storagePacked(const CpuBackend& backend, const Command& command);

}  // namespace mnnc::cpu
