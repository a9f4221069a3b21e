/*
 * What Go calls. The library keeps the sentence of a failure for the thread, and a goroutine may be on
 * another one at its next call: so each of these makes one call and takes the sentence along.
 */
#ifndef MNN_GO_SHIMS_H
#define MNN_GO_SHIMS_H

#include <mnn_c.h>
#include <pthread.h>
#include <stdlib.h>

typedef struct mnn_go_result {
    mnn_status status;
    char* sentence;   /* of a failure; Go frees it. NULL on MNN_OK, or when there is no memory for it */
    uint64_t number;  /* a count, a size, an enumerator or a bool */
    double real;      /* operations */
    const char* text; /* owned by the handle it was asked from */
    void* pointer;    /* a handle */
} mnn_go_result;

static inline mnn_go_result mnn_go_finish(mnn_status status) {
    mnn_go_result result = {status, NULL, 0, 0, NULL, NULL};
    if (status != MNN_OK) {
        const size_t size = mnn_last_error_copy(NULL, 0) + 1;
        result.sentence = malloc(size);
        if (result.sentence) (void)mnn_last_error_copy(result.sentence, size);
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
#define MNN_GO_POINTER(TYPE, FUNCTION, ...) MNN_GO_GET(pointer, void*, TYPE*, FUNCTION, __VA_ARGS__)

/* ---- Library ---- */

MNN_GO_NUMBER(size_t, mnn_backend_count, (void), &value)
MNN_GO_TEXT(mnn_backend_name, (size_t index), index, &value)
MNN_GO_NUMBER(int32_t, mnn_backend_forward_type, (size_t index), index, &value)
MNN_GO_NUMBER(size_t, mnn_device_count, (int32_t type), type, &value)

typedef struct mnn_go_device {
    mnn_go_result result;
    mnn_device_info_t info;
} mnn_go_device;

static inline mnn_go_device go_mnn_device_info(int32_t type, size_t index) {
    mnn_go_device device = {.info.struct_size = sizeof device.info};
    device.result = mnn_go_finish(mnn_device_info(type, index, &device.info));
    return device;
}

/* ---- Interpreter ---- */

#define MNN_GO_MODEL const mnn_interpreter_t* model

/* path: NULL for a model in memory. log: a handle of the binding, 0 for none. */
mnn_go_result mnn_go_interpreter_create(const char* path, const uint8_t* data, size_t size, int32_t load_mode,
                                        int32_t log_level, const char* external_weight_path, uintptr_t log);

MNN_GO_CALL(mnn_interpreter_destroy, (mnn_interpreter_t * model), &model)
MNN_GO_CALL(mnn_interpreter_set_cache_file, (mnn_interpreter_t * model, const char* path), model, path)
MNN_GO_CALL(mnn_interpreter_set_cache, (mnn_interpreter_t * model, const uint8_t* data, size_t size), model,
            data, size)
MNN_GO_CALL(mnn_interpreter_update_cache_file, (mnn_interpreter_t * model, const mnn_session_t* session),
            model, session)
MNN_GO_TEXT(mnn_interpreter_uuid, (MNN_GO_MODEL), model, &value)
MNN_GO_TEXT(mnn_interpreter_model_version, (MNN_GO_MODEL), model, &value)
MNN_GO_TEXT(mnn_interpreter_biz_code, (MNN_GO_MODEL), model, &value)
MNN_GO_NUMBER(size_t, mnn_interpreter_input_count, (MNN_GO_MODEL), model, &value)
MNN_GO_TEXT(mnn_interpreter_input_name, (MNN_GO_MODEL, size_t index), model, index, &value)
MNN_GO_NUMBER(int32_t, mnn_interpreter_input_type, (MNN_GO_MODEL, size_t index), model, index, &value)
MNN_GO_NUMBER(int32_t, mnn_interpreter_input_format, (MNN_GO_MODEL, size_t index), model, index, &value)
MNN_GO_NUMBER(size_t, mnn_interpreter_output_count, (MNN_GO_MODEL), model, &value)
MNN_GO_TEXT(mnn_interpreter_output_name, (MNN_GO_MODEL, size_t index), model, index, &value)
MNN_GO_NUMBER(size_t, mnn_interpreter_op_count, (MNN_GO_MODEL), model, &value)
MNN_GO_TEXT(mnn_interpreter_op_name, (MNN_GO_MODEL, size_t index), model, index, &value)
MNN_GO_TEXT(mnn_interpreter_op_type, (MNN_GO_MODEL, size_t index), model, index, &value)
MNN_GO_NUMBER(bool, mnn_interpreter_op_supported, (MNN_GO_MODEL, size_t index), model, index, &value)
MNN_GO_NUMBER(size_t, mnn_interpreter_op_output_count, (MNN_GO_MODEL, size_t index), model, index, &value)
MNN_GO_TEXT(mnn_interpreter_op_output_name, (MNN_GO_MODEL, size_t index, size_t output), model, index, output,
            &value)
MNN_GO_NUMBER(uint64_t, mnn_interpreter_parameter_count, (MNN_GO_MODEL), model, &value)

typedef struct mnn_go_shape {
    mnn_go_result result; /* number: the rank */
    int32_t dims[MNN_MAX_RANK];
} mnn_go_shape;

static inline mnn_go_shape go_mnn_interpreter_input_shape(MNN_GO_MODEL, size_t index) {
    mnn_go_shape shape = {0};
    size_t rank = 0;
    shape.result = mnn_go_finish(mnn_interpreter_input_shape(model, index, shape.dims, MNN_MAX_RANK, &rank));
    shape.result.number = rank;
    return shape;
}

/* ---- Session ---- */

#define MNN_GO_SESSION const mnn_session_t* session

MNN_GO_CALL(mnn_schedule_config_init, (mnn_schedule_config_t * config), config, sizeof *config)
MNN_GO_POINTER(mnn_session_t, mnn_session_create,
               (mnn_interpreter_t * model, const mnn_schedule_config_t* config), model, config, &value)
MNN_GO_CALL(mnn_session_destroy, (mnn_session_t * session), &session)
MNN_GO_NUMBER(size_t, mnn_session_input_count, (MNN_GO_SESSION), session, &value)
MNN_GO_POINTER(mnn_tensor_t, mnn_session_input, (MNN_GO_SESSION, const char* name), session, name, &value)
MNN_GO_POINTER(mnn_tensor_t, mnn_session_input_at, (MNN_GO_SESSION, size_t index), session, index, &value)
MNN_GO_NUMBER(size_t, mnn_session_output_count, (MNN_GO_SESSION), session, &value)
MNN_GO_POINTER(mnn_tensor_t, mnn_session_output, (MNN_GO_SESSION, const char* name), session, name, &value)
MNN_GO_POINTER(mnn_tensor_t, mnn_session_output_at, (MNN_GO_SESSION, size_t index), session, index, &value)
MNN_GO_CALL(mnn_session_resize_input,
            (mnn_session_t * session, mnn_tensor_t* input, const int32_t* dims, size_t rank), session, input,
            dims, rank)
MNN_GO_NUMBER(bool, mnn_session_needs_resize, (MNN_GO_SESSION), session, &value)
MNN_GO_CALL(mnn_session_resize, (mnn_session_t * session), session)
MNN_GO_CALL(mnn_session_run, (mnn_session_t * session), session)
MNN_GO_CALL(mnn_session_interrupt, (mnn_session_t * session), session)
MNN_GO_NUMBER(bool, mnn_session_cache_accepted, (MNN_GO_SESSION), session, &value)
MNN_GO_NUMBER(size_t, mnn_session_op_count, (MNN_GO_SESSION), session, &value)

/* run: a handle of the binding. before, after: whether there is a callback. */
mnn_go_result mnn_go_session_run_with_callbacks(mnn_session_t* session, uintptr_t run, bool before,
                                                bool after);

/* The thread that asks. A goroutine keeps its thread while it is in a callback. */
static inline uintptr_t mnn_go_thread(void) {
    return (uintptr_t)pthread_self();
}

/* buffer: NULL to ask for the size alone; number: the size. */
static inline mnn_go_result go_mnn_session_cache(MNN_GO_SESSION, uint8_t* buffer, size_t size) {
    mnn_go_result result = mnn_go_finish(mnn_session_cache(session, buffer, &size));
    result.number = size;
    return result;
}

/* number: whether it is complete. */
static inline mnn_go_result go_mnn_session_flops(MNN_GO_SESSION) {
    double flops = 0;
    bool complete = false;
    mnn_go_result result = mnn_go_finish(mnn_session_flops(session, &flops, &complete));
    result.real = flops;
    result.number = complete;
    return result;
}

typedef struct mnn_go_memory {
    mnn_go_result result;
    mnn_session_memory_t info;
} mnn_go_memory;

static inline mnn_go_memory go_mnn_session_memory(MNN_GO_SESSION) {
    mnn_go_memory memory = {.info.struct_size = sizeof memory.info};
    memory.result = mnn_go_finish(mnn_session_memory(session, &memory.info));
    return memory;
}

typedef struct mnn_go_op {
    mnn_go_result result;
    mnn_session_op_info_t info;
} mnn_go_op;

static inline mnn_go_op go_mnn_session_op_info(MNN_GO_SESSION, size_t index) {
    mnn_go_op op = {.info.struct_size = sizeof op.info};
    op.result = mnn_go_finish(mnn_session_op_info(session, index, &op.info));
    return op;
}

/* ---- Tensor ---- */

#define MNN_GO_TENSOR const mnn_tensor_t* tensor

MNN_GO_TEXT(mnn_tensor_name, (MNN_GO_TENSOR), tensor, &value)
MNN_GO_NUMBER(int32_t, mnn_tensor_type, (MNN_GO_TENSOR), tensor, &value)
MNN_GO_NUMBER(int32_t, mnn_tensor_format, (MNN_GO_TENSOR), tensor, &value)
MNN_GO_NUMBER(size_t, mnn_tensor_element_count, (MNN_GO_TENSOR), tensor, &value)
MNN_GO_NUMBER(size_t, mnn_tensor_byte_size, (MNN_GO_TENSOR, int32_t format), tensor, format, &value)
MNN_GO_CALL(mnn_tensor_write, (mnn_tensor_t * tensor, const uint8_t* data, size_t bytes, int32_t format),
            tensor, data, bytes, format)
MNN_GO_CALL(mnn_tensor_read, (MNN_GO_TENSOR, uint8_t* buffer, size_t bytes, int32_t format), tensor, buffer,
            bytes, format)

static inline mnn_go_shape go_mnn_tensor_shape(MNN_GO_TENSOR) {
    mnn_go_shape shape = {0};
    size_t rank = 0;
    shape.result = mnn_go_finish(mnn_tensor_shape(tensor, shape.dims, MNN_MAX_RANK, &rank));
    shape.result.number = rank;
    return shape;
}

#endif
