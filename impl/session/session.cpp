// Connects the paths, resizes, runs and reports.
#include "session/session.h"

#include <algorithm>
#include <cstring>

#include "net/declarations.h"
#include "session/run_observer.h"

namespace mnnc {

namespace {

// Releases the buffers that reading weights kept.
class WeightReading {
  public:
    explicit WeightReading(const Model& model) : model_(model) {}
    ~WeightReading() { model_.weightsRead(); }
    WeightReading(const WeightReading&) = delete;
    WeightReading& operator=(const WeightReading&) = delete;

  private:
    const Model& model_;
};

// Abandons the changes of a run to the state at the end of the scope, unless commit() was called because it succeeded.
class KeptRun {
  public:
    explicit KeptRun(KeptStates& kept) : kept_(kept) {}
    ~KeptRun() { kept_.abandon(); }
    KeptRun(const KeptRun&) = delete;
    KeptRun& operator=(const KeptRun&) = delete;
    void commit() noexcept { kept_.commit(); }

  private:
    KeptStates& kept_;
};

bool isOpen(const Shape& shape) {
    return std::any_of(shape.begin(), shape.end(), [](int64_t extent) { return extent < 0; });
}

}  // namespace

Session::Session(std::shared_ptr<const Interpreter> interpreter, const SessionConfig& first,
                 const std::vector<SessionConfig>& later)
    : interpreter_(std::move(interpreter)), heldMemory_(interpreter_->weights->held()) {
    std::vector<const SessionConfig*> configs = {&first};
    for (const SessionConfig& config : later) configs.push_back(&config);
    std::vector<PartRequest> requests;
    requests.reserve(configs.size());
    for (const SessionConfig* config : configs) requests.push_back(config->part);
    const NetParts parts = netParts(interpreter_->net->graphs[0], requests);
    bool defer = false;
    for (size_t i = 0; i < configs.size(); ++i) {
        defer |= configs[i]->deferPlanning;
        inPath(i, configs.size(),
               [&] { paths_.emplace_back(interpreter_, *configs[i], heldMemory_).makePipeline(parts.parts[i]); });
    }
    if (paths_.size() > 1)
        for (const Path& path : paths_) {
            if (path.pipeline().keeps())
                fail(Status::NotSupported,
                     "an operator of the net keeps a state from run to run, which a session of several paths cannot "
                     "do: a single path is needed");
            if (path.pipeline().hasVariables())
                fail(Status::NotSupported,
                     "an operator of the net writes a constant, which a session of several paths cannot keep: "
                     "a single path is needed");
        }
    connect(parts);
    const bool guessed = describeInputs(parts);
    const DeclaredTypes declared(net());
    for (size_t i = 0; i < inputCount(); ++i) half_.inputs.push_back(declared.shownAsHalf(ports_.inputId(i)));
    for (size_t i = 0; i < outputCount(); ++i) half_.outputs.push_back(declared.shownAsHalf(ports_.outputId(i)));
    if (defer || std::any_of(wantedShapes_.begin(), wantedShapes_.end(), isOpen)) return;
    try {
        resize(first.cancel);
    } catch (const Error& error) {
        // The net may be valid for other batches, which the caller sets by a resize; a run without a resize reports
        // this error. Known indices beyond the batch are an error of data.
        if (!guessed || (error.status() != Status::ComputeSizeError && error.status() != Status::InputDataError)) throw;
    }
}

Session::~Session() = default;

void Session::resizeInput(size_t index, const Shape& shape) {
    shape.elements();  // throws when the size is out of range
    if (wantedShapes_[index] == shape) return;
    if (interpreter_->model().usage() == ModelUsage::StaticInference && !isOpen(wantedShapes_[index]))
        fail(Status::NotSupported, "the inputs of a static model keep their shapes: input '%s' is %s",
             input(index).name.c_str(), wantedShapes_[index].text().c_str());
    if (input(index).list)
        fail(Status::NotSupported, "input '%s' is a sequence, whose elements keep their shapes",
             input(index).name.c_str());
    wantedShapes_[index] = shape;
    failure_ = nullptr;
    describeInput(index);
    // Where the present plan is for these shapes, no resize is needed.
    const bool ready = prepared() && changedConstants_.empty();
    // Bindings may have been released while the session had no plan.
    if (ready && bindings_) bindings_->resized();
    needsResize_.store(!ready, std::memory_order_release);
}

void Session::describeInput(size_t index) {
    const Operand& tensor = input(index);
    const Port& port = ports_.inputs[index];
    port.pipeline->describeInput(port.index, wantedShapes_[index], tensor.type, tensor.format, tensor.list);
}

bool Session::prepared() const noexcept {
    return std::all_of(paths_.begin(), paths_.end(),
                       [](const Path& path) { return path.pipeline().prepared() || !path.fedAsPlanned(); });
}

int64_t Session::plannedBytes() const {
    int64_t bytes = 0;
    for (const Path& path : paths_) bytes += path.pipeline().arenaBytes();
    return bytes;
}

void Session::resize(const Cancellation& cancel) {
    if (!needsResize_) return;
    cancel.check();
    failure_ = nullptr;
    try {
        replan(cancel);
    } catch (...) {
        failure_ = std::current_exception();
        arenaBytes_ = plannedBytes();
        if (bindings_) bindings_->planned();
        throw;
    }
    arenaBytes_ = plannedBytes();
    needsResize_.store(false, std::memory_order_release);
}

void Session::requireShapes() const {
    for (size_t i = 0; i < wantedShapes_.size(); ++i)
        if (isOpen(wantedShapes_[i]))
            fail(Status::BadState,
                 "input '%s' still has the open shape %s: mnn_session_resize_input() comes first, then "
                 "mnn_session_resize()",
                 ports_.input(i).name.c_str(), wantedShapes_[i].text().c_str());
}

void Session::replan(const Cancellation& cancel) {
    requireShapes();
    recordsStale_ = true;
    hasRun_ = false;
    ++plans_;
    CountedCall counted(statistics_.plans);
    const WeightReading reading(interpreter_->model());
    renewConstants();
    for (size_t i = 0; i < paths_.size(); ++i) {
        if (!paths_[i].fedAsPlanned()) continue;  // a run plans it
        inPath(i, paths_.size(), [&] {
            paths_[i].describeLinks();
            paths_[i].plan(cancel);
        });
    }
    changedConstants_.clear();
    if (bindings_) bindings_->resized();
    counted.finish();
}

void Session::trim() {
    try {
        for (Path& path : paths_) path.pipeline().trim();
    } catch (...) {
        needsResize_ = true;
        throw;
    }
    arenaBytes_ = plannedBytes();
    if (bindings_) bindings_->memoryMoved();
}

void Session::requireReady() const {
    if (needsResize_) {
        if (failure_) std::rethrow_exception(failure_);
        requireShapes();
        fail(Status::BadState, "the session has to be resized before it can run");
    }
    if (bindings_) bindings_->requireCurrent();
}

void Session::run(RunObserver* observer, const Cancellation& cancel) {
    cancel.check();
    requireReady();
    if (bindings_) bindings_->beforeRun();
    CountedCall counted(statistics_.runs);
    hasRun_ = false;
    recordsStale_ |= !plannedBeforeRuns_;
    KeptRun kept(paths_[0].kept());
    for (size_t i = 0; i < paths_.size(); ++i)
        inPath(i, paths_.size(), [&] { paths_[i].run(observer, cancel, bindings_.get()); });
    if (!plannedBeforeRuns_) {
        arenaBytes_ = plannedBytes();
        interpreter_->model().weightsRead();
    }
    hasRun_ = true;
    if (bindings_) bindings_->afterRun();
    for (Path& path : paths_) path.pipeline().commitVariables();
    kept.commit();
    counted.finish();
}

// A tensor may be released even while there is no plan (data is null then).
Bindings& Session::bindable(const void* data) {
    if (needsResize_ && data) fail(Status::BadState, "the session has to be resized first");
    if (!bindings_) bindings_ = std::make_unique<Bindings>(ports_, paths_[0].context(), half_);
    return *bindings_;
}

void Session::bindInput(size_t index, const void* data, int64_t bytes, Format format) {
    Bindings& bindings = bindable(data);
    if (needsResize_) return bindings.releaseInput(index);
    bindings.bindInput(index, data, bytes, format);
}

void Session::bindOutput(size_t index, void* data, int64_t bytes, Format format) {
    Bindings& bindings = bindable(data);
    if (needsResize_) return bindings.releaseOutput(index);
    bindings.bindOutput(index, data, bytes, format);
}

void Session::keepMapped(bool mapped) noexcept {
    for (Path& path : paths_) {
        path.context().keepReplaced = mapped;
        if (!mapped) path.context().dropReplaced();
    }
}

const std::vector<OpRecord>& Session::records() const {
    const std::lock_guard lock(recordMutex_);
    if (recordsStale_) {
        records_.clear();
        for (const Path& path : paths_) {
            const size_t begin = records_.size();
            path.pipeline().appendRecords(records_);
            for (size_t i = begin; i < records_.size(); ++i)
                if (records_[i].reason.empty()) records_[i].reason = path.fallbackReason();
        }
        recordsStale_ = false;
    }
    return records_;
}

std::vector<PlannedGraph> Session::plannedGraphs() const {
    std::vector<PlannedGraph> graphs;
    for (const Path& path : paths_) path.pipeline().appendGraphs(graphs);
    return graphs;
}

std::vector<uint8_t> Session::cache() const {
    for (const Path& path : paths_)
        if (std::vector<uint8_t> bytes = path.cache(); !bytes.empty()) return bytes;
    return {};
}

CacheVerdict Session::cacheVerdict() const noexcept {
    CacheVerdict verdict = CacheVerdict::None;
    for (const Path& path : paths_)
        if (verdict == CacheVerdict::None || path.cacheVerdict() == CacheVerdict::Accepted)
            verdict = path.cacheVerdict();
    return verdict;
}

bool Session::measuredMore() const {
    return std::any_of(paths_.begin(), paths_.end(), [](const Path& path) { return path.measuredMore(); });
}

void Session::measurementsSaved() {
    for (Path& path : paths_) path.measurementsSaved();
}

uint64_t Session::stagePlans() const noexcept {
    uint64_t sum = 0;
    for (const Path& path : paths_) sum += path.context().stagePlans;
    return sum;
}

uint64_t Session::deviceAllocations() const noexcept {
    uint64_t sum = 0;
    for (const Path& path : paths_) sum += path.context().deviceAllocations;
    return sum;
}

Session::PlanCounts Session::planCounts() const noexcept {
    PlanCounts sum{stagePlans(), 0, 0};
    for (const Path& path : paths_) {
        sum.encoded += path.context().counts.encoded;
        sum.executions += path.context().counts.executions;
    }
    return sum;
}

bool Session::usesInput(size_t index) const {
    const int id = ports_.inputId(index);
    return std::any_of(paths_.begin(), paths_.end(), [&](const Path& path) { return path.pipeline().reads(id); });
}

// Callers write to the constant of the first path, whether that path reads it or not.
void Session::renewConstants() {
    if (changedConstants_.empty()) return;
    for (Path& path : paths_) {
        Pipeline& pipeline = path.pipeline();
        for (const int id : changedConstants_) {
            if (&path == &paths_[0] || !pipeline.reads(id)) continue;
            const Operand& written = constant(id);
            void* own = pipeline.ownConstant(id);
            if (!written.empty()) std::memcpy(own, constantData(id), static_cast<size_t>(written.storageBytes()));
        }
        pipeline.constantsChanged(changedConstants_);
    }
}

void Session::constantWritten(int id) {
    if (paths_[0].pipeline().isVariable(id)) return;
    changedConstants_.insert(id);
    failure_ = nullptr;
    needsResize_ = true;
}

Session::Memory Session::memory() const {
    const HeldMemory::Now now = heldMemory_.now();
    return {arenaBytes_, now.weights, now.total, now.peak};
}

}  // namespace mnnc
