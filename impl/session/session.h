// Everything one inference needs: runtime, backend, the main pipeline. One call at a time changes it, and no other
// reads it meanwhile but for needsResize() and memory(): its owner sees to that. Keeps what it needs of its interpreter
// alive.
#pragma once
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backend/registry.h"
#include "base/float_mode.h"
#include "session/bindings.h"
#include "session/interpreter.h"
#include "session/pipeline.h"
#include "session/statistics.h"

namespace mnnc {

struct SessionConfig {
    ForwardType forwardType = ForwardType::Cpu;
    ForwardType backupType = ForwardType::Cpu;
    bool allowFallback = false;
    BackendConfig backend;
    std::vector<std::string> outputs;      // instead of the model's; empty: the model's
    std::vector<std::string> saveTensors;  // beside those
    int64_t maxMemoryBytes = 0;            // 0: 4 GiB or half the machine's memory, whichever is more
    int64_t maxLoopIterations = 0;         // 0: 1,000,000
    std::vector<uint8_t> cache;  // of an earlier session of the same device; what does not fit is a miss
    Cancellation cancel;         // ends the creation
    bool recordPlans = false;    // for planTexts()
    bool keepSubnormals = false;
    bool deferPlanning = false;  // the first resize() plans, not the constructor
    int planCache = 0;           // plans that are kept; 0: 2
};

class Session {
  public:
    // Plans at once when all input extents are known, unless planning is deferred.
    Session(std::shared_ptr<const Interpreter> interpreter, const SessionConfig& config);
    ~Session();

    size_t inputCount() const noexcept { return pipeline_->inputCount(); }
    size_t outputCount() const noexcept { return pipeline_->outputCount(); }
    Tensor& input(size_t index) noexcept { return pipeline_->input(index); }
    const Tensor& output(size_t index) const noexcept { return pipeline_->output(index); }

    // The shape an input has or will have after the next resize.
    const Shape& inputShape(size_t index) const noexcept { return wantedShapes_[index]; }
    void resizeInput(size_t index, const Shape& shape);
    bool needsResize() const noexcept { return needsResize_.load(std::memory_order_acquire); }
    void resize(const Cancellation& cancel = {});
    // observer: watches this run; may be null. It may read the session, not run or change it.
    // Throws what the last resize threw, if that failed and no shape has changed since.
    void run(RunObserver* observer = nullptr, const Cancellation& cancel = {});
    // Throws what run() throws when it cannot begin.
    void requireReady() const;

    // A run in two halves, where it needs the device alone. begin() may throw what run() throws; then none is under way.
    bool onDeviceAlone() const noexcept { return pipeline_->recording() != nullptr; }
    void begin(const Cancellation& cancel);
    // False when the run is not over within that many nanoseconds; below 0 there is no limit. Else, and when it throws what
    // run() throws, it is over.
    bool end(int64_t nanoseconds);

    // Whether callers see an input or output as half, which is a float inside (ops/declarations.h).
    bool inputIsHalf(size_t index) const { return half_.inputs[index]; }
    bool outputIsHalf(size_t index) const { return half_.outputs[index]; }

    // Memory of the caller, see Bindings. Throw BadState while a resize is needed, unless data is null.
    void bindInput(size_t index, const void* data, int64_t bytes, Format format);
    void bindOutput(size_t index, void* data, int64_t bytes, Format format);
    // Null: nothing was bound so far.
    const Bindings* bindings() const noexcept { return bindings_.get(); }
    // Keeps the plan in use alone, and no more memory than that needs, unless a caller has some of it mapped.
    void trim();

    // Whether a caller has a tensor mapped: what it points to is kept that long.
    void keepMapped(bool mapped) noexcept;

    // The backend that runs the session, and why it is not the wanted one: empty when it is.
    ForwardType forwardType() const noexcept { return forwardType_; }
    const std::string& fallbackReason() const noexcept { return fallbackReason_; }
    ForwardType wantedType() const noexcept { return wantedType_; }
    // What is done where the configuration asks for more, and what it asked for.
    const EffectiveSettings& settings() const noexcept { return settings_; }
    const BackendConfig& wantedSettings() const noexcept { return wantedSettings_; }
    const Statistics& statistics() const noexcept { return statistics_; }
    uint64_t stagePlans() const noexcept { return context_.stagePlans; }
    uint64_t deviceAllocations() const noexcept { return context_.deviceAllocations; }
    // Whether the outputs depend on an input.
    bool usesInput(size_t index) const { return pipeline_->reads(pipeline_->inputId(index)); }

    // Constants of the main graph, by the ids of their tensors. They keep their shapes. What is written into an own one
    // holds from the next resize() on, which constantWritten() asks for.
    const Tensor& constant(int id) const noexcept { return pipeline_->tensor(id); }
    Tensor& ownConstant(int id) { return pipeline_->ownConstant(id); }
    void constantWritten(int id);
    std::vector<int> ownConstants() const { return pipeline_->ownConstants(); }
    const Model& model() const noexcept { return interpreter_->model(); }
    const Net& net() const noexcept { return *interpreter_->net; }

    // How many times resize() has planned: code that keeps addresses of tensors compares it.
    uint64_t plans() const noexcept { return plans_; }

    // Whether outputs may be described (their shapes are known) and read (a run made them).
    bool outputsShaped() const noexcept { return !needsResize() && (hasRun_ || pipeline_->singleStage()); }
    bool outputsReadable() const noexcept { return !needsResize() && hasRun_; }
    bool outputReadable(size_t index) const noexcept {
        return outputsReadable() && (!bindings_ || bindings_->outputKept(index));
    }

    const std::vector<OpRecord>& records() const;
    // How many plans of stages, encoded operators and executions have been made.
    struct PlanCounts {
        uint64_t plans;
        int64_t encoded, executions;
    };
    PlanCounts planCounts() const noexcept {
        return {stagePlans(), context_.counts.encoded, context_.counts.executions};
    }
    bool recordsPlans() const noexcept { return context_.recordsPlans; }
    const PlanTexts& planTexts() const noexcept { return context_.planTexts; }
    // "" of the main net.
    const std::string& graphName(int graph) const {
        return interpreter_->model().graphs()[static_cast<size_t>(graph)].name;
    }
    struct Memory {
        int64_t arena = 0, weights = 0, total = 0, peak = 0;
    };
    Memory memory() const;
    // What a later process may pass as SessionConfig::cache; empty on the CPU.
    std::vector<uint8_t> cache() const;
    bool cacheAccepted() const noexcept { return cacheAccepted_; }

  private:
    void describeInput(size_t index);
    void replan(const Cancellation& cancel);
    Bindings& bindable(const void* data);
    uint64_t cacheKey() const;
    // Threads are leased for a whole run; not beside a device, where they would spin while it works.
    Backend* leased() const noexcept { return wanted_ ? nullptr : cpu_.get(); }

    std::shared_ptr<const Interpreter> interpreter_;
    const FloatMode floatMode_;  // of runs and plans
    ForwardType forwardType_ = ForwardType::Cpu, wantedType_ = ForwardType::Cpu;
    BackendConfig wantedSettings_;
    EffectiveSettings settings_;
    Statistics statistics_;
    std::optional<CountedCall> begun_;  // a run that is under way on the device
    std::string fallbackReason_;
    std::shared_ptr<Runtime> runtime_, cpuRuntime_;  // the same when the CPU is wanted
    std::unique_ptr<Backend> wanted_;                // a device, or null
    std::unique_ptr<Backend> cpu_;
    SessionContext context_;
    std::unique_ptr<Pipeline> pipeline_;
    HalfTensors half_;
    std::unique_ptr<Bindings> bindings_;
    std::vector<Shape> wantedShapes_;
    std::set<int> changedConstants_;  // since the last plan
    std::atomic<bool> needsResize_{true};
    std::exception_ptr failure_;  // of the last resize, while no shape has changed since
    std::atomic<int64_t> arenaBytes_{0};
    uint64_t plans_ = 0;
    bool hasRun_ = false;
    bool cacheAccepted_ = false;
    mutable std::mutex recordMutex_;  // readers of a const session may come from several threads
    mutable bool recordsStale_ = true;
    mutable std::vector<OpRecord> records_;
};

}  // namespace mnnc
