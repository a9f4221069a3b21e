// mnn_schedule_config_* and mnn_session_*.
#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "base/stopwatch.h"
#include "c_api/guard.h"
#include "session/cache_file.h"
#include "session/run_observer.h"

using namespace mnnc;

namespace {

// The sizes of the first versions, which stay when the structs grow.
constexpr size_t kConfigSize = sizeof(mnn_schedule_config_t);
constexpr size_t kRunOptionsSize = sizeof(mnn_run_options_t);
constexpr size_t kResizeOptionsSize = sizeof(mnn_resize_options_t);

int32_t inRange(int32_t value, int32_t low, int32_t high, const char* field) {
    if (value < low || value > high)
        fail(Status::InvalidValue, "config.%s is %d, it goes from %d to %d", field, value, low, high);
    return value;
}

ForwardType forwardType(int32_t value, const char* field) {
    if (value != MNN_FORWARD_CPU && value != MNN_FORWARD_AUTO && value != MNN_FORWARD_VULKAN)
        fail(Status::InvalidValue, "config.%s is %d, which is not a forward type of this library", field,
             value);
    return static_cast<ForwardType>(value);
}

int64_t limit(uint64_t value) {
    constexpr uint64_t kMax = uint64_t{1} << 62;  // sums of two sizes stay within 64 bits
    return static_cast<int64_t>(std::min(value, kMax));
}

std::vector<std::string> names(const char* const* list, size_t count, const char* field) {
    std::vector<std::string> result;
    if (!list && count) fail(Status::NullArgument, "config.%s is NULL but has %zu names", field, count);
    for (size_t i = 0; list && i < count; ++i) {
        if (!list[i]) fail(Status::NullArgument, "config.%s[%zu] is NULL", field, i);
        result.emplace_back(list[i]);
    }
    return result;
}

// At most one bit of each group.
void checkGpuMode(int32_t mode) {
    constexpr int32_t kTuning = MNN_GPU_TUNING_NONE | MNN_GPU_TUNING_HEAVY | MNN_GPU_TUNING_WIDE |
                                MNN_GPU_TUNING_NORMAL | MNN_GPU_TUNING_FAST;
    constexpr int32_t kMemory = MNN_GPU_MEMORY_BUFFER | MNN_GPU_MEMORY_IMAGE;
    constexpr int32_t kRecord = MNN_GPU_RECORD_OP | MNN_GPU_RECORD_BATCH;
    if (mode & ~(kTuning | kMemory | kRecord))
        fail(Status::InvalidValue, "config.gpu_mode is %d, which has bits that are no MNN_GPU_*", mode);
    for (const int32_t group : {kTuning, kMemory, kRecord})
        if (std::popcount(static_cast<uint32_t>(mode & group)) > 1)
            fail(Status::InvalidValue, "config.gpu_mode is %d, which asks for two of MNN_GPU_%s", mode,
                 group == kTuning   ? "TUNING_*"
                 : group == kMemory ? "MEMORY_*"
                                    : "RECORD_*");
}

SessionConfig readConfig(const mnn_schedule_config_t& config) {
    SessionConfig result;
    result.forwardType = forwardType(config.forward_type, "forward_type");
    result.backupType = forwardType(config.backup_type, "backup_type");
    result.allowFallback = inRange(config.allow_fallback, 0, 1, "allow_fallback") == 1;
    if (config.threads < 0 || config.threads > MNN_MAX_THREADS)
        fail(Status::BadRange, "config.threads is %d, it goes from 0 to %d", config.threads, MNN_MAX_THREADS);
    result.backend.threads = std::max(config.threads, 1);
    const int32_t precision = inRange(config.precision, 0, MNN_PRECISION_LOW_BF16, "precision");
    result.backend.precision =
        precision == MNN_PRECISION_LOW_BF16 ? Precision::Low : static_cast<Precision>(precision);
    result.backend.memory = static_cast<MemoryMode>(inRange(config.memory, 0, MNN_MEMORY_LOW, "memory"));
    if (inRange(config.power, 0, MNN_POWER_LOW, "power") != MNN_POWER_NORMAL)
        fail(Status::NotSupported, "config.power is %d; only MNN_POWER_NORMAL (0) is implemented",
             config.power);
    checkGpuMode(config.gpu_mode);
    result.backend.recordBatch = !(config.gpu_mode & MNN_GPU_RECORD_OP);
    if (config.device && result.forwardType == ForwardType::Cpu)
        fail(Status::InvalidValue,
             "config.device is '%s', but config.forward_type is the CPU, which has no devices",
             config.device);
    if (config.device) result.backend.device = config.device;
    if (config.cpu_isa) result.backend.cpuIsa = config.cpu_isa;
    result.outputs = names(config.outputs, config.output_count, "outputs");
    result.saveTensors = names(config.save_tensors, config.save_tensor_count, "save_tensors");
    result.maxMemoryBytes = limit(config.max_memory_bytes);
    result.maxLoopIterations = limit(config.max_loop_iterations);
    result.recordPlans = inRange(config.record_plan, 0, 1, "record_plan") == 1;
    inRange(config.reserved, 0, 0, "reserved");
    return result;
}

mnn_tensor_t* find(const std::vector<SessionTensor>& tensors, const char* name, const char* what) {
    if (tensors.empty()) fail(Status::NotFound, "the session has no %ss", what);
    std::string known;
    for (const SessionTensor& tensor : tensors) {
        if (!name || tensor.name == name) return handleOf<mnn_tensor_t>(tensor.handle);
        known += known.empty() ? "" : ", ";
        known += "'" + tensor.name + "'";
    }
    fail(Status::NotFound, "there is no %s '%s'; there is %s", what, name, known.c_str());
}

// A cache that cannot be written is no reason to fail: the next process prepares again.
void writeCache(const SessionObject& session, const std::string& path) {
    const LogSink& log = session.log->sink;
    try {
        const std::vector<uint8_t> bytes = session.impl->cache();
        if (bytes.empty()) return;
        writeCacheFile(path, bytes);
        if (log.wants(LogLevel::Info))
            log(LogLevel::Info, format("cache file '%s' written: %zu bytes", path.c_str(), bytes.size()));
    } catch (const Error& error) {
        log(LogLevel::Warning, error.message());
    } catch (const std::bad_alloc&) {
        // Then there is none for a message either.
    }
}

const char* backendName(ForwardType type) {
    for (const BackendEntry& entry : builtinBackends())
        if (entry.type == type) return entry.name;
    return "?";
}

// The messages of a creation: where the session runs and why not elsewhere, its cost, and the operators that fall back.
void logCreated(const SessionObject& session, const Stopwatch& watch, size_t cacheBytes) {
    const LogSink& log = session.log->sink;
    const Session& made = *session.impl;
    if (!made.fallbackReason().empty() && log.wants(LogLevel::Info))
        log(LogLevel::Info, format("the session runs on backend '%s' instead of the wanted one: %s",
                                   backendName(made.forwardType()), made.fallbackReason().c_str()));
    if (cacheBytes > 0 && made.forwardType() != ForwardType::Cpu && log.wants(LogLevel::Info))
        log(LogLevel::Info, format("the cache of %zu bytes was %s", cacheBytes,
                                   made.cacheAccepted() ? "accepted"
                                                        : "rejected: it is of another device, driver "
                                                          "or library"));
    if (log.wants(LogLevel::Info)) {
        const Session::Memory memory = made.memory();
        log(LogLevel::Info,
            format(
                "session on backend '%s' created in %.1f ms: %s, %lld bytes planned, %lld bytes of weights",
                backendName(made.forwardType()), watch.milliseconds(),
                made.needsResize() ? "a resize is needed" : "ready to run",
                static_cast<long long>(memory.arena), static_cast<long long>(memory.weights)));
    }
}

// Operators that the wanted backend did not take, one line each, when a plan was made.
void logPlan(const SessionObject& session, const Stopwatch& watch) {
    const LogSink& log = session.log->sink;
    if (!log.wants(LogLevel::Debug) || session.impl->needsResize()) return;
    const std::vector<OpRecord>& records = session.impl->records();
    log(LogLevel::Debug,
        format("plan of %zu operators made in %.1f ms", records.size(), watch.milliseconds()));
    for (const OpRecord& record : records)
        if (!record.reason.empty())
            log(LogLevel::Debug, format("operator '%s' (%s) runs on backend '%s': %s", record.name.c_str(),
                                        record.type, record.backend, record.reason.c_str()));
}

// With all fields of this version. The strings live as long as the record and the session.
mnn_op_info_t describe(const OpRecord& record, const Session& session) {
    mnn_op_info_t info{};
    info.struct_size = sizeof info;
    info.name = record.name.c_str();
    info.type_name = record.type;
    info.backend_name = record.backend;
    const std::string& reason = record.reason.empty() ? session.fallbackReason() : record.reason;
    info.reason = reason.empty() ? nullptr : reason.c_str();
    info.flops = record.flops;
    info.host_shape = record.hostShape ? 1 : 0;
    info.algorithm = record.algorithm.empty() ? nullptr : record.algorithm.c_str();
    return info;
}

// Calls a caller's functions around the commands of a run.
class CallbackObserver final : public RunObserver {
  public:
    CallbackObserver(const SessionUse& session, const mnn_run_options_t& options)
        : session_(*session), handle_(session.handle()), options_(options) {}
    ~CallbackObserver() override { hide(); }
    bool before(const OpCall& call) override {
        return !options_.before || ask(options_.before, call, call.inputs) != MNN_OP_SKIP;
    }
    void after(const OpCall& call) override {
        if (options_.after && ask(options_.after, call, call.outputs) == MNN_OP_SKIP)
            fail(Status::InvalidValue, "MNN_OP_SKIP came back from a callback after operator '%s'",
                 call.record.name.c_str());
    }

  private:
    int32_t ask(mnn_op_callback callback, const OpCall& call, const std::vector<Tensor*>& tensors) {
        show(tensors);
        const mnn_op_info_t info = describe(call.record, *session_.impl);
        session_.callbackThread.store(thisThread(), std::memory_order_relaxed);
        const int32_t answer = callback(options_.user_data, &info, handles_.data(), handles_.size());
        hide();
        if (answer == MNN_OP_STOP)
            fail(Status::CallbackStop, "a callback stopped the run at operator '%s'",
                 call.record.name.c_str());
        if (answer != MNN_OP_RUN && answer != MNN_OP_SKIP)
            fail(Status::InvalidValue,
                 "%d came back from a callback at operator '%s'; it is none of MNN_OP_*", answer,
                 call.record.name.c_str());
        return answer;
    }
    // Handles that mean the tensors while the callback runs.
    void show(const std::vector<Tensor*>& tensors) {
        session_.observed.assign(tensors.begin(), tensors.end());
        handles_.reserve(tensors.size());
        for (size_t i = 0; i < tensors.size(); ++i)
            handles_.push_back(handleOf<mnn_tensor_t>(createTensorHandle(handle_, i, kTensorObserved)));
    }
    void hide() noexcept {
        session_.callbackThread.store(nullptr, std::memory_order_relaxed);
        for (const mnn_tensor_t* tensor : handles_) handles::release(valueOf(tensor));
        handles_.clear();
        session_.observed.clear();
    }

    SessionObject& session_;
    const uint64_t handle_;
    const mnn_run_options_t& options_;
    std::vector<const mnn_tensor_t*> handles_;
};

void requireResized(const SessionObject& session) {
    if (session.impl->needsResize()) fail(Status::BadState, "the session has to be resized first");
}

void resize(const mnn_session_t* session, const mnn_resize_options_t& options, const char* call) {
    const SessionUse handle(session, Access::Alone, call);
    const CancelUse cancel(options.cancel);
    const Cancellation cancellation = cancel.cancellation();
    cancellation.check();
    if (!handle->impl->needsResize()) return;
    const Stopwatch watch;
    handle->impl->resize(cancellation);
    logPlan(*handle, watch);
}

// The object of a session that is created: its engine, and what the log says about it.
std::unique_ptr<SessionObject> makeSession(InterpreterObject& net, SessionConfig wanted) {
    const Stopwatch watch;
    auto object = std::make_unique<SessionObject>();
    object->log = net.log;
    std::string cachePath;
    {
        const std::lock_guard lock(net.cache.mutex);
        cachePath = net.cache.path;
        wanted.cache = net.cache.bytes;
    }
    if (wanted.cache.empty() && !cachePath.empty()) wanted.cache = readCacheFile(cachePath);
    object->impl = std::make_unique<Session>(net.impl, wanted);
    logCreated(*object, watch, wanted.cache.size());
    logPlan(*object, watch);
    if (!cachePath.empty() && !object->impl->cacheAccepted()) writeCache(*object, cachePath);
    Session& session = *object->impl;
    for (size_t i = 0; i < session.inputCount(); ++i) object->inputs.push_back({0, session.input(i).name});
    for (size_t i = 0; i < session.outputCount(); ++i) object->outputs.push_back({0, session.output(i).name});
    return object;
}

}  // namespace

mnn_status mnn_schedule_config_init(mnn_schedule_config_t* config, size_t struct_size) {
    return guard([&] { initStruct(&required(config, "config"), struct_size, kConfigSize, "config"); });
}

mnn_status mnn_run_options_init(mnn_run_options_t* options, size_t struct_size) {
    return guard([&] { initStruct(&required(options, "options"), struct_size, kRunOptionsSize, "options"); });
}

mnn_status mnn_resize_options_init(mnn_resize_options_t* options, size_t struct_size) {
    return guard(
        [&] { initStruct(&required(options, "options"), struct_size, kResizeOptionsSize, "options"); });
}

mnn_status mnn_session_create(mnn_interpreter_t* interpreter, const mnn_schedule_config_t* config,
                              mnn_session_t** out) {
    return guard([&] {
        const InterpreterUse net(interpreter);
        required(out, "out");
        mnn_schedule_config_t given{};
        if (config) given = readStruct(*config, kConfigSize, "config");
        SessionConfig wanted = readConfig(given);
        const CancelUse cancel(given.cancel);
        wanted.cancel = cancel.cancellation();
        std::unique_ptr<SessionObject> object = makeSession(*net, std::move(wanted));
        const uint64_t handle =
            handles::create({HandleKind::Session, reinterpret_cast<uint64_t>(object.get())});
        // The handle owns the object from here on.
        const SessionUse session(handle, Access::Alone, "mnn_session_create", "out");
        SessionObject& made = *object.release();
        try {
            for (size_t i = 0; i < made.inputs.size(); ++i)
                made.inputs[i].handle = createTensorHandle(handle, i, kTensorInput);
            for (size_t i = 0; i < made.outputs.size(); ++i)
                made.outputs[i].handle = createTensorHandle(handle, i, 0);
        } catch (...) {
            handles::destroy(handle);
            throw;
        }
        *out = handleOf<mnn_session_t>(handle);
    });
}

mnn_status mnn_session_destroy(mnn_session_t** session) {
    return guard([&] {
        if (!session || !*session) return;
        SessionUse(*session, Access::Alone, "mnn_session_destroy").destroy();
        *session = nullptr;
    });
}

mnn_status mnn_session_input_count(const mnn_session_t* session, size_t* count) {
    return guard([&] {
        required(count, "count") =
            SessionUse(session, Access::Always, "mnn_session_input_count")->inputs.size();
    });
}

mnn_status mnn_session_input(const mnn_session_t* session, const char* name, mnn_tensor_t** tensor) {
    return guard([&] {
        required(tensor, "tensor") =
            find(SessionUse(session, Access::Always, "mnn_session_input")->inputs, name, "input");
    });
}

mnn_status mnn_session_input_at(const mnn_session_t* session, size_t index, mnn_tensor_t** tensor) {
    return guard([&] {
        required(tensor, "tensor");
        const SessionUse handle(session, Access::Always, "mnn_session_input_at");
        checkIndex(index, handle->inputs.size(), "input");
        *tensor = handleOf<mnn_tensor_t>(handle->inputs[index].handle);
    });
}

mnn_status mnn_session_output_count(const mnn_session_t* session, size_t* count) {
    return guard([&] {
        required(count, "count") =
            SessionUse(session, Access::Always, "mnn_session_output_count")->outputs.size();
    });
}

mnn_status mnn_session_output(const mnn_session_t* session, const char* name, mnn_tensor_t** tensor) {
    return guard([&] {
        required(tensor, "tensor") =
            find(SessionUse(session, Access::Always, "mnn_session_output")->outputs, name, "output");
    });
}

mnn_status mnn_session_output_at(const mnn_session_t* session, size_t index, mnn_tensor_t** tensor) {
    return guard([&] {
        required(tensor, "tensor");
        const SessionUse handle(session, Access::Always, "mnn_session_output_at");
        checkIndex(index, handle->outputs.size(), "output");
        *tensor = handleOf<mnn_tensor_t>(handle->outputs[index].handle);
    });
}

mnn_status mnn_session_resize_input(mnn_session_t* session, mnn_tensor_t* input, const int32_t* dims,
                                    size_t rank) {
    return guard([&] {
        const SessionUse handle(session, Access::Alone, "mnn_session_resize_input");
        if (!input) fail(Status::NullArgument, "argument 'input' is NULL");
        HandleEntry entry;
        if (handles::peek(valueOf(input), entry) != handles::Found::Yes || entry.kind != HandleKind::Tensor ||
            entry.payload != handle.handle() || !(entry.flags & kTensorInput))
            fail(Status::BadHandle, "argument 'input' is not an input of this session");
        if (rank > MNN_MAX_RANK) fail(Status::BadRange, "rank %zu is above %d", rank, MNN_MAX_RANK);
        if (rank) required(dims, "dims");
        Shape shape;
        for (size_t i = 0; i < rank; ++i) {
            if (dims[i] < 0)
                fail(Status::BadRange, "input '%s': extent %zu is %d",
                     handle->inputs[entry.index].name.c_str(), i, dims[i]);
            shape.push(dims[i]);
        }
        handle->impl->resizeInput(entry.index, shape);
    });
}

mnn_status mnn_session_needs_resize(const mnn_session_t* session, bool* needed) {
    return guard([&] {
        required(needed, "needed") =
            SessionUse(session, Access::Always, "mnn_session_needs_resize")->impl->needsResize();
    });
}

mnn_status mnn_session_resize(mnn_session_t* session) {
    return guard([&] { resize(session, {}, "mnn_session_resize"); });
}

mnn_status mnn_session_resize_with_options(mnn_session_t* session, const mnn_resize_options_t* options) {
    return guard([&] {
        mnn_resize_options_t given{};
        if (options) given = readStruct(*options, kResizeOptionsSize, "options");
        resize(session, given, "mnn_session_resize_with_options");
    });
}

mnn_status mnn_session_run(mnn_session_t* session) {
    return guard([&] { SessionUse(session, Access::Alone, "mnn_session_run")->impl->run(); });
}

mnn_status mnn_session_run_with_options(mnn_session_t* session, const mnn_run_options_t* options) {
    return guard([&] {
        mnn_run_options_t given{};
        if (options) given = readStruct(*options, kRunOptionsSize, "options");
        const SessionUse handle(session, Access::Alone, "mnn_session_run_with_options");
        const CancelUse cancel(given.cancel);
        if (!given.before && !given.after) return handle->impl->run(nullptr, cancel.cancellation());
        CallbackObserver observer(handle, given);
        handle->impl->run(&observer, cancel.cancellation());
    });
}

mnn_status mnn_session_forward_type(const mnn_session_t* session, int32_t* forward_type,
                                    const char** reason) {
    return guard([&] {
        required(forward_type, "forward_type");
        const SessionUse handle(session, Access::Always, "mnn_session_forward_type");
        const std::string& why = handle->impl->fallbackReason();
        *forward_type = static_cast<int32_t>(handle->impl->forwardType());
        if (reason) *reason = why.empty() ? nullptr : why.c_str();
    });
}

mnn_status mnn_session_memory(const mnn_session_t* session, mnn_memory_info_t* memory) {
    return guard([&] {
        checkStructSize(required(memory, "memory").struct_size, sizeof(mnn_memory_info_t), "memory");
        const SessionUse handle(session, Access::Always, "mnn_session_memory");
        requireResized(*handle);
        const Session::Memory now = handle->impl->memory();
        mnn_memory_info_t result{};
        result.arena_bytes = static_cast<uint64_t>(now.arena);
        result.weight_bytes = static_cast<uint64_t>(now.weights);
        result.total_bytes = static_cast<uint64_t>(now.total);
        result.peak_bytes = static_cast<uint64_t>(now.peak);
        writeStruct(memory, result);
    });
}

mnn_status mnn_session_flops(const mnn_session_t* session, double* flops, bool* complete) {
    return guard([&] {
        required(flops, "flops");
        const SessionUse handle(session, Access::Read, "mnn_session_flops");
        requireResized(*handle);
        double total = 0;
        bool all = true;
        for (const OpRecord& record : handle->impl->records()) {
            if (record.flops < 0)
                all = false;
            else
                total += record.flops;
        }
        *flops = total;
        if (complete) *complete = all;
    });
}

mnn_status mnn_session_op_count(const mnn_session_t* session, size_t* count) {
    return guard([&] {
        required(count, "count");
        const SessionUse handle(session, Access::Read, "mnn_session_op_count");
        requireResized(*handle);
        *count = handle->impl->records().size();
    });
}

mnn_status mnn_session_op_info(const mnn_session_t* session, size_t index, mnn_op_info_t* info) {
    return guard([&] {
        checkStructSize(required(info, "info").struct_size, sizeof(mnn_op_info_t), "info");
        const SessionUse handle(session, Access::Read, "mnn_session_op_info");
        requireResized(*handle);
        const std::vector<OpRecord>& records = handle->impl->records();
        checkIndex(index, records.size(), "operator");
        writeStruct(info, describe(records[index], *handle->impl));
    });
}
