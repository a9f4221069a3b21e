/* Callbacks that pass calls of the library to Go, and the functions through which Go hands them to the library. */
#include "shims.h"

#include "_cgo_export.h"

static void on_message(void* user_data, int32_t level, const char* message) {
    mnnGoLogMessage((uintptr_t)user_data, level, (char*)message);
}

static void on_last_message(void* user_data) {
    mnnGoLogEnd((uintptr_t)user_data);
}

static mnn_status read_weights(void* user_data, uint64_t offset, void* destination, size_t bytes) {
    return mnnGoReadWeights((uintptr_t)user_data, offset, destination, bytes);
}

static void on_last_weights(void* user_data) {
    mnnGoEnd((uintptr_t)user_data);
}

mnn_go_result mnn_go_interpreter_create(const char* path, const uint8_t* data, size_t size, int32_t load_mode,
                                        int32_t log_level, float attention_scale, mnn_go_weights weights,
                                        const uint8_t* weight_data, uintptr_t log, mnn_go_cancel cancel) {
    mnn_interpreter_options_t options;
    mnn_status status = mnn_interpreter_options_init(&options, sizeof options);
    if (status != MNN_OK) return mnn_go_finish(status);
    options.load_mode = load_mode;
    options.log_level = log_level;
    options.attention_scale = attention_scale;
    options.external_weight_path = weights.path;
    options.external_weight_data = weight_data;
    options.external_weight_size = weights.size;
    if (weights.reader) {
        options.external_weight_reader = read_weights;
        options.external_weight_user_data = (void*)weights.reader;
        options.external_weight_finalizer = on_last_weights;
    }
    options.cancel = (mnn_cancel_t*)cancel;
    if (log) {
        options.log_callback = on_message;
        options.log_user_data = (void*)log;
        options.log_finalizer = on_last_message;
    }
    mnn_interpreter_t* model = NULL;
    status = path ? mnn_interpreter_create_from_file(path, &options, &model)
                  : mnn_interpreter_create_from_memory(data, size, &options, &model);
    mnn_go_result result = mnn_go_finish(status);
    result.handle = (uintptr_t)model;
    return result;
}

static void parallel_for(void* user_data, mnn_task task, void* context, int32_t count) {
    mnnGoParallelFor((uintptr_t)user_data, (mnn_go_task)task, (uintptr_t)context, count);
}

static void* allocate(void* user_data, size_t size, size_t alignment) {
    return mnnGoAllocate((uintptr_t)user_data, size, alignment);
}

static void release(void* user_data, void* memory, size_t size, size_t alignment) {
    mnnGoRelease((uintptr_t)user_data, memory, size, alignment);
}

static void on_runtime_end(void* user_data) {
    mnnGoEnd((uintptr_t)user_data);
}

static void lock_queue(void* user_data) {
    mnnGoLockQueue((uintptr_t)user_data, true);
}

static void unlock_queue(void* user_data) {
    mnnGoLockQueue((uintptr_t)user_data, false);
}

mnn_go_result mnn_go_runtime_create(int32_t threads, int32_t power, const int32_t* cores, size_t core_count,
                                    uintptr_t host, uintptr_t allocator, const char* device, const char* cpu_costs,
                                    mnn_go_vulkan vulkan, int32_t log_level, uintptr_t log) {
    mnn_runtime_config_t config;
    mnn_vulkan_objects_t objects;
    mnn_status status = mnn_runtime_config_init(&config, sizeof config);
    if (status == MNN_OK) status = mnn_vulkan_objects_init(&objects, sizeof objects);
    if (status != MNN_OK) return mnn_go_finish(status);
    if (vulkan.given) {
        objects.instance = vulkan.instance;
        objects.physical_device = vulkan.physical_device;
        objects.device = vulkan.device;
        objects.queue = vulkan.queue;
        objects.queue_family = vulkan.queue_family;
        objects.storage_16bit = vulkan.storage_16bit;
        if (vulkan.lock) {
            objects.lock_queue = lock_queue;
            objects.unlock_queue = unlock_queue;
            objects.user_data = (void*)vulkan.lock;
            objects.finalizer = on_runtime_end;
        }
        config.vulkan = &objects;
    }
    config.threads = threads;
    config.power = power;
    config.cores = cores;
    config.core_count = core_count;
    config.device = device;
    config.cpu_costs = cpu_costs;
    config.log_level = log_level;
    if (host) {
        config.parallel_for = parallel_for;
        config.parallel_for_user_data = (void*)host;
        config.parallel_for_finalizer = on_runtime_end;
    }
    if (allocator) {
        config.allocate = allocate;
        config.release = release;
        config.allocator_user_data = (void*)allocator;
        config.allocator_finalizer = on_runtime_end;
    }
    if (log) {
        config.log_callback = on_message;
        config.log_user_data = (void*)log;
        config.log_finalizer = on_last_message;
    }
    mnn_runtime_t* runtime = NULL;
    mnn_go_result result = mnn_go_finish(mnn_runtime_create(&config, &runtime));
    result.handle = (uintptr_t)runtime;
    return result;
}

static int32_t call_go(void* user_data, bool after, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors,
                       size_t tensor_count) {
    return mnnGoOp((uintptr_t)user_data, after, mnn_go_thread(), (mnn_op_info_t*)op, (mnn_go_tensor*)tensors,
                   tensor_count);
}

static int32_t before_op(void* user_data, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors,
                         size_t tensor_count) {
    return call_go(user_data, false, op, tensors, tensor_count);
}

static int32_t after_op(void* user_data, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors,
                        size_t tensor_count) {
    return call_go(user_data, true, op, tensors, tensor_count);
}

mnn_go_result mnn_go_session_run(mnn_go_session session, mnn_go_cancel cancel, uintptr_t watcher, bool before,
                                 bool after, bool timed) {
    mnn_run_options_t options;
    mnn_status status = mnn_run_options_init(&options, sizeof options);
    if (status != MNN_OK) return mnn_go_finish(status);
    options.cancel = (mnn_cancel_t*)cancel;
    options.before = before ? before_op : NULL;
    options.after = after ? after_op : NULL;
    options.user_data = (void*)watcher;
    options.device_times = timed;
    return mnn_go_finish(mnn_session_run_with_options((mnn_session_t*)session, &options));
}

mnn_go_result mnn_go_session_submit(mnn_go_session session, mnn_go_cancel cancel) {
    mnn_run_options_t options;
    mnn_status status = mnn_run_options_init(&options, sizeof options);
    if (status != MNN_OK) return mnn_go_finish(status);
    options.cancel = (mnn_cancel_t*)cancel;
    return mnn_go_finish(mnn_session_submit((mnn_session_t*)session, &options));
}

/* The functions of an Operator or a HostBackend, with the numbers of operators.go. */
enum { SHAPE, SUPPORTS, PREPARE, COMPUTE };

static mnn_status on_shape(void* user_data, mnn_operator_call_t* call) {
    return mnnGoOperatorCall((uintptr_t)user_data, SHAPE, mnn_go_thread(), call);
}

static mnn_status on_supports(void* user_data, mnn_operator_call_t* call) {
    return mnnGoOperatorCall((uintptr_t)user_data, SUPPORTS, mnn_go_thread(), call);
}

static mnn_status on_prepare(void* user_data, mnn_operator_call_t* call) {
    return mnnGoOperatorCall((uintptr_t)user_data, PREPARE, mnn_go_thread(), call);
}

static mnn_status on_compute(void* user_data, mnn_operator_call_t* call) {
    return mnnGoOperatorCall((uintptr_t)user_data, COMPUTE, mnn_go_thread(), call);
}

static void on_release(void* user_data, void* state) {
    (void)user_data;
    mnnGoOperatorRelease((uintptr_t)state);
}

static void on_end(void* user_data) {
    mnnGoOperatorEnd((uintptr_t)user_data);
}

mnn_go_result mnn_go_interpreter_add_operator(mnn_go_model model, const char* name, uint64_t content_inputs,
                                              uintptr_t id, bool shape, bool prepare) {
    mnn_operator_t op;
    const mnn_status status = mnn_operator_init(&op, sizeof op);
    if (status != MNN_OK) return mnn_go_finish(status);
    op.name = name;
    op.content_inputs = content_inputs;
    op.shape = shape ? on_shape : NULL;
    op.prepare = prepare ? on_prepare : NULL;
    op.compute = on_compute;
    op.release = on_release;
    op.user_data = (void*)id;
    op.finalizer = on_end;
    return mnn_go_finish(mnn_interpreter_add_operator((mnn_interpreter_t*)model, &op));
}

mnn_go_result mnn_go_runtime_add_backend(mnn_go_runtime runtime, const char* name, uintptr_t id, bool prepare) {
    mnn_backend_t backend;
    const mnn_status status = mnn_backend_init(&backend, sizeof backend);
    if (status != MNN_OK) return mnn_go_finish(status);
    backend.name = name;
    backend.supports = on_supports;
    backend.prepare = prepare ? on_prepare : NULL;
    backend.compute = on_compute;
    backend.release = on_release;
    backend.user_data = (void*)id;
    backend.finalizer = on_end;
    int32_t type = 0;
    mnn_go_result result = mnn_go_finish(mnn_runtime_add_backend((mnn_runtime_t*)runtime, &backend, &type));
    result.number = type;
    return result;
}
