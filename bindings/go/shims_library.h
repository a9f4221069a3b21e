/* The library and what sessions share: backends, devices, versions, cancellation, runtimes. */
#ifndef MNN_GO_SHIMS_LIBRARY_H
#define MNN_GO_SHIMS_LIBRARY_H

#include "shims_call.h"

MNN_GO_NUMBER(size_t, mnn_backend_count, (void), &value)
MNN_GO_TEXT(mnn_backend_name, (size_t index), index, &value)
MNN_GO_NUMBER(int32_t, mnn_backend_forward_type, (size_t index), index, &value)
MNN_GO_NUMBER(size_t, mnn_device_count, (int32_t type), type, &value)

typedef struct mnn_go_device {
    mnn_go_result result;
    mnn_device_properties_t info;
} mnn_go_device;

static inline mnn_go_device go_mnn_device_info(int32_t type, size_t index) {
    mnn_go_device device = {.info.struct_size = sizeof device.info};
    device.result = mnn_go_finish(mnn_device_info(type, index, &device.info));
    return device;
}

typedef struct mnn_go_version {
    mnn_go_result result;
    int32_t major, minor, patch;
} mnn_go_version;

static inline mnn_go_version go_mnn_version_numbers(void) {
    mnn_go_version version = {.major = 0};
    version.result = mnn_go_finish(mnn_version_numbers(&version.major, &version.minor, &version.patch));
    return version;
}

MNN_GO_STRUCT(mnn_go_cpu, mnn_cpu_properties_t)
MNN_GO_FILL(mnn_go_cpu, mnn_cpu_info, (void), &filled.info)

MNN_GO_HANDLE(mnn_cancel_t, mnn_cancel_create, (void), &value)

/* Leaves no sentence when it fails. */
static inline mnn_status mnn_go_cancel_trigger(mnn_go_cancel cancel) {
    return mnn_cancel_trigger(CANCEL(cancel));
}

static inline mnn_go_result go_mnn_cancel_destroy(mnn_go_cancel cancel) {
    mnn_cancel_t* handle = CANCEL(cancel);
    return mnn_go_finish(mnn_cancel_destroy(&handle));
}

/* number: the size, the terminating zero included. */
MNN_GO_NUMBER(size_t, mnn_cpu_calibrate,
              (const char* cpu_isa, mnn_go_cancel cancel, char* buffer, size_t capacity), cpu_isa,
              CANCEL(cancel), buffer, capacity, &value)

/* The host's Vulkan objects; lock: a handle of the binding, 0 for none. */
typedef struct mnn_go_vulkan {
    bool given;
    void *instance, *physical_device, *device, *queue;
    uint32_t queue_family;
    bool storage_16bit;
    uintptr_t lock;
} mnn_go_vulkan;

/* host, allocator, log: handles of the binding, 0 for none. */
mnn_go_result mnn_go_runtime_create(int32_t threads, int32_t power, const int32_t* cores, size_t core_count,
                                    uintptr_t host, uintptr_t allocator, const char* device,
                                    const char* cpu_costs, mnn_go_vulkan vulkan, int32_t log_level,
                                    uintptr_t log);

static inline mnn_go_result go_mnn_runtime_destroy(mnn_go_runtime runtime) {
    mnn_runtime_t* handle = RUNTIME(runtime);
    return mnn_go_finish(mnn_runtime_destroy(&handle));
}

static inline void mnn_go_run_task(mnn_go_task task, uintptr_t context, int32_t index) {
    ((mnn_task)task)((void*)context, index);
}

#endif
