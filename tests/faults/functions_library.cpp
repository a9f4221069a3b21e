// Calls of the functions about the library, tokens and runtimes.
#include "functions.h"

namespace faults {
namespace {

template <typename Struct, mnn_status (*Init)(Struct*, size_t)>
mnn_status init(Scene& scene) {
    Struct made{};
    const mnn_status status = Init(&made, sizeof made);
    scene.result.assign(1, made.struct_size == sizeof made);
    return status;
}

mnn_runtime_config_t runtimeConfig() {
    mnn_runtime_config_t config;
    MUST(mnn_runtime_config_init(&config, sizeof config));
    return config;
}

void token(Scene& scene) {
    MUST(mnn_cancel_create(&scene.cancel));
}

void runtime(Scene& scene) {
    MUST(mnn_runtime_create(nullptr, &scene.runtime));
}

void refused(Scene&) {
    int32_t type = 0;
    if (mnn_backend_forward_type(1000, &type) != MNN_ERROR_BAD_INDEX) stop("backend 1000");
}

// Without a driver the sentence for the missing device of a GPU session is the result.
mnn_status device(Scene& scene) {
    auto properties = sized<mnn_device_properties_t>();
    const mnn_status status = mnn_device_info(forwardType, 0, &properties);
    if (forwardType == MNN_FORWARD_CPU) return ends(status, MNN_ERROR_BAD_INDEX);
    return gives(scene, status, properties.name);
}

// Writes to memory that is not compared, because the text has other numbers each time.
mnn_status calibrate(Scene& scene) {
    return filled<char>(scene.memory, [&](char* buffer, size_t capacity, size_t* needed) {
        return mnn_cpu_calibrate(nullptr, scene.cancel, buffer, capacity, needed);
    });
}

// A runtime with workers, memory of the host, threads of the host, costs.
void* allocate(void*, size_t size, size_t alignment) {
    return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}
void release(void*, void* memory, size_t, size_t) {
    std::free(memory);
}
void inTurn(void*, mnn_task task, void* context, int32_t count) {
    for (int32_t i = 0; i < count; ++i) task(context, i);
}

mnn_status makeRuntime(Scene& scene) {
    mnn_runtime_config_t config = runtimeConfig();
    const int32_t cores[] = {0};
    config.threads = 3;
    config.cores = cores;
    config.core_count = 1;
    config.allocate = allocate;
    config.release = release;
    config.device = "0";
    config.log_callback = [](void*, int32_t, const char*) {};
    config.log_level = MNN_LOG_DEBUG;
    return mnn_runtime_create(&config, &scene.runtime);
}
mnn_status makeRuntimeOfHost(Scene& scene) {
    mnn_runtime_config_t config = runtimeConfig();
    config.threads = 2;
    config.parallel_for = inTurn;
    config.cpu_costs = "mnn_c cpu costs 1\nisa avx2\ncopy 3\n";
    return mnn_runtime_create(&config, &scene.runtime);
}

}  // namespace

std::vector<Function> libraryFunctions() {
    return {
        {"mnn_version", "", nothing, [](Scene& s) { return gives(s, MNN_OK, mnn_version()); }},
        {"mnn_version_numbers", "", nothing,
         [](Scene& s) {
             int32_t numbers[3] = {};
             const mnn_status status = mnn_version_numbers(&numbers[0], &numbers[1], &numbers[2]);
             return gives(s, status, numbers[0] << 16 | numbers[1] << 8 | numbers[2]);
         }},
        {"mnn_abi_version", "", nothing, [](Scene& s) { return gives(s, MNN_OK, mnn_abi_version()); }},
        {"mnn_status_name", "", nothing, [](Scene& s) { return gives(s, MNN_OK, mnn_status_name(MNN_ERROR_BUSY)); }},
        {"mnn_last_error", "", refused, [](Scene& s) { return gives(s, MNN_OK, mnn_last_error()); }},
        {"mnn_last_error_copy", "", refused,
         [](Scene& s) {
             return filled<char>(s.result, [](char* buffer, size_t capacity, size_t* needed) {
                 return mnn_last_error_copy(buffer, capacity, needed);
             });
         }},
        {"mnn_backend_count", "", nothing,
         [](Scene& s) {
             size_t count = 0;
             const mnn_status status = mnn_backend_count(&count);
             return gives(s, status, count);
         }},
        {"mnn_backend_name", "", nothing,
         [](Scene& s) {
             const char* name = nullptr;
             const mnn_status status = mnn_backend_name(0, &name);
             return gives(s, status, name);
         }},
        {"mnn_backend_forward_type", "", nothing,
         [](Scene& s) {
             int32_t type = -1;
             const mnn_status status = mnn_backend_forward_type(0, &type);
             return gives(s, status, type);
         }},
        {"mnn_backend_forward_type", "of a backend that there is not", nothing,
         [](Scene&) {
             int32_t type = -1;
             return ends(mnn_backend_forward_type(1000, &type), MNN_ERROR_BAD_INDEX);
         }},
        {"mnn_device_count", "", nothing,
         [](Scene& s) {
             size_t count = 0;
             const mnn_status status = mnn_device_count(forwardType, &count);
             return gives(s, status, count);
         }},
        {"mnn_device_info", "", nothing, device},
        {"mnn_cpu_info", "", nothing,
         [](Scene& s) {
             auto properties = sized<mnn_cpu_properties_t>();
             const mnn_status status = mnn_cpu_info(&properties);
             return gives(s, status, properties.features);
         }},
        // Measures for a second each time.
        {"mnn_cpu_calibrate", "", nothing, calibrate, 25},
        {"mnn_cpu_calibrate", "that is cancelled at once",
         [](Scene& s) {
             token(s);
             MUST(mnn_cancel_trigger(s.cancel));
         },
         [](Scene& s) { return ends(calibrate(s), MNN_ERROR_CANCELLED); }},

        {"mnn_backend_init", "", nothing, init<mnn_backend_t, mnn_backend_init>},
        {"mnn_device_buffer_init", "", nothing, init<mnn_device_buffer_t, mnn_device_buffer_init>},
        {"mnn_interpreter_options_init", "", nothing, init<mnn_interpreter_options_t, mnn_interpreter_options_init>},
        {"mnn_operator_init", "", nothing, init<mnn_operator_t, mnn_operator_init>},
        {"mnn_resize_options_init", "", nothing, init<mnn_resize_options_t, mnn_resize_options_init>},
        {"mnn_run_options_init", "", nothing, init<mnn_run_options_t, mnn_run_options_init>},
        {"mnn_runtime_config_init", "", nothing, init<mnn_runtime_config_t, mnn_runtime_config_init>},
        {"mnn_schedule_config_init", "", nothing, init<mnn_schedule_config_t, mnn_schedule_config_init>},
        {"mnn_vulkan_objects_init", "", nothing, init<mnn_vulkan_objects_t, mnn_vulkan_objects_init>},

        {"mnn_cancel_create", "", nothing, [](Scene& s) { return mnn_cancel_create(&s.cancel); }},
        {"mnn_cancel_trigger", "", token, [](Scene& s) { return mnn_cancel_trigger(s.cancel); }},
        {"mnn_cancel_reset", "", token, [](Scene& s) { return mnn_cancel_reset(s.cancel); }},
        {"mnn_cancel_destroy", "", token, [](Scene& s) { return mnn_cancel_destroy(&s.cancel); }},

        {"mnn_runtime_create", "of workers", nothing, makeRuntime},
        {"mnn_runtime_create", "over threads of the host", nothing, makeRuntimeOfHost},
        {"mnn_runtime_destroy", "", runtime, [](Scene& s) { return mnn_runtime_destroy(&s.runtime); }},
        {"mnn_runtime_add_backend", "", [](Scene& s) { MUST(mnn_runtime_create(nullptr, &s.backend.runtime)); },
         [](Scene& s) { return s.backend.add(); }},
    };
}

}  // namespace faults
