// mnn_schedule_config_init(), and the checks of the fields.
#include "c_api/schedule_config.h"

#include <algorithm>
#include <bit>

namespace mnnc {

namespace {

int32_t inRange(int32_t value, int32_t low, int32_t high, const char* field) {
    if (value < low || value > high)
        fail(Status::InvalidValue, "config.%s is %d, it goes from %d to %d", field, value, low, high);
    return value;
}

// The host's backend with this forward type; null: the type belongs to the library.
HostBackendPtr hostBackend(const mnn_schedule_config_t& config, int32_t value, const char* field) {
    if (value < MNN_FORWARD_USER) return nullptr;
    if (!config.runtime)
        fail(Status::InvalidValue, "config.%s is %d, a backend of a runtime, but config.runtime is NULL", field, value);
    HostBackendPtr found = RuntimeUse(config.runtime, "config.runtime")->backends.find(value);
    if (!found)
        fail(Status::InvalidValue, "config.%s is %d, but the runtime has no backend with this forward type", field,
             value);
    return found;
}

ForwardType forwardType(int32_t value, const HostBackendPtr& host, const char* field) {
    if (!host && value != MNN_FORWARD_CPU && value != MNN_FORWARD_AUTO && value != MNN_FORWARD_VULKAN)
        fail(Status::InvalidValue, "config.%s is %d, which is not a forward type of this library", field, value);
    return static_cast<ForwardType>(value);
}

std::vector<SessionConfig::OperatorBackend> operatorBackends(const mnn_schedule_config_t& config) {
    const size_t count = config.operator_backend_count;
    if (!config.operator_backends && count)
        fail(Status::NullArgument, "config.operator_backends is NULL but has %zu numbers", count);
    if (count && config.forward_type == MNN_FORWARD_CPU)
        fail(Status::InvalidValue, "config.operator_backends has %zu backends, but the CPU refuses no operator", count);
    std::vector<SessionConfig::OperatorBackend> result;
    for (size_t i = 0; i < count; ++i) {
        const int32_t type = config.operator_backends[i];
        const bool isRepeated =
            std::find(config.operator_backends, config.operator_backends + i, type) != config.operator_backends + i;
        if (type == config.forward_type || isRepeated)
            fail(Status::InvalidValue, "config.operator_backends[%zu] is %d, which is there already", i, type);
        if (type < MNN_FORWARD_USER && type != MNN_FORWARD_VULKAN)
            fail(Status::InvalidValue,
                 "config.operator_backends[%zu] is %d, which is neither a GPU nor a backend of the runtime", i, type);
        HostBackendPtr host = hostBackend(config, type, "operator_backends");
        result.push_back({static_cast<ForwardType>(type), std::move(host)});
    }
    return result;
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

constexpr int32_t kMaxPlans = 64;

// Allows at most one bit of each group.
void checkGpuMode(int32_t mode) {
    constexpr int32_t kTuning =
        MNN_GPU_TUNING_NONE | MNN_GPU_TUNING_HEAVY | MNN_GPU_TUNING_WIDE | MNN_GPU_TUNING_NORMAL | MNN_GPU_TUNING_FAST;
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

GpuTuning tuningOf(int32_t mode) {
    if (mode & MNN_GPU_TUNING_HEAVY) return GpuTuning::Heavy;
    if (mode & MNN_GPU_TUNING_WIDE) return GpuTuning::Wide;
    if (mode & MNN_GPU_TUNING_NORMAL) return GpuTuning::Normal;
    if (mode & MNN_GPU_TUNING_FAST) return GpuTuning::Fast;
    return GpuTuning::None;
}

void takeRuntime(const mnn_schedule_config_t& config, BackendConfig& backend) {
    if (!config.runtime) return;
    if (config.power != MNN_POWER_NORMAL)
        fail(Status::InvalidValue, "config.power is %d, but the runtime has a power of its own", config.power);
    backend.shared = RuntimeUse(config.runtime, "config.runtime")->shared;
    if (config.threads == 0) backend.threads = backend.shared->threads->threads();
    if (config.device && backend.shared->vulkan)
        fail(Status::InvalidValue, "config.device is '%s', but the runtime has the host's own device", config.device);
    if (!config.device) backend.device = backend.shared->device;
}

}  // namespace

SessionConfig readConfig(const mnn_schedule_config_t& config) {
    SessionConfig result;
    result.hostBackend = hostBackend(config, config.forward_type, "forward_type");
    result.hostBackup = hostBackend(config, config.backup_type, "backup_type");
    result.forwardType = forwardType(config.forward_type, result.hostBackend, "forward_type");
    result.backupType = forwardType(config.backup_type, result.hostBackup, "backup_type");
    result.operatorBackends = operatorBackends(config);
    result.allowFallback = inRange(config.allow_fallback, 0, 1, "allow_fallback") == 1;
    if (config.threads < 0 || config.threads > MNN_MAX_THREADS)
        fail(Status::BadRange, "config.threads is %d, it goes from 0 to %d", config.threads, MNN_MAX_THREADS);
    result.backend.threads = std::max(config.threads, 1);
    const int32_t precision = inRange(config.precision, 0, MNN_PRECISION_LOW_BF16, "precision");
    result.backend.precision = precision == MNN_PRECISION_LOW_BF16 ? Precision::Low : static_cast<Precision>(precision);
    result.backend.memory = static_cast<MemoryMode>(inRange(config.memory, 0, MNN_MEMORY_LOW, "memory"));
    result.backend.power = static_cast<Power>(inRange(config.power, 0, MNN_POWER_LOW, "power"));
    checkGpuMode(config.gpu_mode);
    result.backend.recordBatch = !(config.gpu_mode & MNN_GPU_RECORD_OP);
    result.backend.tuning = tuningOf(config.gpu_mode);
    result.backend.tuningOperators = inRange(config.tuning_operators, 0, INT32_MAX, "tuning_operators");
    const bool hasGpu = std::any_of(result.operatorBackends.begin(), result.operatorBackends.end(),
                                    [](const auto& backend) { return !backend.host; });
    if (config.device && !hasGpu && (result.forwardType == ForwardType::Cpu || result.hostBackend))
        fail(Status::InvalidValue, "config.device is '%s', but config.forward_type is %s, which has no devices",
             config.device, result.hostBackend ? "a backend of the host" : "the CPU");
    if (config.device) result.backend.device = config.device;
    takeRuntime(config, result.backend);
    if (config.cpu_isa) result.backend.cpuIsa = config.cpu_isa;
    result.part.outputs = names(config.outputs, config.output_count, "outputs");
    result.part.saveTensors = names(config.save_tensors, config.save_tensor_count, "save_tensors");
    result.part.inputs = names(config.inputs, config.input_count, "inputs");
    result.part.operators = names(config.operators, config.operator_count, "operators");
    result.part.sources = names(config.source_operators, config.source_operator_count, "source_operators");
    result.part.sinks = names(config.sink_operators, config.sink_operator_count, "sink_operators");
    result.backend.fp32Operators = names(config.fp32_operators, config.fp32_operator_count, "fp32_operators");
    std::sort(result.backend.fp32Operators.begin(), result.backend.fp32Operators.end());
    result.maxMemoryBytes = limit(config.max_memory_bytes);
    result.maxLoopIterations = limit(config.max_loop_iterations);
    result.recordPlans = inRange(config.record_plan, 0, 2, "record_plan") > 0;
    result.measureAlgorithms = config.record_plan == 2;
    result.keepSubnormals = inRange(config.keep_subnormals, 0, 1, "keep_subnormals") == 1;
    result.deferPlanning = inRange(config.defer_planning, 0, 1, "defer_planning") == 1;
    result.planCache = inRange(config.plan_cache, 0, kMaxPlans, "plan_cache");
    return result;
}

}  // namespace mnnc

using namespace mnnc;

mnn_status mnn_schedule_config_init(mnn_schedule_config_t* config, size_t struct_size) {
    return guard([&] { initStruct(&required(config, "config"), struct_size, kConfigSize, "config"); });
}
