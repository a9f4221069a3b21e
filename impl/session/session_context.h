// State that the pipelines of one path share: those of the main graph and of the graphs of control flow.
#pragma once
#include <atomic>
#include <cstdint>
#include <new>
#include <vector>

#include "backend/device_backend.h"
#include "base/aligned.h"
#include "base/cancellation.h"
#include "session/plan_settings.h"
#include "session/plan_texts.h"

namespace mnnc {

class KeptStates;
class ProgramStore;
class RunObserver;

struct SessionContext {
    const Net* net = nullptr;
    std::shared_ptr<DeviceBackend> device;  // the wanted backend when it has memory of its own, else null
    std::shared_ptr<Backend> cpu;           // folds constants and takes what the device does not
    ThreadPool* pool = nullptr;             // of the call under way
    const WeightStore* weights = nullptr;
    ProgramStore* programs = nullptr;  // null: the session shares none
    PlanSettings settings;             // sessions with equal settings share programs
    std::vector<bool> fp32Nodes;       // by number, where Precision::Low does not hold for some; else empty
    HostMemoryPtr hostMemory;          // the source of all buffers; null: the library's own
    int64_t maxMemoryBytes = 0;
    int64_t maxLoopIterations = 0;
    size_t planCache = 2;             // plans of a pipeline, the one in use included
    Cancellation cancel;              // of the call under way
    uint64_t calls = 0;               // runs and resizes, the one under way included
    RunObserver* observer = nullptr;  // of the run under way
    bool showsDevice = false;         // the observer may read values on the device (session/device_values.h)
    // Counts of what planning has made, for tests.
    struct {
        int64_t encoded = 0, executions = 0;  // encoded operators, executions of commands
    } counts;
    PlanTexts planTexts;  // where settings.recordsPlans
    bool asksHost() const noexcept { return !settings.hostBackends.empty() || !settings.hostBackups.empty(); }
    bool keepsFp32(int node) const noexcept {
        return node >= 0 && static_cast<size_t>(node) < fp32Nodes.size() && fp32Nodes[static_cast<size_t>(node)];
    }
    const Backend& wanted() const noexcept { return device ? static_cast<const Backend&>(*device) : *cpu; }
    // The number of plans of stages, and of allocations of device memory for them.
    std::atomic<uint64_t> stagePlans{0}, deviceAllocations{0};
    // The bytes of arenas, inputs, kept states, buffers of bindings and values of control flow of this path. Memory of
    // shared programs, such as folded constants, counts with the weights (session/shared_memory.h).
    int64_t heldBytes = 0;
    HeldMemory* sessionMemory = nullptr;  // of all paths, for reports; may be null
    KeptStates* kept = nullptr;           // what operators keep from run to run

    // Memory that a caller has mapped is kept while it is mapped, even when a plan takes other memory: a caller that
    // writes through an old pointer only loses what it writes.
    bool keepReplaced = false;
    // Takes over memory that heldBytes counts. Returns false when it does not keep it.
    bool keep(AlignedBuffer& buffer) noexcept {
        return buffer.data() && keepIn(replaced_, std::move(buffer), static_cast<int64_t>(buffer.size()));
    }
    bool keep(DeviceBlockPtr& block, int64_t bytes) noexcept {
        return block && keepIn(replacedBlocks_, std::move(block), bytes);
    }
    void keep(const std::shared_ptr<const void>& program) noexcept {
        if (keepReplaced) keepOne(replacedPrograms_, std::shared_ptr(program));
    }
    void dropReplaced() noexcept {
        replacedPrograms_.clear();
        replaced_.clear();
        replacedBlocks_.clear();
        count(-replacedBytes_);
        replacedBytes_ = 0;
    }

    // Throws LimitExceeded when this many bytes more would exceed the limit.
    void checkBudget(int64_t bytes, const char* what) const {
        const int64_t held = heldBytes + weights->bytes();
        if (bytes > 0 && bytes > maxMemoryBytes - held)
            fail(Status::LimitExceeded, "%s needs %lld bytes beside the %lld held; max_memory_bytes is %lld", what,
                 static_cast<long long>(bytes), static_cast<long long>(held), static_cast<long long>(maxMemoryBytes));
    }
    // Throws LimitExceeded when what is held exceeds the limit.
    void checkHeld() const {
        const int64_t held = heldBytes + weights->bytes();
        if (held > maxMemoryBytes)
            fail(Status::LimitExceeded, "the session and prepared weights hold %lld bytes; max_memory_bytes is %lld",
                 static_cast<long long>(held), static_cast<long long>(maxMemoryBytes));
    }
    // Counts memory that was allocated or (below 0) released.
    void count(int64_t bytes) noexcept {
        heldBytes += bytes;
        if (sessionMemory) sessionMemory->add(bytes);
    }

  private:
    // Memory that cannot be kept stays with its owner.
    template <typename Memory>
    bool keepIn(std::vector<Memory>& list, Memory&& memory, int64_t bytes) noexcept {
        if (!keepReplaced || !keepOne(list, std::forward<Memory>(memory))) return false;
        replacedBytes_ += bytes;
        return true;
    }
    template <typename Memory>
    static bool keepOne(std::vector<Memory>& list, Memory&& memory) noexcept {
        try {
            list.push_back(std::forward<Memory>(memory));
            return true;
        } catch (const std::bad_alloc&) {
            return false;
        }
    }

    std::vector<AlignedBuffer> replaced_;
    std::vector<DeviceBlockPtr> replacedBlocks_;
    std::vector<std::shared_ptr<const void>> replacedPrograms_;  // they own constants that may be outputs
    int64_t replacedBytes_ = 0;
};

}  // namespace mnnc
