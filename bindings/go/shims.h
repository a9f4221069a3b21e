/*
 * The functions that Go calls: those of shims_generated.h, and here those that pass callbacks or fill structs for a
 * call. The library keeps the error sentence for the thread, and a goroutine may be on another thread at its next call:
 * so each of these functions makes one call and returns the sentence with its status.
 */
#ifndef MNN_GO_SHIMS_H
#define MNN_GO_SHIMS_H

#include <pthread.h>
#include "shims_call.h"
#include "shims_generated.h"

/* A function of the library, in a type that is no pointer for Go. */
typedef uintptr_t mnn_go_task;

/* Returns only the status: a failure leaves no sentence. */
static inline mnn_status mnn_go_cancel_trigger(mnn_go_cancel cancel) {
    return mnn_cancel_trigger((mnn_cancel_t*)cancel);
}

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
                                    uintptr_t host, uintptr_t allocator, const char* device, const char* cpu_costs,
                                    mnn_go_vulkan vulkan, int32_t log_level, uintptr_t log);

static inline void mnn_go_run_task(mnn_go_task task, uintptr_t context, int32_t index) {
    ((mnn_task)task)((void*)context, index);
}

/* The external weights; reader: a handle of the binding, 0 for none. */
typedef struct mnn_go_weights {
    const char* path;
    uint64_t size; /* at data, which is copied, or of the reader */
    uintptr_t reader;
} mnn_go_weights;

/* path: NULL for a model in memory. weight_data: external weights in memory, or NULL. log: a handle of the binding, 0
 * for none. */
mnn_go_result mnn_go_interpreter_create(const char* path, const uint8_t* data, size_t size, int32_t load_mode,
                                        int32_t log_level, float attention_scale, mnn_go_weights weights,
                                        const uint8_t* weight_data, uintptr_t log, mnn_go_cancel cancel);

/* id: a handle of the binding. shape, prepare: whether the operator has that function. */
mnn_go_result mnn_go_interpreter_add_operator(mnn_go_model model, const char* name, uint64_t content_inputs,
                                              uintptr_t id, bool shape, bool prepare);

/* Does the same for a backend. `number` in the result is its forward type. */
mnn_go_result mnn_go_runtime_add_backend(mnn_go_runtime runtime, const char* name, uintptr_t id, bool prepare);

/* state: a handle of the binding. */
static inline void mnn_go_set_state(mnn_operator_call_t* call, uintptr_t state) {
    call->state = (void*)state;
}

static inline void mnn_go_share_runtime(mnn_schedule_config_t* config, mnn_go_runtime runtime) {
    config->runtime = (mnn_runtime_t*)runtime;
}

/* configs: [count], complete except for their tokens. */
static inline mnn_go_result go_mnn_session_create_paths(mnn_go_model model, mnn_schedule_config_t* configs,
                                                        size_t count, mnn_go_cancel cancel) {
    for (size_t i = 0; i < count; ++i) configs[i].cancel = (mnn_cancel_t*)cancel;
    mnn_session_t* session = NULL;
    mnn_go_result result = mnn_go_finish(mnn_session_create_paths((mnn_interpreter_t*)model, configs, count, &session));
    result.handle = (uintptr_t)session;
    return result;
}

/* config: complete except for its token. */
static inline mnn_go_result go_mnn_session_create(mnn_go_model model, mnn_schedule_config_t* config,
                                                  mnn_go_cancel cancel) {
    config->cancel = (mnn_cancel_t*)cancel;
    mnn_session_t* session = NULL;
    mnn_go_result result = mnn_go_finish(mnn_session_create((mnn_interpreter_t*)model, config, &session));
    result.handle = (uintptr_t)session;
    return result;
}

static inline mnn_go_result mnn_go_session_resize(mnn_go_session session, mnn_go_cancel cancel) {
    mnn_resize_options_t options;
    mnn_status status = mnn_resize_options_init(&options, sizeof options);
    if (status != MNN_OK) return mnn_go_finish(status);
    options.cancel = (mnn_cancel_t*)cancel;
    return mnn_go_finish(mnn_session_resize_with_options((mnn_session_t*)session, &options));
}

/* watcher: a handle of the binding, 0 for none. before, after: whether it has a callback. timed: measures a GPU's
 * operators. */
mnn_go_result mnn_go_session_run(mnn_go_session session, mnn_go_cancel cancel, uintptr_t watcher, bool before,
                                 bool after, bool timed);
mnn_go_result mnn_go_session_submit(mnn_go_session session, mnn_go_cancel cancel);

/* The thread of the caller. A goroutine keeps its thread while it is in a callback. */
static inline uintptr_t mnn_go_thread(void) {
    return (uintptr_t)pthread_self();
}

/* dims: batch, channel, height and width. */
static inline mnn_go_shape go_mnn_tensor_nchw(mnn_go_tensor tensor) {
    mnn_go_shape shape = {0};
    shape.result = mnn_go_finish(mnn_tensor_nchw((mnn_tensor_t*)tensor, shape.dims));
    shape.result.number = 4;
    return shape;
}

typedef struct mnn_go_device_buffer {
    mnn_go_result result;
    mnn_device_buffer_t info;
} mnn_go_device_buffer;

static inline mnn_go_device_buffer go_mnn_tensor_device_buffer(mnn_go_tensor tensor, int32_t kind) {
    mnn_go_device_buffer found = {.info.struct_size = sizeof found.info, .info.kind = kind};
    found.result = mnn_go_finish(mnn_tensor_device_buffer((mnn_tensor_t*)tensor, &found.info));
    return found;
}

#endif
