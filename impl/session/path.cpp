// Creates the backends of a path, plans and runs it.
#include "session/path.h"

#include <algorithm>
#include <optional>

#include "backend/shared_runtime.h"
#include "session/memory_limit.h"
#include "session/value.h"

namespace mnnc {

namespace {

const BackendEntry* findBackend(ForwardType type) {
    for (const BackendEntry& entry : builtinBackends())
        if (entry.type == type) return &entry;
    return nullptr;
}

// Creates a runtime; returns null, and sets `reason`, where the backend is missing. host: a backend that the host
// registered, beside which the CPU computes; may be null.
std::shared_ptr<Runtime> tryRuntime(ForwardType type, const HostBackendPtr& host, const BackendConfig& config,
                                    std::string& reason) {
    const BackendEntry* entry = findBackend(host ? ForwardType::Cpu : type);
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
    HostBackendPtr host;
    std::string reason;  // why it is not the wanted backend
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
                if (auto runtime = tryRuntime(entry.type, nullptr, backend, reason))
                    return {std::move(runtime), entry.type, nullptr, reasons};
                reasons += format("%s%s: %s", reasons.empty() ? "" : "; ", entry.name, reason.c_str());
            }
        fail(Status::BackendMissing, "no backend is available: %s", reasons.c_str());
    }
    if (auto runtime = tryRuntime(config.forwardType, config.hostBackend, config.backend, reason))
        return {std::move(runtime), config.forwardType, config.hostBackend, {}};
    std::string backupReason;
    if (config.allowFallback) {
        if (auto runtime = tryRuntime(config.backupType, config.hostBackup, config.backend, backupReason))
            return {std::move(runtime), config.backupType, config.hostBackup, reason};
        backupReason = "; nor is the backup: " + backupReason;
    }
    fail(Status::BackendMissing, "the wanted backend is not available: %s%s", reason.c_str(), backupReason.c_str());
}

// Returns a backend that keeps its runtime alive: executions may outlive the session.
std::shared_ptr<Backend> withRuntime(std::unique_ptr<Backend> backend, std::shared_ptr<Runtime> runtime) {
    return {backend.release(), [runtime = std::move(runtime)](Backend* own) { delete own; }};
}

// Returns the nodes of these names, by number. Throws NotFound.
std::vector<bool> nodesNamed(const Net& net, const std::vector<std::string>& names) {
    std::vector<bool> found;
    const auto mark = [&](const Node& node) {
        const auto number = static_cast<size_t>(node.number);
        found.resize(std::max(found.size(), number + 1));
        found[number] = true;
    };
    for (const std::string& name : names) {
        bool any = false;
        for (const NetGraph& graph : net.graphs) {
            const auto isNamed = [&](const Node& node) { return node.name == name; };
            for (const Node& node : graph.nodes)
                if (isNamed(node)) mark(node);
            any |= std::any_of(graph.nodes.begin(), graph.nodes.end(), isNamed);
            for (const Rewrite& rewrite : graph.rewrites)
                if (std::any_of(rewrite.replaced.begin(), rewrite.replaced.end(),
                                [&](size_t node) { return isNamed(graph.nodes[node]); }))
                    mark(rewrite.node);
        }
        if (!any)
            fail(Status::NotFound, "config.fp32_operators has '%s', which is no operator of the model", name.c_str());
    }
    return found;
}

// Puts the observer, the token and the threads of a run or a resize into the context, for one scope. Threads are leased
// for a whole call, so that workers wake once and spin between operators. They are not leased beside a device, where
// they would spin while it works. A call begins before the floating-point mode changes: callbacks of a host's threads
// run in the mode of the lease.
class Call {
  public:
    Call(SessionContext& context, RunObserver* observer, const Cancellation& cancel)
        : context_(context), pool_(*context.pool) {
        if (!context_.device) {
            context_.pool = &lease_.emplace(pool_).pool();
            context_.cpu->prepareOn(context_.pool);
        }
        context_.observer = observer;
        context_.cancel = cancel;
        ++context_.calls;
    }
    ~Call() {
        context_.cpu->prepareOn(nullptr);
        context_.pool = &pool_;
        context_.observer = nullptr;
        context_.cancel = {};
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

  private:
    SessionContext& context_;
    ThreadPool& pool_;
    std::optional<RunLease> lease_;
};

}  // namespace

Path::Path(std::shared_ptr<const Interpreter> interpreter, const SessionConfig& config, HeldMemory& memory)
    : interpreter_(std::move(interpreter)), floatMode_(FloatMode::computing(config.keepSubnormals)) {
    config.cancel.check();
    context_.sessionMemory = &memory;
    context_.kept = &kept_;
    Chosen chosen = chooseRuntime(config);
    forwardType_ = chosen.type;
    wantedType_ = config.forwardType;
    wantedSettings_ = config.backend;
    fallbackReason_ = std::move(chosen.reason);
    runtime_ = cpuRuntime_ = std::move(chosen.runtime);
    hostBackend_ = std::move(chosen.host);
    context_.maxMemoryBytes = config.maxMemoryBytes > 0 ? config.maxMemoryBytes : defaultMemoryLimit();
    BackendConfig backendConfig = config.backend;
    backendConfig.maxMemoryBytes = context_.maxMemoryBytes;
    if (backendConfig.shared) context_.hostMemory = backendConfig.shared->memory;
    useOperatorBackends(config, backendConfig);
    std::unique_ptr<Backend> cpu = runtime_->createBackend(backendConfig, *interpreter_->weights);
    if (DeviceBackend* device = cpu->device()) {
        context_.device = {withRuntime(std::move(cpu), runtime_), device};
        std::string reason;
        cpuRuntime_ = tryRuntime(ForwardType::Cpu, nullptr, backendConfig, reason);
        if (!cpuRuntime_) fail(Status::BackendMissing, "there is no CPU backend: %s", reason.c_str());
        cpu = cpuRuntime_->createBackend(backendConfig, *interpreter_->weights);
    }
    context_.cpu = withRuntime(std::move(cpu), cpuRuntime_);
    settings_ = context_.cpu->settings();
    if (context_.device) {
        // Operators on the CPU have its threads and kernels.
        EffectiveSettings device = context_.device->settings();
        device.threads = settings_.threads;
        device.isa = settings_.isa;
        settings_ = std::move(device);
    }
    if (context_.device) takeCache(config.cache);
    context_.net = interpreter_->net.get();
    context_.fp32Nodes = nodesNamed(*context_.net, config.backend.fp32Operators);
    if (config.backend.precision != Precision::Low) context_.fp32Nodes.clear();
    context_.weights = interpreter_->weights.get();
    context_.pool = context_.cpu->runPool();
    context_.settings = {config.backend,
                         std::move(context_.settings.hostBackends),
                         std::move(context_.settings.hostBackups),
                         settings_.threads,
                         config.keepSubnormals,
                         config.recordPlans,
                         config.measureAlgorithms,
                         context_.device ? context_.device->identity() : nullptr};
    context_.settings.backend.maxMemoryBytes = INT64_MAX;
    context_.programs = interpreter_->programs.get();
    if (config.planCache > 0) context_.planCache = static_cast<size_t>(config.planCache);
    context_.maxLoopIterations = config.maxLoopIterations > 0 ? config.maxLoopIterations : 1'000'000;
}

// Backends of the host are asked before the device or after it, by their places in the list. A path that begins
// with a backend of the host takes its device from the list.
void Path::useOperatorBackends(const SessionConfig& config, const BackendConfig& backend) {
    PlanSettings& settings = context_.settings;
    if (hostBackend_) settings.hostBackends.push_back(hostBackend_);
    const bool onCpu = forwardType_ == ForwardType::Cpu && !hostBackend_;  // such a path takes no device
    bool hasDevice = forwardType_ == ForwardType::Vulkan;
    for (const SessionConfig::OperatorBackend& wanted : config.operatorBackends) {
        if (wanted.host) {
            if (wanted.host != hostBackend_)
                (hasDevice ? settings.hostBackups : settings.hostBackends).push_back(wanted.host);
            continue;
        }
        if (hasDevice || onCpu) continue;
        std::string reason;
        if (auto device = tryRuntime(wanted.type, nullptr, backend, reason)) {
            runtime_ = std::move(device);
            hasDevice = true;
        } else if (!config.allowFallback) {
            fail(Status::BackendMissing, "a backend of config.operator_backends is not available: %s", reason.c_str());
        }
    }
}

Path::~Path() = default;

void Path::makePipeline(const NetPart& part) {
    pipeline_ = std::make_unique<Pipeline>(context_, 0, part.inputs, part.outputs, part.updates);
}

void Path::linkFrom(const Path& earlier, size_t input) {
    const int id = pipeline_->inputId(input);
    links_.push_back({&earlier.pipeline(), id, earlier.settled(id), input});
}

bool Path::fedAsPlanned() const noexcept {
    for (const Link& link : links_)
        if (!link.settled) return false;
    return true;
}

void Path::describeLinks() {
    for (const Link& link : links_) {
        const Operand& source = link.from->tensor(link.tensor);
        // The type of codes comes from the model, so it is the same for all shapes.
        if (source.quant.known()) pipeline_->input(link.input).quant = source.quant;
        pipeline_->describeInput(link.input, source.shape, source.type, source.format, source.list);
    }
}

// A path only reads its inputs: the tensor may stay in the memory of the earlier path, or in that of the caller, unless
// an output that the caller reads later would lie there.
void Path::receive(const Link& link) {
    const Operand& source = link.from->tensor(link.tensor);
    const void* data = link.from->data(source);
    const bool same = sameLayout(source, rowMajor(source)) && !pipeline_->outputMayLieIn(link.input);
    // No pass and no execution writes to an input.
    pipeline_->placeInput(link.input, same ? const_cast<void*>(data) : nullptr);
    if (!same) copyToHost(source, data, pipeline_->inputData(link.input), rowMajor(source));
}

void Path::plan(const Cancellation& cancel) {
    const Call call(context_, nullptr, cancel);
    const ScopedFloatMode floatMode(floatMode_);
    pipeline_->prepare();
}

void Path::run(RunObserver* observer, const Cancellation& cancel, PlanObserver* planObserver) {
    const Call call(context_, observer, cancel);
    const ScopedFloatMode floatMode(floatMode_);
    if (!links_.empty()) {
        describeLinks();
        if (!pipeline_->prepared()) {
            pipeline_->prepare();
            if (planObserver) planObserver->planned();
        }
        for (const Link& link : links_) receive(link);
    }
    pipeline_->run(planObserver);
}

void Path::begin() {
    const ScopedFloatMode floatMode(floatMode_);
    pipeline_->recording()->begin();
}

bool Path::end(int64_t nanoseconds) {
    const ScopedFloatMode floatMode(floatMode_);
    return pipeline_->recording()->end(nanoseconds);
}

uint64_t Path::cacheKey() const {
    return modelCacheKey(interpreter_->model(), wantedSettings_);
}

void Path::takeCache(const std::vector<uint8_t>& marked) {
    const OfferedCache offered = cacheOfModel(marked, cacheKey());
    cacheVerdict_ = offered.verdict;
    if (offered.verdict != CacheVerdict::Accepted) return;
    if (runtime_->setCache(offered.bytes))
        savedMeasurements_ = context_.device->measurementsIn(offered.bytes);
    else
        cacheVerdict_ = CacheVerdict::AnotherDevice;
}

std::vector<uint8_t> Path::cache() const {
    return context_.device ? cacheForModel(context_.device->cache(), cacheKey()) : std::vector<uint8_t>();
}

}  // namespace mnnc
