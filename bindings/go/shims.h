/*
 * The functions that Go calls. The library keeps the sentence of a failure for the thread, and a goroutine may be on
 * another one at its next call: so each of these makes one call and takes the sentence along.
 */
#ifndef MNN_GO_SHIMS_H
#define MNN_GO_SHIMS_H

#include <mnn_c.h>
#include <pthread.h>
#include <stdlib.h>

/* Handles as Go keeps them: numbers. They are no addresses, so Go's runtime must not take them for pointers. */
typedef uintptr_t mnn_go_model, mnn_go_session, mnn_go_tensor, mnn_go_cancel, mnn_go_runtime;
/* A function of the library, for the same reason, and what it is called with. */
typedef uintptr_t mnn_go_task;

#define MODEL(HANDLE) ((mnn_interpreter_t*)(HANDLE))
#define SESSION(HANDLE) ((mnn_session_t*)(HANDLE))
#define TENSOR(HANDLE) ((mnn_tensor_t*)(HANDLE))
#define CANCEL(HANDLE) ((mnn_cancel_t*)(HANDLE))
#define RUNTIME(HANDLE) ((mnn_runtime_t*)(HANDLE))

typedef struct mnn_go_result {
    mnn_status status;
    char* sentence;   /* of a failure; Go frees it. NULL on MNN_OK, or when there is no memory for it */
    uint64_t number;  /* a count, a size, an enumerator or a bool */
    double real;      /* operations */
    const char* text; /* owned by the handle it was asked from */
    uintptr_t handle; /* a new one, or that of a tensor */
} mnn_go_result;

static inline mnn_go_result mnn_go_finish(mnn_status status) {
    mnn_go_result result = {status, NULL, 0, 0, NULL, 0};
    if (status != MNN_OK) {
        size_t size = 0;
        (void)mnn_last_error_copy(NULL, 0, &size);
        result.sentence = malloc(size);
        if (result.sentence) (void)mnn_last_error_copy(result.sentence, size, &size);
    }
    return result;
}

/* Each defines go_FUNCTION: calls FUNCTION with the arguments behind PARAMETERS; `value` is what it fills. */
#define MNN_GO_CALL(FUNCTION, PARAMETERS, ...)             \
    static inline mnn_go_result go_##FUNCTION PARAMETERS { \
        return mnn_go_finish(FUNCTION(__VA_ARGS__));       \
    }
#define MNN_GO_GET(FIELD, CAST, TYPE, FUNCTION, PARAMETERS, ...)     \
    static inline mnn_go_result go_##FUNCTION PARAMETERS {           \
        TYPE value = 0;                                              \
        mnn_go_result result = mnn_go_finish(FUNCTION(__VA_ARGS__)); \
        result.FIELD = (CAST)value;                                  \
        return result;                                               \
    }
#define MNN_GO_NUMBER(TYPE, FUNCTION, ...) MNN_GO_GET(number, uint64_t, TYPE, FUNCTION, __VA_ARGS__)
#define MNN_GO_TEXT(FUNCTION, ...) MNN_GO_GET(text, const char*, const char*, FUNCTION, __VA_ARGS__)
#define MNN_GO_HANDLE(TYPE, FUNCTION, ...) MNN_GO_GET(handle, uintptr_t, TYPE*, FUNCTION, __VA_ARGS__)

/* ---- Library ---- */

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

/* Each defines go_FUNCTION, which fills a struct that knows its size. */
#define MNN_GO_STRUCT(NAME, TYPE, FUNCTION, PARAMETER, HANDLE)         \
    typedef struct NAME {                                              \
        mnn_go_result result;                                          \
        TYPE info;                                                     \
    } NAME;                                                            \
    static inline NAME go_##FUNCTION(PARAMETER) {                      \
        NAME filled = {.info.struct_size = sizeof filled.info};        \
        filled.result = mnn_go_finish(FUNCTION(HANDLE & filled.info)); \
        return filled;                                                 \
    }
#define MNN_GO_COMMA ,

MNN_GO_STRUCT(mnn_go_cpu, mnn_cpu_properties_t, mnn_cpu_info, void, )
MNN_GO_STRUCT(mnn_go_model_properties, mnn_model_properties_t, mnn_interpreter_info, mnn_go_model model,
              MODEL(model) MNN_GO_COMMA)
typedef struct mnn_go_declaration {
    mnn_go_result result;
    mnn_declaration_t info;
} mnn_go_declaration;

static inline mnn_go_declaration go_mnn_interpreter_input_info(mnn_go_model model, size_t index) {
    mnn_go_declaration declaration = {.info.struct_size = sizeof declaration.info};
    declaration.result = mnn_go_finish(mnn_interpreter_input_info(MODEL(model), index, &declaration.info));
    return declaration;
}

static inline mnn_go_declaration go_mnn_interpreter_output_info(mnn_go_model model, size_t index) {
    mnn_go_declaration declaration = {.info.struct_size = sizeof declaration.info};
    declaration.result = mnn_go_finish(mnn_interpreter_output_info(MODEL(model), index, &declaration.info));
    return declaration;
}

MNN_GO_STRUCT(mnn_go_session_properties, mnn_session_properties_t, mnn_session_info, mnn_go_session session,
              SESSION(session) MNN_GO_COMMA)
static inline mnn_go_session_properties go_mnn_session_path_info(mnn_go_session session, size_t path) {
    mnn_go_session_properties filled = {.info.struct_size = sizeof filled.info};
    filled.result = mnn_go_finish(mnn_session_path_info(SESSION(session), path, &filled.info));
    return filled;
}
MNN_GO_STRUCT(mnn_go_statistics, mnn_statistics_t, mnn_session_statistics, mnn_go_session session,
              SESSION(session) MNN_GO_COMMA)
MNN_GO_STRUCT(mnn_go_tensor_properties, mnn_tensor_properties_t, mnn_tensor_info, mnn_go_tensor tensor,
              TENSOR(tensor) MNN_GO_COMMA)

typedef struct mnn_go_device_buffer {
    mnn_go_result result;
    mnn_device_buffer_t info;
} mnn_go_device_buffer;

static inline mnn_go_device_buffer go_mnn_tensor_device_buffer(mnn_go_tensor tensor, int32_t kind) {
    mnn_go_device_buffer found = {.info.struct_size = sizeof found.info, .info.kind = kind};
    found.result = mnn_go_finish(mnn_tensor_device_buffer(TENSOR(tensor), &found.info));
    return found;
}

/* ---- Cancellation ---- */

MNN_GO_HANDLE(mnn_cancel_t, mnn_cancel_create, (void), &value)

/* Leaves no sentence when it fails. */
static inline mnn_status mnn_go_cancel_trigger(mnn_go_cancel cancel) {
    return mnn_cancel_trigger(CANCEL(cancel));
}

static inline mnn_go_result go_mnn_cancel_destroy(mnn_go_cancel cancel) {
    mnn_cancel_t* handle = CANCEL(cancel);
    return mnn_go_finish(mnn_cancel_destroy(&handle));
}

static inline mnn_go_result go_mnn_cpu_calibrate(const char* cpu_isa, mnn_go_cancel cancel, char* buffer,
                                                 size_t capacity) {
    size_t needed = 0;
    mnn_go_result result =
        mnn_go_finish(mnn_cpu_calibrate(cpu_isa, CANCEL(cancel), buffer, capacity, &needed));
    result.number = needed;
    return result;
}

/* ---- Runtime ---- */

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

static inline mnn_go_result go_mnn_runtime_destroy(mnn_go_runtime runtime) {
    mnn_runtime_t* handle = RUNTIME(runtime);
    return mnn_go_finish(mnn_runtime_destroy(&handle));
}

static inline void mnn_go_run_task(mnn_go_task task, uintptr_t context, int32_t index) {
    ((mnn_task)task)((void*)context, index);
}

/* ---- Interpreter ---- */

/* Where external weights are; reader: a handle of the binding, 0 for none. */
typedef struct mnn_go_weights {
    const char* path;
    uint64_t size; /* at data, which is copied, or of the reader */
    uintptr_t reader;
} mnn_go_weights;

/* path: NULL for a model in memory. weight_data: external weights in memory, or NULL. log: a handle of the binding, 0 for
 * none. */
mnn_go_result mnn_go_interpreter_create(const char* path, const uint8_t* data, size_t size, int32_t load_mode,
                                        int32_t log_level, mnn_go_weights weights, const uint8_t* weight_data,
                                        uintptr_t log, mnn_go_cancel cancel);

static inline mnn_go_result go_mnn_interpreter_destroy(mnn_go_model model) {
    mnn_interpreter_t* handle = MODEL(model);
    return mnn_go_finish(mnn_interpreter_destroy(&handle));
}

MNN_GO_CALL(mnn_interpreter_set_cache_file, (mnn_go_model model, const char* path), MODEL(model), path)
MNN_GO_CALL(mnn_interpreter_set_cache, (mnn_go_model model, const uint8_t* data, size_t size), MODEL(model),
            data, size)
MNN_GO_CALL(mnn_interpreter_update_cache_file, (mnn_go_model model, mnn_go_session session), MODEL(model),
            SESSION(session))
MNN_GO_TEXT(mnn_interpreter_uuid, (mnn_go_model model), MODEL(model), &value)
MNN_GO_TEXT(mnn_interpreter_model_version, (mnn_go_model model), MODEL(model), &value)
MNN_GO_TEXT(mnn_interpreter_biz_code, (mnn_go_model model), MODEL(model), &value)
MNN_GO_NUMBER(size_t, mnn_interpreter_input_count, (mnn_go_model model), MODEL(model), &value)
MNN_GO_TEXT(mnn_interpreter_input_name, (mnn_go_model model, size_t index), MODEL(model), index, &value)
MNN_GO_NUMBER(int32_t, mnn_interpreter_input_type, (mnn_go_model model, size_t index), MODEL(model), index,
              &value)
MNN_GO_NUMBER(int32_t, mnn_interpreter_input_format, (mnn_go_model model, size_t index), MODEL(model), index,
              &value)
MNN_GO_NUMBER(size_t, mnn_interpreter_output_count, (mnn_go_model model), MODEL(model), &value)
MNN_GO_TEXT(mnn_interpreter_output_name, (mnn_go_model model, size_t index), MODEL(model), index, &value)
MNN_GO_NUMBER(size_t, mnn_interpreter_op_count, (mnn_go_model model), MODEL(model), &value)
MNN_GO_TEXT(mnn_interpreter_op_name, (mnn_go_model model, size_t index), MODEL(model), index, &value)
MNN_GO_TEXT(mnn_interpreter_op_type, (mnn_go_model model, size_t index), MODEL(model), index, &value)
MNN_GO_NUMBER(bool, mnn_interpreter_op_supported, (mnn_go_model model, size_t index), MODEL(model), index,
              &value)
MNN_GO_NUMBER(size_t, mnn_interpreter_op_output_count, (mnn_go_model model, size_t index), MODEL(model),
              index, &value)
MNN_GO_TEXT(mnn_interpreter_op_output_name, (mnn_go_model model, size_t index, size_t output), MODEL(model),
            index, output, &value)
MNN_GO_NUMBER(uint64_t, mnn_interpreter_parameter_count, (mnn_go_model model), MODEL(model), &value)

MNN_GO_CALL(mnn_interpreter_update_constants, (mnn_go_model model, mnn_go_session session), MODEL(model),
            SESSION(session))
MNN_GO_CALL(mnn_interpreter_save, (mnn_go_model model, const char* path), MODEL(model), path)
MNN_GO_CALL(mnn_interpreter_release_model, (mnn_go_model model), MODEL(model))

/* number: the size. */
static inline mnn_go_result go_mnn_interpreter_model_bytes(mnn_go_model model, uint8_t* buffer,
                                                           size_t capacity) {
    size_t needed = 0;
    mnn_go_result result =
        mnn_go_finish(mnn_interpreter_model_bytes(MODEL(model), buffer, capacity, &needed));
    result.number = needed;
    return result;
}

/* number: the size. */
static inline mnn_go_result go_mnn_interpreter_report(mnn_go_model model, const char* what, char* buffer,
                                                      size_t capacity) {
    size_t needed = 0;
    mnn_go_result result =
        mnn_go_finish(mnn_interpreter_report(MODEL(model), what, buffer, capacity, &needed));
    result.number = needed;
    return result;
}

typedef struct mnn_go_pair {
    mnn_go_result result;
    const char *key, *value;
} mnn_go_pair;

static inline mnn_go_pair go_mnn_interpreter_metadata(mnn_go_model model, size_t index) {
    mnn_go_pair pair = {.key = NULL};
    pair.result = mnn_go_finish(mnn_interpreter_metadata(MODEL(model), index, &pair.key, &pair.value));
    return pair;
}

typedef struct mnn_go_shape {
    mnn_go_result result; /* number: the rank */
    int32_t dims[MNN_MAX_RANK];
} mnn_go_shape;

static inline mnn_go_shape go_mnn_interpreter_input_shape(mnn_go_model model, size_t index) {
    mnn_go_shape shape = {0};
    size_t rank = 0;
    shape.result =
        mnn_go_finish(mnn_interpreter_input_shape(MODEL(model), index, shape.dims, MNN_MAX_RANK, &rank));
    shape.result.number = rank;
    return shape;
}

/* ---- Own operators ---- */

/* id: a handle of the binding. shape, prepare: whether it has that function. */
mnn_go_result mnn_go_interpreter_add_operator(mnn_go_model model, const char* name, uint64_t content_inputs,
                                              uintptr_t id, bool shape, bool prepare);

/* The same for a backend. number: its forward type. */
mnn_go_result mnn_go_runtime_add_backend(mnn_go_runtime runtime, const char* name, uintptr_t id,
                                         bool prepare);

/* state: a handle of the binding. */
static inline void mnn_go_set_state(mnn_operator_call_t* call, uintptr_t state) {
    call->state = (void*)state;
}

typedef struct mnn_go_attribute {
    mnn_go_result result;
    const mnn_attribute_t* attribute;
} mnn_go_attribute;

static inline mnn_go_attribute go_mnn_node_attribute(const mnn_node_t* node, const char* key) {
    mnn_go_attribute found = {.attribute = NULL};
    found.result = mnn_go_finish(mnn_node_attribute(node, key, &found.attribute));
    return found;
}

/* ---- Session ---- */

MNN_GO_CALL(mnn_schedule_config_init, (mnn_schedule_config_t * config), config, sizeof *config)
static inline void mnn_go_share_runtime(mnn_schedule_config_t* config, mnn_go_runtime runtime) {
    config->runtime = RUNTIME(runtime);
}

/* configs: [count], all but their tokens. */
static inline mnn_go_result go_mnn_session_create_paths(mnn_go_model model, mnn_schedule_config_t* configs,
                                                        size_t count, mnn_go_cancel cancel) {
    for (size_t i = 0; i < count; ++i) configs[i].cancel = CANCEL(cancel);
    mnn_session_t* session = NULL;
    mnn_go_result result = mnn_go_finish(mnn_session_create_paths(MODEL(model), configs, count, &session));
    result.handle = (uintptr_t)session;
    return result;
}

/* config: all but its token. */
static inline mnn_go_result go_mnn_session_create(mnn_go_model model, mnn_schedule_config_t* config,
                                                  mnn_go_cancel cancel) {
    config->cancel = CANCEL(cancel);
    mnn_session_t* session = NULL;
    mnn_go_result result = mnn_go_finish(mnn_session_create(MODEL(model), config, &session));
    result.handle = (uintptr_t)session;
    return result;
}

static inline mnn_go_result go_mnn_session_destroy(mnn_go_session session) {
    mnn_session_t* handle = SESSION(session);
    return mnn_go_finish(mnn_session_destroy(&handle));
}

MNN_GO_NUMBER(size_t, mnn_session_input_count, (mnn_go_session session), SESSION(session), &value)
MNN_GO_HANDLE(mnn_tensor_t, mnn_session_input, (mnn_go_session session, const char* name), SESSION(session),
              name, &value)
MNN_GO_HANDLE(mnn_tensor_t, mnn_session_input_at, (mnn_go_session session, size_t index), SESSION(session),
              index, &value)
MNN_GO_NUMBER(size_t, mnn_session_output_count, (mnn_go_session session), SESSION(session), &value)
MNN_GO_HANDLE(mnn_tensor_t, mnn_session_output, (mnn_go_session session, const char* name), SESSION(session),
              name, &value)
MNN_GO_HANDLE(mnn_tensor_t, mnn_session_output_at, (mnn_go_session session, size_t index), SESSION(session),
              index, &value)
MNN_GO_CALL(mnn_session_resize_input,
            (mnn_go_session session, mnn_go_tensor input, const int32_t* dims, size_t rank), SESSION(session),
            TENSOR(input), dims, rank)
MNN_GO_CALL(mnn_session_bind_input,
            (mnn_go_session session, mnn_go_tensor tensor, const void* data, size_t bytes, int32_t format),
            SESSION(session), TENSOR(tensor), data, bytes, format)
MNN_GO_CALL(mnn_session_bind_output,
            (mnn_go_session session, mnn_go_tensor tensor, void* data, size_t bytes, int32_t format),
            SESSION(session), TENSOR(tensor), data, bytes, format)
MNN_GO_CALL(mnn_device_buffer_init, (mnn_device_buffer_t * buffer), buffer, sizeof *buffer)
MNN_GO_CALL(mnn_session_bind_input_buffer,
            (mnn_go_session session, mnn_go_tensor tensor, const mnn_device_buffer_t* buffer), SESSION(session),
            TENSOR(tensor), buffer)
MNN_GO_CALL(mnn_session_bind_output_buffer,
            (mnn_go_session session, mnn_go_tensor tensor, const mnn_device_buffer_t* buffer), SESSION(session),
            TENSOR(tensor), buffer)
MNN_GO_CALL(mnn_session_resize_input_nchw,
            (mnn_go_session session, mnn_go_tensor input, int32_t batch, int32_t channel, int32_t height,
             int32_t width),
            SESSION(session), TENSOR(input), batch, channel, height, width)
MNN_GO_NUMBER(size_t, mnn_session_constant_count, (mnn_go_session session), SESSION(session), &value)
MNN_GO_TEXT(mnn_session_constant_name, (mnn_go_session session, size_t index), SESSION(session), index,
            &value)
MNN_GO_HANDLE(mnn_tensor_t, mnn_session_constant, (mnn_go_session session, const char* name),
              SESSION(session), name, &value)
MNN_GO_CALL(mnn_session_trim, (mnn_go_session session), SESSION(session))
MNN_GO_CALL(mnn_session_wait, (mnn_go_session session, int64_t timeout), SESSION(session), timeout)
MNN_GO_NUMBER(bool, mnn_session_needs_resize, (mnn_go_session session), SESSION(session), &value)
MNN_GO_NUMBER(bool, mnn_session_cache_accepted, (mnn_go_session session), SESSION(session), &value)
MNN_GO_NUMBER(size_t, mnn_session_op_count, (mnn_go_session session), SESSION(session), &value)

static inline mnn_go_result mnn_go_session_resize(mnn_go_session session, mnn_go_cancel cancel) {
    mnn_resize_options_t options;
    mnn_status status = mnn_resize_options_init(&options, sizeof options);
    if (status != MNN_OK) return mnn_go_finish(status);
    options.cancel = CANCEL(cancel);
    return mnn_go_finish(mnn_session_resize_with_options(SESSION(session), &options));
}

/* watcher: a handle of the binding, 0 for none. before, after: whether it has a callback. timed: measures a GPU's operators. */
mnn_go_result mnn_go_session_run(mnn_go_session session, mnn_go_cancel cancel, uintptr_t watcher, bool before,
                                 bool after, bool timed);
mnn_go_result mnn_go_session_submit(mnn_go_session session, mnn_go_cancel cancel);

/* number: the backend; text: the reason, NULL when there is none. */
static inline mnn_go_result go_mnn_session_forward_type(mnn_go_session session) {
    int32_t forward_type = 0;
    const char* reason = NULL;
    mnn_go_result result = mnn_go_finish(mnn_session_forward_type(SESSION(session), &forward_type, &reason));
    result.number = (uint64_t)forward_type;
    result.text = reason;
    return result;
}

/* The thread that asks. A goroutine keeps its thread while it is in a callback. */
static inline uintptr_t mnn_go_thread(void) {
    return (uintptr_t)pthread_self();
}

/* number: the size, also where the buffer is too small. */
static inline mnn_go_result go_mnn_session_cache(mnn_go_session session, uint8_t* buffer, size_t capacity) {
    size_t needed = 0;
    mnn_go_result result = mnn_go_finish(mnn_session_cache(SESSION(session), buffer, capacity, &needed));
    result.number = needed;
    return result;
}

/* number: the size, the terminating zero included. */
static inline mnn_go_result go_mnn_session_report(mnn_go_session session, const char* what, char* buffer,
                                                  size_t capacity) {
    size_t needed = 0;
    mnn_go_result result =
        mnn_go_finish(mnn_session_report(SESSION(session), what, buffer, capacity, &needed));
    result.number = needed;
    return result;
}

/* number: whether it is complete. */
static inline mnn_go_result go_mnn_session_flops(mnn_go_session session) {
    double flops = 0;
    bool complete = false;
    mnn_go_result result = mnn_go_finish(mnn_session_flops(SESSION(session), &flops, &complete));
    result.real = flops;
    result.number = complete;
    return result;
}

typedef struct mnn_go_memory {
    mnn_go_result result;
    mnn_memory_info_t info;
} mnn_go_memory;

static inline mnn_go_memory go_mnn_session_memory(mnn_go_session session) {
    mnn_go_memory memory = {.info.struct_size = sizeof memory.info};
    memory.result = mnn_go_finish(mnn_session_memory(SESSION(session), &memory.info));
    return memory;
}

typedef struct mnn_go_op {
    mnn_go_result result;
    mnn_op_info_t info;
} mnn_go_op;

static inline mnn_go_op go_mnn_session_op_info(mnn_go_session session, size_t index) {
    mnn_go_op op = {.info.struct_size = sizeof op.info};
    op.result = mnn_go_finish(mnn_session_op_info(SESSION(session), index, &op.info));
    return op;
}

/* ---- Tensor ---- */

MNN_GO_TEXT(mnn_tensor_name, (mnn_go_tensor tensor), TENSOR(tensor), &value)
MNN_GO_NUMBER(int32_t, mnn_tensor_type, (mnn_go_tensor tensor), TENSOR(tensor), &value)
MNN_GO_NUMBER(int32_t, mnn_tensor_format, (mnn_go_tensor tensor), TENSOR(tensor), &value)
MNN_GO_NUMBER(size_t, mnn_tensor_element_count, (mnn_go_tensor tensor), TENSOR(tensor), &value)
MNN_GO_NUMBER(size_t, mnn_tensor_byte_size, (mnn_go_tensor tensor, int32_t format), TENSOR(tensor), format,
              &value)
MNN_GO_CALL(mnn_tensor_write, (mnn_go_tensor tensor, const uint8_t* data, size_t bytes, int32_t format),
            TENSOR(tensor), data, bytes, format)
MNN_GO_CALL(mnn_tensor_write_as,
            (mnn_go_tensor tensor, const uint8_t* data, size_t bytes, int32_t type, int32_t format),
            TENSOR(tensor), data, bytes, type, format)
MNN_GO_CALL(mnn_tensor_read_as,
            (mnn_go_tensor tensor, uint8_t* buffer, size_t bytes, int32_t type, int32_t format),
            TENSOR(tensor), buffer, bytes, type, format)
MNN_GO_CALL(mnn_tensor_read, (mnn_go_tensor tensor, uint8_t* buffer, size_t bytes, int32_t format),
            TENSOR(tensor), buffer, bytes, format)

/* number: the size, the terminating zero included. */
static inline mnn_go_result go_mnn_tensor_print(mnn_go_tensor tensor, size_t edge, char* buffer,
                                                size_t capacity) {
    size_t needed = 0;
    mnn_go_result result = mnn_go_finish(mnn_tensor_print(TENSOR(tensor), edge, buffer, capacity, &needed));
    result.number = needed;
    return result;
}

/* dims: batch, channel, height and width. */
static inline mnn_go_shape go_mnn_tensor_nchw(mnn_go_tensor tensor) {
    mnn_go_shape shape = {0};
    shape.result = mnn_go_finish(mnn_tensor_nchw(TENSOR(tensor), shape.dims));
    shape.result.number = 4;
    return shape;
}

static inline mnn_go_shape go_mnn_tensor_shape(mnn_go_tensor tensor) {
    mnn_go_shape shape = {0};
    size_t rank = 0;
    shape.result = mnn_go_finish(mnn_tensor_shape(TENSOR(tensor), shape.dims, MNN_MAX_RANK, &rank));
    shape.result.number = rank;
    return shape;
}

#undef MODEL
#undef SESSION
#undef TENSOR
#undef CANCEL
#undef RUNTIME

#endif
