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
                                        int32_t log_level, const char* external_weight_path, uintptr_t log,
                                        mnn_go_cancel cancel) {
    mnn_interpreter_options_t options;
    mnn_status status = mnn_interpreter_options_init(&options, sizeof options);
    if (status != MNN_OK) return mnn_go_finish(status);
    options.load_mode = load_mode;
    options.log_level = log_level;
    options.external_weight_path = external_weight_path;
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

static int32_t call_go(void* user_data, bool after, const mnn_op_info_t* op,
                       const mnn_tensor_t* const* tensors, size_t tensor_count) {
    return mnnGoOp((uintptr_t)user_data, after, mnn_go_thread(), (mnn_op_info_t*)op,
                   (mnn_go_tensor*)tensors, tensor_count);
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
                                 bool after) {
    mnn_run_options_t options;
    mnn_status status = mnn_run_options_init(&options, sizeof options);
    if (status != MNN_OK) return mnn_go_finish(status);
    options.cancel = (mnn_cancel_t*)cancel;
    options.before = before ? before_op : NULL;
    options.after = after ? after_op : NULL;
    options.user_data = (void*)watcher;
    return mnn_go_finish(mnn_session_run_with_options((mnn_session_t*)session, &options));
}
