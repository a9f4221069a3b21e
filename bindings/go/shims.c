/* Callbacks: C functions that the library gets, which hand over to Go. */
#include "shims.h"

#include "_cgo_export.h"

static void on_message(void* user_data, int32_t level, const char* message) {
    mnnGoLogMessage((uintptr_t)user_data, level, (char*)message);
}

static void on_last_message(void* user_data) {
    mnnGoLogEnd((uintptr_t)user_data);
}

mnn_go_result mnn_go_interpreter_create(const char* path, const uint8_t* data, size_t size, int32_t load_mode,
                                        int32_t log_level, const char* external_weight_path, uintptr_t log) {
    mnn_interpreter_options_t options;
    mnn_status status = mnn_interpreter_options_init(&options, sizeof options);
    if (status != MNN_OK) return mnn_go_finish(status);
    options.load_mode = load_mode;
    options.log_level = log_level;
    options.external_weight_path = external_weight_path;
    if (log) {
        options.log_callback = on_message;
        options.log_user_data = (void*)log;
        options.log_finalizer = on_last_message;
    }
    mnn_interpreter_t* model = NULL;
    status = path ? mnn_interpreter_create_from_file(path, &options, &model)
                  : mnn_interpreter_create_from_memory(data, size, &options, &model);
    mnn_go_result result = mnn_go_finish(status);
    result.pointer = model;
    return result;
}

static int32_t call_go(void* user_data, bool after, const mnn_session_op_info_t* op,
                       const mnn_tensor_t* const* tensors, size_t tensor_count) {
    return mnnGoOp((uintptr_t)user_data, after, mnn_go_thread(), (mnn_session_op_info_t*)op,
                   (mnn_tensor_t**)tensors, tensor_count);
}

static int32_t before_op(void* user_data, const mnn_session_op_info_t* op, const mnn_tensor_t* const* tensors,
                         size_t tensor_count) {
    return call_go(user_data, false, op, tensors, tensor_count);
}

static int32_t after_op(void* user_data, const mnn_session_op_info_t* op, const mnn_tensor_t* const* tensors,
                        size_t tensor_count) {
    return call_go(user_data, true, op, tensors, tensor_count);
}

mnn_go_result mnn_go_session_run_with_callbacks(mnn_session_t* session, uintptr_t run, bool before,
                                                bool after) {
    return mnn_go_finish(mnn_session_run_with_callbacks(session, before ? before_op : NULL,
                                                        after ? after_op : NULL, (void*)run));
}
