// All state of one inference: one or several paths, and their inputs and outputs. Its owner makes sure that only one
// call at a time changes it. Meanwhile others may only call needsResize(), memory() and statistics(), and read what
// never changes, such as the numbers of inputs and outputs and the settings of paths. It keeps alive what it needs of
// its interpreter.
#pragma once
#include <atomic>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "session/bindings.h"
#include "session/path.h"
#include "session/planned_graph.h"
#include "session/statistics.h"

namespace mnnc {

class Session {
  public:
    // Makes a path for each configuration, in the order in which they run. Plans at once when all input extents are
    // known, unless a configuration defers it. Only the `cancel` of the first has an effect.
    explicit Session(std::shared_ptr<const Interpreter> interpreter, const SessionConfig& first,
                     const std::vector<SessionConfig>& later = {});
    ~Session();

    size_t inputCount() const noexcept { return ports_.inputs.size(); }
    size_t outputCount() const noexcept { return ports_.outputs.size(); }
    Operand& input(size_t index) noexcept { return ports_.input(index); }
    const Operand& output(size_t index) const noexcept { return ports_.output(index); }
    // Address of the elements on the host; null: they are not there.
    void* inputData(size_t index) const noexcept { return ports_.inputData(index); }
    const void* outputData(size_t index) const noexcept { return ports_.outputData(index); }
    const std::deque<Path>& paths() const noexcept { return paths_; }

    // Returns the shape that an input has, or will have after the next resize; extents that are not known yet are -1.
    const Shape& inputShape(size_t index) const noexcept { return wantedShapes_[index]; }
    void resizeInput(size_t index, const Shape& shape);
    bool needsResize() const noexcept { return needsResize_.load(std::memory_order_acquire); }
    void resize(const Cancellation& cancel = {});
    // observer: watches this run; may be null. It may read the session, but neither run nor change it. Throws what the
    // last resize threw, if that failed and no shape has changed since.
    void run(RunObserver* observer = nullptr, const Cancellation& cancel = {});
    // Throws what run() throws when it cannot begin.
    void requireReady() const;

    // A run in two halves, for a run that only the device computes. begin() may throw what run() throws; no run is
    // under way then.
    bool onDeviceAlone() const noexcept { return paths_.size() == 1 && paths_[0].onDeviceAlone(); }
    void begin(const Cancellation& cancel);
    // Returns false when the run has not ended within that many nanoseconds; below 0 there is no limit. When it returns
    // true, or throws what run() throws, the run has ended.
    bool end(int64_t nanoseconds);

    // Return whether callers see an input or output as half, although it is a float inside (net/declarations.h).
    bool inputIsHalf(size_t index) const { return half_.inputs[index]; }
    bool outputIsHalf(size_t index) const { return half_.outputs[index]; }

    // Memory of the caller, see Bindings. They throw BadState while a resize is needed, unless data is null.
    void bindInput(size_t index, const void* data, int64_t bytes, Format format);
    void bindOutput(size_t index, void* data, int64_t bytes, Format format);
    // The same for buffers of the device that computes the tensor's path. They throw NotSupported for the CPU.
    void bindInput(size_t index, const SharedBuffer& buffer);
    void bindOutput(size_t index, const SharedBuffer& buffer);
    // Return the place on a device of an input that is bound to one of its buffers, or of an output. They throw
    // BadState when it has none, and what DeviceBackend::describe() throws.
    SharedBuffer inputBuffer(size_t index, SharedBuffer::Kind kind);
    SharedBuffer outputBuffer(size_t index, SharedBuffer::Kind kind);
    // Null: nothing has been bound so far.
    const Bindings* bindings() const noexcept { return bindings_.get(); }
    // Keeps only the plan in use and the memory that it needs, unless a caller has some of that memory mapped.
    void trim();

    // mapped: a caller has a tensor mapped, whose memory is kept that long.
    void keepMapped(bool mapped) noexcept;

    // These describe the first path.
    ForwardType forwardType() const noexcept { return paths_[0].forwardType(); }
    const std::string& fallbackReason() const noexcept { return paths_[0].fallbackReason(); }
    const Statistics& statistics() const noexcept { return statistics_; }
    uint64_t stagePlans() const noexcept;
    uint64_t deviceAllocations() const noexcept;
    // Returns whether the outputs depend on an input.
    bool usesInput(size_t index) const;

    // Constants of the main graph, by the ids of their tensors. Their shapes are fixed. Values that are written to a
    // private one take effect at the next resize(), which constantWritten() makes necessary.
    const Operand& constant(int id) const noexcept { return paths_[0].pipeline().tensor(id); }
    const void* constantData(int id) const noexcept { return paths_[0].pipeline().data(constant(id)); }
    void* ownConstant(int id) { return paths_[0].pipeline().ownConstant(id); }
    void constantWritten(int id);
    std::vector<int> ownConstants() const { return paths_[0].pipeline().ownConstants(); }
    const Model& model() const noexcept { return interpreter_->model(); }
    const Net& net() const noexcept { return *interpreter_->net; }

    // The state that operators keep from run to run. A session with such operators has one path.
    KeptStates& kept() noexcept { return paths_[0].kept(); }
    const KeptStates& kept() const noexcept { return paths_[0].kept(); }
    int keepers() const noexcept { return paths_[0].pipeline().keepers(); }
    // Throws BadState where operators keep a state and no plan has described it yet.
    void requireKept() const;
    // Reserves memory for this many rows of the kept state, and for masks over them. Throws what KeptStates::reserve()
    // throws.
    void reserveKept(int64_t length);
    // Returns the number that identifies the net in a saved state.
    uint64_t keptNet() const;

    // Counts the plans that resize() has made: code that keeps addresses of tensors compares the number, to notice a
    // new plan.
    uint64_t plans() const noexcept { return plans_; }

    // Return whether an output can be described (its shape is known) and read (a run has produced it).
    bool outputShaped(size_t index) const noexcept {
        return !needsResize() && (hasRun_ || plannedBeforeRuns_ || ports_.outputSettled(index));
    }
    bool outputsReadable() const noexcept { return !needsResize() && hasRun_; }
    bool outputReadable(size_t index) const noexcept {
        return outputsReadable() && (!bindings_ || bindings_->outputKept(index));
    }

    const std::vector<OpRecord>& records() const;
    std::vector<PlannedGraph> plannedGraphs() const;
    // Counts of planned stages, encoded operators and executions.
    struct PlanCounts {
        uint64_t plans;
        int64_t encoded, executions;
    };
    PlanCounts planCounts() const noexcept;
    // "" for the main net.
    const std::string& graphName(int graph) const {
        return interpreter_->model().graphs()[static_cast<size_t>(graph)].name;
    }
    struct Memory {
        int64_t arena = 0, weights = 0, total = 0, peak = 0;
    };
    Memory memory() const;
    // Returns the bytes of the first path with a cache, which a later process may pass as SessionConfig::cache; empty
    // on the CPU.
    std::vector<uint8_t> cache() const;
    bool cacheAccepted() const noexcept { return cacheVerdict() == CacheVerdict::Accepted; }
    // Returns the verdict of a path that accepted the offered cache, else of the first path that can use a cache.
    CacheVerdict cacheVerdict() const noexcept;
    // Returns whether cache() contains measurements that neither the accepted cache nor the last measurementsSaved()
    // had.
    bool measuredMore() const;
    void measurementsSaved();

  private:
    void connect(const NetParts& parts);
    bool describeInputs(const NetParts& parts);
    void describeInput(size_t index);
    bool prepared() const noexcept;
    int64_t plannedBytes() const;
    // Throws where an input has no shape yet.
    void requireShapes() const;
    void replan(const Cancellation& cancel);
    void renewConstants();
    Bindings& bindable(const void* data);
    SessionContext& contextOf(const Port& port);

    std::shared_ptr<const Interpreter> interpreter_;
    mutable HeldMemory heldMemory_;
    Statistics statistics_;
    std::optional<CountedCall> begun_;  // a run that is under way on the device
    std::deque<Path> paths_;
    Ports ports_;
    HalfTensors half_;
    bool plannedBeforeRuns_ = true;  // all shapes are known without a run
    std::unique_ptr<Bindings> bindings_;
    std::vector<Shape> wantedShapes_;
    std::set<int> changedConstants_;  // since the last plan
    std::atomic<bool> needsResize_{true};
    std::exception_ptr failure_;  // of the last resize, while no shape has changed since then
    std::atomic<int64_t> arenaBytes_{0};
    uint64_t plans_ = 0;
    bool hasRun_ = false;
    mutable std::mutex recordMutex_;  // several threads may read a const session
    mutable bool recordsStale_ = true;
    mutable std::vector<OpRecord> records_;
};

}  // namespace mnnc
