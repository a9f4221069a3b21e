// Creates backends, resizes, runs and reports.
#include "session/session.h"

#include <algorithm>

#include "backend/shared_runtime.h"
#include "ops/declarations.h"
#include "session/memory_limit.h"
#include "session/model_cache.h"
#include "session/run_observer.h"

namespace mnnc {

namespace {

const BackendEntry* findBackend(ForwardType type) {
    for (const BackendEntry& entry : builtinBackends())
        if (entry.type == type) return &entry;
    return nullptr;
}

std::shared_ptr<Runtime> tryRuntime(ForwardType type, const BackendConfig& config, std::string& reason) {
    const BackendEntry* entry = findBackend(type);
    if (!entry) {
        reason = format("forward type %d is not built into this library", static_cast<int>(type));
        return nullptr;
    }
    try {
        return entry->createRuntime(config);
    } catch (const Error& error) {
        if (error.status() != Status::BackendMissing) throw;
        reason = error.message();
        return nullptr;
    }
}

struct Chosen {
    std::shared_ptr<Runtime> runtime;
    ForwardType type;
    std::string reason;  // why it is not the wanted one
};

Chosen chooseRuntime(const SessionConfig& config) {
    std::string reason;
    if (config.forwardType == ForwardType::Auto) {
        const std::span<const BackendEntry> all = builtinBackends();
        BackendConfig backend = config.backend;
        backend.softwareDevices = false;
        std::string reasons;
        for (const bool wantCpu : {false, true})  // devices first
            for (const BackendEntry& entry : all) {
                if ((entry.type == ForwardType::Cpu) != wantCpu) continue;
                if (auto runtime = tryRuntime(entry.type, backend, reason))
                    return {std::move(runtime), entry.type, reasons};
                reasons += format("%s%s: %s", reasons.empty() ? "" : "; ", entry.name, reason.c_str());
            }
        fail(Status::BackendMissing, "no backend is available: %s", reasons.c_str());
    }
    if (auto runtime = tryRuntime(config.forwardType, config.backend, reason))
        return {std::move(runtime), config.forwardType, {}};
    std::string backupReason;
    if (config.allowFallback) {
        if (auto runtime = tryRuntime(config.backupType, config.backend, backupReason))
            return {std::move(runtime), config.backupType, reason};
        backupReason = "; nor is the backup: " + backupReason;
    }
    fail(Status::BackendMissing, "the wanted backend is not available: %s%s", reason.c_str(),
         backupReason.c_str());
}

int tensorId(const Graph& graph, const std::string& name) {
    const int id = graph.findTensor(name);
    if (id < 0) fail(Status::NotFound, "the model has no tensor '%s'", name.c_str());
    return id;
}

std::vector<int> wantedOutputs(const Graph& graph, const SessionConfig& config) {
    std::vector<int> ids;
    std::vector<bool> taken(graph.tensorNames.size());
    auto add = [&](int id) {
        if (taken[static_cast<size_t>(id)]) return;
        taken[static_cast<size_t>(id)] = true;
        ids.push_back(id);
    };
    if (config.outputs.empty())
        for (const int id : graph.outputs) add(id);
    for (const std::string& name : config.outputs) add(tensorId(graph, name));
    for (const std::string& name : config.saveTensors) add(tensorId(graph, name));
    if (ids.empty()) fail(Status::BadFormat, "the model has no output to compute");
    return ids;
}

// The lease of a backend's threads for one scope.
class BackendRun {
  public:
    explicit BackendRun(Backend* backend) : backend_(backend) {
        if (backend_) backend_->onRunBegin();
    }
    ~BackendRun() {
        if (backend_) backend_->onRunEnd();
    }
    BackendRun(const BackendRun&) = delete;
    BackendRun& operator=(const BackendRun&) = delete;

  private:
    Backend* backend_;
};

// What a run or a resize under way looks at, for one scope.
class Call {
  public:
    Call(SessionContext& context, RunObserver* observer, const Cancellation& cancel) : context_(context) {
        context_.observer = observer;
        context_.cancel = cancel;
    }
    ~Call() {
        context_.observer = nullptr;
        context_.cancel = {};
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

  private:
    SessionContext& context_;
};

// Gives back what reading weights kept.
class WeightReading {
  public:
    explicit WeightReading(const Model& model) : model_(model) {}
    ~WeightReading() { model_.weightsRead(); }
    WeightReading(const WeightReading&) = delete;
    WeightReading& operator=(const WeightReading&) = delete;

  private:
    const Model& model_;
};

}  // namespace

Session::Session(std::shared_ptr<const Interpreter> interpreter, const SessionConfig& config)
    : interpreter_(std::move(interpreter)), floatMode_(FloatMode::computing(config.keepSubnormals)) {
    config.cancel.check();
    Chosen chosen = chooseRuntime(config);
    forwardType_ = chosen.type;
    wantedType_ = config.forwardType;
    wantedSettings_ = config.backend;
    fallbackReason_ = std::move(chosen.reason);
    runtime_ = cpuRuntime_ = std::move(chosen.runtime);
    context_.maxMemoryBytes = config.maxMemoryBytes > 0 ? config.maxMemoryBytes : defaultMemoryLimit();
    BackendConfig backendConfig = config.backend;
    backendConfig.maxMemoryBytes = context_.maxMemoryBytes;
    if (backendConfig.shared) context_.hostMemory = backendConfig.shared->memory;
    cpu_ = runtime_->createBackend(backendConfig, *interpreter_->weights);
    context_.device = cpu_->device();
    if (context_.device) {
        wanted_ = std::move(cpu_);
        std::string reason;
        cpuRuntime_ = tryRuntime(ForwardType::Cpu, backendConfig, reason);
        if (!cpuRuntime_) fail(Status::BackendMissing, "there is no CPU backend: %s", reason.c_str());
        cpu_ = cpuRuntime_->createBackend(backendConfig, *interpreter_->weights);
    }
    settings_ = cpu_->settings();
    if (wanted_) {
        // Operators on the CPU have its threads and kernels.
        EffectiveSettings device = wanted_->settings();
        device.threads = settings_.threads;
        device.isa = settings_.isa;
        settings_ = std::move(device);
    }
    const std::vector<uint8_t> cache = cacheOfModel(config.cache, cacheKey());
    cacheAccepted_ = !cache.empty() && runtime_->setCache(cache);
    context_.net = interpreter_->net.get();
    context_.weights = interpreter_->weights.get();
    context_.cpu = cpu_.get();
    context_.recordsPlans = config.recordPlans;
    if (config.planCache > 0) context_.planCache = static_cast<size_t>(config.planCache);
    context_.maxLoopIterations = config.maxLoopIterations > 0 ? config.maxLoopIterations : 1'000'000;
    pipeline_ =
        std::make_unique<Pipeline>(context_, 0, wantedOutputs(interpreter_->model().mainGraph(), config));
    const DeclaredTypes declared(net());
    bool open = false;
    for (size_t i = 0; i < pipeline_->inputCount(); ++i) {
        Shape shape = pipeline_->input(i).shape;
        // An open batch means 1; other open extents have to be given.
        if (shape.rank() > 0 && shape[0] == -1) shape[0] = 1;
        open |= std::any_of(shape.begin(), shape.end(), [](int64_t extent) { return extent < 0; });
        wantedShapes_.push_back(shape);
        describeInput(i);
        half_.inputs.push_back(declared.shownAsHalf(pipeline_->inputId(i)));
    }
    for (size_t i = 0; i < pipeline_->outputCount(); ++i)
        half_.outputs.push_back(declared.shownAsHalf(pipeline_->outputId(i)));
    if (!open && !config.deferPlanning) resize(config.cancel);
}

Session::~Session() = default;

void Session::resizeInput(size_t index, const Shape& shape) {
    shape.elements();  // refuses what does not fit
    if (wantedShapes_[index] == shape) return;
    if (interpreter_->model().usage() == ModelUsage::StaticInference)
        fail(Status::NotSupported, "the inputs of a static model keep their shapes: input '%s' is %s",
             pipeline_->input(index).name.c_str(), wantedShapes_[index].text().c_str());
    wantedShapes_[index] = shape;
    failure_ = nullptr;
    describeInput(index);
    // The shapes of the present plan need no other one.
    const bool ready = pipeline_->prepared() && changedConstants_.empty();
    // What was bound may have been released meanwhile.
    if (ready && bindings_) bindings_->planned();
    needsResize_.store(!ready, std::memory_order_release);
}

void Session::describeInput(size_t index) {
    const Tensor& tensor = pipeline_->input(index);
    pipeline_->describeInput(index, wantedShapes_[index], tensor.type, tensor.format);
}

void Session::resize(const Cancellation& cancel) {
    if (!needsResize_) return;
    cancel.check();
    failure_ = nullptr;
    try {
        replan(cancel);
    } catch (...) {
        failure_ = std::current_exception();
        arenaBytes_ = pipeline_->arenaBytes();
        if (bindings_) bindings_->planned();
        throw;
    }
    arenaBytes_ = pipeline_->arenaBytes();
    needsResize_.store(false, std::memory_order_release);
}

void Session::replan(const Cancellation& cancel) {
    for (size_t i = 0; i < wantedShapes_.size(); ++i) {
        const Shape& shape = wantedShapes_[i];
        if (std::any_of(shape.begin(), shape.end(), [](int64_t extent) { return extent < 0; }))
            fail(Status::BadState, "input '%s' still has the open shape %s", pipeline_->input(i).name.c_str(),
                 shape.text().c_str());
    }
    const BackendRun lease(leased());
    const ScopedFloatMode floatMode(floatMode_);
    recordsStale_ = true;
    hasRun_ = false;
    ++plans_;
    CountedCall counted(statistics_.plans);
    const Call call(context_, nullptr, cancel);
    const WeightReading reading(interpreter_->model());
    if (!changedConstants_.empty()) pipeline_->constantsChanged(changedConstants_);
    pipeline_->prepare();
    changedConstants_.clear();
    if (bindings_) bindings_->resized();
    counted.finish();
}

void Session::trim() {
    try {
        pipeline_->trim();
    } catch (...) {
        needsResize_ = true;
        throw;
    }
    arenaBytes_ = pipeline_->arenaBytes();
    if (bindings_) bindings_->memoryMoved();
}

void Session::requireReady() const {
    if (needsResize_) {
        if (failure_) std::rethrow_exception(failure_);
        fail(Status::BadState, "the session has to be resized before it can run");
    }
    if (bindings_) bindings_->requireCurrent();
}

void Session::run(RunObserver* observer, const Cancellation& cancel) {
    cancel.check();
    requireReady();
    if (bindings_) bindings_->beforeRun();
    CountedCall counted(statistics_.runs);
    const BackendRun lease(leased());
    const ScopedFloatMode floatMode(floatMode_);
    hasRun_ = false;
    const bool planned = pipeline_->singleStage();
    recordsStale_ |= !planned;
    const Call call(context_, observer, cancel);
    pipeline_->run(bindings_.get());
    if (!planned) {
        arenaBytes_ = pipeline_->arenaBytes();
        interpreter_->model().weightsRead();
    }
    hasRun_ = true;
    if (bindings_) bindings_->afterRun();
    counted.finish();
}

// A release alone is possible while there is no plan.
Bindings& Session::bindable(const void* data) {
    if (needsResize_ && data) fail(Status::BadState, "the session has to be resized first");
    if (!bindings_) bindings_ = std::make_unique<Bindings>(*pipeline_, context_, half_);
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
    context_.keepReplaced = mapped;
    if (!mapped) context_.dropReplaced();
}

const std::vector<OpRecord>& Session::records() const {
    const std::lock_guard lock(recordMutex_);
    if (recordsStale_) {
        records_.clear();
        pipeline_->appendRecords(records_);
        recordsStale_ = false;
    }
    return records_;
}

uint64_t Session::cacheKey() const {
    return modelCacheKey(interpreter_->model(), wantedSettings_);
}

std::vector<uint8_t> Session::cache() const {
    return wanted_ ? cacheForModel(wanted_->cache(), cacheKey()) : std::vector<uint8_t>();
}

void Session::constantWritten(int id) {
    changedConstants_.insert(id);
    failure_ = nullptr;
    needsResize_ = true;
}

Session::Memory Session::memory() const {
    Memory memory;
    memory.arena = arenaBytes_;
    memory.weights = interpreter_->weights->bytes();
    memory.total = context_.heldBytes + memory.weights;
    memory.peak = context_.peakBytes + memory.weights;
    return memory;
}

}  // namespace mnnc
