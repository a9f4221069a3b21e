/* Sessions. */
#ifndef MNN_GO_SHIMS_SESSION_H
#define MNN_GO_SHIMS_SESSION_H

#include "shims_call.h"

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
            (mnn_go_session session, mnn_go_tensor tensor, const mnn_device_buffer_t* buffer),
            SESSION(session), TENSOR(tensor), buffer)
MNN_GO_CALL(mnn_session_bind_output_buffer,
            (mnn_go_session session, mnn_go_tensor tensor, const mnn_device_buffer_t* buffer),
            SESSION(session), TENSOR(tensor), buffer)
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

/* number: the size, also where the buffer is too small; of a text with the terminating zero. */
MNN_GO_NUMBER(size_t, mnn_session_cache, (mnn_go_session session, uint8_t* buffer, size_t capacity),
              SESSION(session), buffer, capacity, &value)
MNN_GO_NUMBER(size_t, mnn_session_report,
              (mnn_go_session session, const char* what, char* buffer, size_t capacity), SESSION(session),
              what, buffer, capacity, &value)

/* number: whether it is complete. */
static inline mnn_go_result go_mnn_session_flops(mnn_go_session session) {
    double flops = 0;
    bool complete = false;
    mnn_go_result result = mnn_go_finish(mnn_session_flops(SESSION(session), &flops, &complete));
    result.real = flops;
    result.number = complete;
    return result;
}

MNN_GO_STRUCT(mnn_go_memory, mnn_memory_info_t)
MNN_GO_FILL(mnn_go_memory, mnn_session_memory, (mnn_go_session session), SESSION(session), &filled.info)
MNN_GO_STRUCT(mnn_go_op, mnn_op_info_t)
MNN_GO_FILL(mnn_go_op, mnn_session_op_info, (mnn_go_session session, size_t index), SESSION(session), index,
            &filled.info)
MNN_GO_STRUCT(mnn_go_session_properties, mnn_session_properties_t)
MNN_GO_FILL(mnn_go_session_properties, mnn_session_info, (mnn_go_session session), SESSION(session),
            &filled.info)
MNN_GO_FILL(mnn_go_session_properties, mnn_session_path_info, (mnn_go_session session, size_t path),
            SESSION(session), path, &filled.info)
MNN_GO_STRUCT(mnn_go_statistics, mnn_statistics_t)
MNN_GO_FILL(mnn_go_statistics, mnn_session_statistics, (mnn_go_session session), SESSION(session), &filled.info)

#endif
