// mnn_session_info(), mnn_session_path_info() and mnn_session_statistics(): the settings of a session, and statistics.
#include "c_api/guard.h"

using namespace mnnc;

namespace {

// The sizes of the first versions; they stay when the structs grow.
constexpr size_t kSessionPropertiesSize = sizeof(mnn_session_properties_t);
constexpr size_t kStatisticsSize = sizeof(mnn_statistics_t);

int32_t gpuMode(const Path& path) {
    if (path.forwardType() != ForwardType::Vulkan) return 0;
    constexpr int32_t kTuning[] = {MNN_GPU_TUNING_NONE, MNN_GPU_TUNING_FAST, MNN_GPU_TUNING_NORMAL, MNN_GPU_TUNING_WIDE,
                                   MNN_GPU_TUNING_HEAVY};
    return kTuning[static_cast<size_t>(path.settings().tuning)] | MNN_GPU_MEMORY_BUFFER |
           (path.wantedSettings().recordBatch ? MNN_GPU_RECORD_BATCH : MNN_GPU_RECORD_OP);
}

mnn_session_properties_t settingsOf(const Path& path) {
    const EffectiveSettings& settings = path.settings();
    const BackendConfig& wanted = path.wantedSettings();
    mnn_session_properties_t result{};
    result.forward_type = static_cast<int32_t>(path.forwardType());
    result.wanted_forward_type = static_cast<int32_t>(path.wantedType());
    result.reason = path.fallbackReason().empty() ? nullptr : path.fallbackReason().c_str();
    result.device = settings.device.empty() ? nullptr : settings.device.c_str();
    result.cpu_isa = settings.isa;
    result.threads = settings.threads;
    result.wanted_threads = wanted.threads;
    result.precision = static_cast<int32_t>(settings.precision);
    result.wanted_precision = static_cast<int32_t>(wanted.precision);
    result.precision_reason = settings.precisionReason;
    result.memory = static_cast<int32_t>(settings.memory);
    result.wanted_memory = static_cast<int32_t>(wanted.memory);
    result.memory_reason = settings.memoryReason;
    result.gpu_mode = gpuMode(path);
    return result;
}

}  // namespace

mnn_status mnn_session_info(const mnn_session_t* session, mnn_session_properties_t* info) {
    return guard([&] {
        checkStructSize(required(info, "info").struct_size, kSessionPropertiesSize, "info");
        const SessionUse handle(session, Access::Always, "mnn_session_info");
        writeStruct(info, settingsOf(handle->impl->paths()[0]));
    });
}

mnn_status mnn_session_path_info(const mnn_session_t* session, size_t path, mnn_session_properties_t* info) {
    return guard([&] {
        checkStructSize(required(info, "info").struct_size, kSessionPropertiesSize, "info");
        const SessionUse handle(session, Access::Always, "mnn_session_path_info");
        checkIndex(path, handle->impl->paths().size(), "path");
        writeStruct(info, settingsOf(handle->impl->paths()[path]));
    });
}

mnn_status mnn_session_statistics(const mnn_session_t* session, mnn_statistics_t* statistics) {
    return guard([&] {
        checkStructSize(required(statistics, "statistics").struct_size, kStatisticsSize, "statistics");
        const SessionUse handle(session, Access::Always, "mnn_session_statistics");
        const Session& made = *handle->impl;
        const Statistics& counted = made.statistics();
        const Session::Memory memory = made.memory();
        mnn_statistics_t result{};
        result.runs = counted.runs.done;
        result.failed_runs = counted.runs.failed;
        result.last_run_ns = counted.runs.lastNanoseconds;
        result.total_run_ns = counted.runs.totalNanoseconds;
        result.plans = counted.plans.done;
        result.failed_plans = counted.plans.failed;
        result.last_plan_ns = counted.plans.lastNanoseconds;
        result.total_plan_ns = counted.plans.totalNanoseconds;
        result.stage_plans = made.stagePlans();
        result.device_allocations = made.deviceAllocations();
        result.memory_bytes = static_cast<uint64_t>(memory.total);
        result.peak_memory_bytes = static_cast<uint64_t>(memory.peak);
        result.arena_bytes = static_cast<uint64_t>(memory.arena);
        result.weight_bytes = static_cast<uint64_t>(memory.weights);
        result.cache_read = made.cacheAccepted() ? 1 : 0;
        result.cache_written = handle->cacheWritten ? 1 : 0;
        writeStruct(statistics, result);
    });
}
