// mnn_schedule_config_* and mnn_session_*.
#include <algorithm>
#include <bit>
#include <cstring>

#include "c_api/guard.h"
#include "session/cache_file.h"

using namespace mnnc;

namespace {

// When a struct grows, the smallest size that is accepted stays that of 0.1.
constexpr size_t kConfigSize = sizeof(mnn_schedule_config_t);
constexpr size_t kMemorySize = sizeof(mnn_session_memory_t);
constexpr size_t kOpInfoSize = sizeof(mnn_session_op_info_t);

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
    constexpr uint64_t kMost = uint64_t{1} << 62;  // sums of two sizes stay within 64 bits
    return static_cast<int64_t>(std::min(value, kMost));
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

SessionConfig readConfig(const mnn_schedule_config_t* given) {
    mnn_schedule_config_t config{};
    if (given) {
        checkStructSize(given->struct_size, kConfigSize, "config");
        std::memcpy(&config, given, std::min(given->struct_size, kConfigSize));
    }
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
    inRange(config.power, 0, MNN_POWER_LOW, "power");
    checkGpuMode(config.gpu_mode);
    result.backend.recordBatch = !(config.gpu_mode & MNN_GPU_RECORD_OP);
    if (config.device) result.backend.device = config.device;
    if (config.cpu_isa) result.backend.cpuIsa = config.cpu_isa;
    result.outputs = names(config.outputs, config.output_count, "outputs");
    result.saveTensors = names(config.save_tensors, config.save_tensor_count, "save_tensors");
    result.maxMemoryBytes = limit(config.max_memory_bytes);
    result.maxLoopIterations = limit(config.max_loop_iterations);
    return result;
}

const std::string& nameOf(const mnn_tensor& tensor) {
    Session& session = *tensor.session->impl;
    return tensor.isInput ? session.input(tensor.index).name : session.output(tensor.index).name;
}

mnn_tensor* find(const std::deque<mnn_tensor>& tensors, const char* name, const char* what) {
    if (tensors.empty()) fail(Status::NotFound, "the session has no %ss", what);
    std::string known;
    for (const mnn_tensor& tensor : tensors) {
        if (!name || nameOf(tensor) == name) return const_cast<mnn_tensor*>(&tensor);
        known += known.empty() ? "" : ", ";
        known += "'" + nameOf(tensor) + "'";
    }
    fail(Status::NotFound, "there is no %s '%s'; there is %s", what, name, known.c_str());
}

// A cache that cannot be written is no reason to fail: the next process prepares again.
void writeCache(const mnn_session& session, const std::string& path) {
    try {
        const std::vector<uint8_t> bytes = session.impl->cache();
        if (!bytes.empty()) writeCacheFile(path, bytes);
    } catch (const Error& error) {
        session.log->sink(LogLevel::Warning, error.message());
    }
}

mnn_session_op_info_t describe(const OpRecord& record) {
    mnn_session_op_info_t info{};
    info.struct_size = sizeof info;
    info.name = record.name.c_str();
    info.type_name = record.type;
    info.backend_name = record.backend;
    info.reason = record.reason.empty() ? nullptr : record.reason.c_str();
    info.flops = record.flops;
    info.host_shape = record.hostShape ? 1 : 0;
    info.algorithm = record.algorithm.empty() ? nullptr : record.algorithm.c_str();
    return info;
}

// Tells a caller's functions about the commands of a run.
class CallbackObserver final : public RunObserver {
  public:
    CallbackObserver(mnn_session& session, mnn_op_callback first, mnn_op_callback last, void* userData)
        : session_(session), before_(first), after_(last), userData_(userData) {}
    bool before(const OpCall& call) override {
        return !before_ || ask(before_, call, call.inputs) != MNN_OP_SKIP;
    }
    void after(const OpCall& call) override {
        if (after_ && ask(after_, call, call.outputs) == MNN_OP_SKIP)
            fail(Status::InvalidValue, "MNN_OP_SKIP came back from a callback after operator '%s'",
                 call.record.name.c_str());
    }

  private:
    int32_t ask(mnn_op_callback callback, const OpCall& call, const std::vector<Tensor*>& tensors) {
        handles_.clear();
        pointers_.clear();
        for (const Tensor* tensor : tensors) {
            mnn_tensor handle;
            handle.session = &session_;
            handle.observed = tensor;
            handles_.push_back(std::move(handle));
        }
        for (const mnn_tensor& handle : handles_) pointers_.push_back(&handle);
        const mnn_session_op_info_t info = describe(call.record);
        const int32_t answer = callback(userData_, &info, pointers_.data(), pointers_.size());
        if (answer == MNN_OP_STOP)
            fail(Status::CallbackStop, "a callback stopped the run at operator '%s'",
                 call.record.name.c_str());
        if (answer != MNN_OP_RUN && answer != MNN_OP_SKIP)
            fail(Status::InvalidValue,
                 "%d came back from a callback at operator '%s'; it is none of MNN_OP_*", answer,
                 call.record.name.c_str());
        return answer;
    }

    mnn_session& session_;
    const mnn_op_callback before_, after_;
    void* const userData_;
    std::vector<mnn_tensor> handles_;
    std::vector<const mnn_tensor*> pointers_;
};

void requireResized(const mnn_session& session) {
    if (session.impl->needsResize()) fail(Status::BadState, "the session has to be resized first");
}

}  // namespace

mnn_status mnn_schedule_config_init(mnn_schedule_config_t* config, size_t struct_size) {
    return guard([&] {
        required(config, "config");
        checkStructSize(struct_size, kConfigSize, "config");
        std::memset(config, 0, struct_size);
        config->struct_size = struct_size;
    });
}

mnn_status mnn_session_create(mnn_interpreter_t* interpreter, const mnn_schedule_config_t* config,
                              mnn_session_t** out) {
    return guard([&] {
        mnn_interpreter& owner = checked(interpreter);
        required(out, "out");
        auto handle = std::make_unique<mnn_session>();
        handle->log = owner.log;
        SessionConfig wanted = readConfig(config);
        std::string cachePath;
        {
            const std::lock_guard lock(owner.cache.mutex);
            cachePath = owner.cache.path;
            wanted.cache = owner.cache.bytes;
        }
        if (wanted.cache.empty() && !cachePath.empty()) wanted.cache = readCacheFile(cachePath);
        handle->impl = std::make_unique<Session>(owner.impl, wanted);
        if (!cachePath.empty() && !handle->impl->cacheAccepted()) writeCache(*handle, cachePath);
        for (size_t i = 0; i < handle->impl->inputCount(); ++i)
            handle->inputs.push_back({HandleTag::Tensor, handle.get(), i, true});
        for (size_t i = 0; i < handle->impl->outputCount(); ++i)
            handle->outputs.push_back({HandleTag::Tensor, handle.get(), i, false});
        *out = handle.release();
    });
}

mnn_status mnn_session_destroy(mnn_session_t** session) {
    return guard([&] {
        if (!session || !*session) return;
        mnn_session& handle = checked(*session);
        handle.tag = HandleTag::Dead;
        for (mnn_tensor& tensor : handle.inputs) tensor.tag = HandleTag::Dead;
        for (mnn_tensor& tensor : handle.outputs) tensor.tag = HandleTag::Dead;
        delete &handle;
        *session = nullptr;
    });
}

mnn_status mnn_session_input_count(const mnn_session_t* session, size_t* count) {
    return guard([&] { required(count, "count") = checked(session).inputs.size(); });
}

mnn_status mnn_session_input(const mnn_session_t* session, const char* name, mnn_tensor_t** tensor) {
    return guard([&] { required(tensor, "tensor") = find(checked(session).inputs, name, "input"); });
}

mnn_status mnn_session_input_at(const mnn_session_t* session, size_t index, mnn_tensor_t** tensor) {
    return guard([&] {
        required(tensor, "tensor");
        const mnn_session& handle = checked(session);
        checkIndex(index, handle.inputs.size(), "input");
        *tensor = const_cast<mnn_tensor*>(&handle.inputs[index]);
    });
}

mnn_status mnn_session_output_count(const mnn_session_t* session, size_t* count) {
    return guard([&] { required(count, "count") = checked(session).outputs.size(); });
}

mnn_status mnn_session_output(const mnn_session_t* session, const char* name, mnn_tensor_t** tensor) {
    return guard([&] { required(tensor, "tensor") = find(checked(session).outputs, name, "output"); });
}

mnn_status mnn_session_output_at(const mnn_session_t* session, size_t index, mnn_tensor_t** tensor) {
    return guard([&] {
        required(tensor, "tensor");
        const mnn_session& handle = checked(session);
        checkIndex(index, handle.outputs.size(), "output");
        *tensor = const_cast<mnn_tensor*>(&handle.outputs[index]);
    });
}

mnn_status mnn_session_resize_input(mnn_session_t* session, mnn_tensor_t* input, const int32_t* dims,
                                    size_t rank) {
    return guard([&] {
        mnn_session& handle = checked(session);
        mnn_tensor& tensor = checked(input);
        if (tensor.session != &handle || !tensor.isInput)
            fail(Status::BadHandle, "argument 'input' is not an input of this session");
        if (rank > MNN_MAX_RANK) fail(Status::BadRange, "rank %zu is above %d", rank, MNN_MAX_RANK);
        if (rank) required(dims, "dims");
        Shape shape;
        for (size_t i = 0; i < rank; ++i) {
            if (dims[i] < 0)
                fail(Status::BadRange, "input '%s': extent %zu is %d", nameOf(tensor).c_str(), i, dims[i]);
            shape.push(dims[i]);
        }
        handle.impl->resizeInput(tensor.index, shape);
    });
}

mnn_status mnn_session_needs_resize(const mnn_session_t* session, bool* needed) {
    return guard([&] { required(needed, "needed") = checked(session).impl->needsResize(); });
}

mnn_status mnn_session_resize(mnn_session_t* session) {
    return guard([&] { checked(session).impl->resize(); });
}

mnn_status mnn_session_run(mnn_session_t* session) {
    return guard([&] { checked(session).impl->run(); });
}

mnn_status mnn_session_run_with_callbacks(mnn_session_t* session, mnn_op_callback before,
                                          mnn_op_callback after, void* user_data) {
    return guard([&] {
        mnn_session& handle = checked(session);
        CallbackObserver observer(handle, before, after, user_data);
        handle.impl->run(&observer);
    });
}

mnn_status mnn_session_interrupt(mnn_session_t* session) {
    return guard([&] { checked(session).impl->interrupt(); });
}

mnn_status mnn_session_memory(const mnn_session_t* session, mnn_session_memory_t* memory) {
    return guard([&] {
        const mnn_session& handle = checked(session);
        checkStructSize(required(memory, "memory").struct_size, kMemorySize, "memory");
        requireResized(handle);
        const Session::Memory now = handle.impl->memory();
        mnn_session_memory_t result{};
        result.arena_bytes = static_cast<uint64_t>(now.arena);
        result.weight_bytes = static_cast<uint64_t>(now.weights);
        result.total_bytes = static_cast<uint64_t>(now.total);
        result.peak_bytes = static_cast<uint64_t>(now.peak);
        writeStruct(memory, result, kMemorySize);
    });
}

mnn_status mnn_session_flops(const mnn_session_t* session, double* flops, bool* complete) {
    return guard([&] {
        required(flops, "flops");
        const mnn_session& handle = checked(session);
        requireResized(handle);
        double total = 0;
        bool all = true;
        for (const OpRecord& record : handle.impl->records()) {
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
        const mnn_session& handle = checked(session);
        requireResized(handle);
        *count = handle.impl->records().size();
    });
}

mnn_status mnn_session_op_info(const mnn_session_t* session, size_t index, mnn_session_op_info_t* info) {
    return guard([&] {
        const mnn_session& handle = checked(session);
        checkStructSize(required(info, "info").struct_size, kOpInfoSize, "info");
        requireResized(handle);
        const std::vector<OpRecord>& records = handle.impl->records();
        checkIndex(index, records.size(), "operator");
        writeStruct(info, describe(records[index]), kOpInfoSize);
    });
}
