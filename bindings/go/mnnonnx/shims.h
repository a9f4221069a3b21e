/*
 * The functions that Go calls: those of shims_generated.h, and here those that need more than one call. As in the
 * package mnn, a function that can fail returns the error sentence with its status, because the library keeps it for
 * the thread only. Handles are numbers.
 */
#ifndef MNN_GO_ONNX_SHIMS_H
#define MNN_GO_ONNX_SHIMS_H

#include "shims_generated.h"

/* ---- Tokens ---- */

static inline mnn_go_result go_mnn_cancel_create(void) {
    mnn_cancel_t* token = NULL;
    const mnn_status status = mnn_cancel_create(&token);
    mnn_go_result result = mnn_go_finish_with(status, mnn_last_error());
    result.handle = (uintptr_t)token;
    return result;
}
static inline void go_mnn_cancel_trigger(uintptr_t token) {
    (void)mnn_cancel_trigger((mnn_cancel_t*)token);
}
static inline void go_mnn_cancel_destroy(uintptr_t token) {
    mnn_cancel_t* handle = (mnn_cancel_t*)token;
    (void)mnn_cancel_destroy(&handle);
}

/* ---- Conversions ---- */

/* Defined in progress.go. */
extern int32_t mnnOnnxProgress(uintptr_t watch, uint64_t done, uint64_t total);

static inline int32_t mnn_go_onnx_progress(void* watch, uint64_t done, uint64_t total) {
    return mnnOnnxProgress((uintptr_t)watch, done, total);
}

/* path: NULL where the model lies in memory. The options lie in memory of C. */
static inline mnn_go_result go_mnn_onnx_convert(const char* path, const uint8_t* data, size_t size,
                                                mnn_onnx_options_t* options, uintptr_t token, uintptr_t watch) {
    mnn_onnx_result_t* made = NULL;
    options->cancel = (mnn_cancel_t*)token;
    if (watch) {
        options->progress = mnn_go_onnx_progress;
        options->progress_user_data = (void*)watch;
    }
    const mnn_status status = path ? mnn_onnx_convert_file(path, options, &made)
                                   : mnn_onnx_convert_memory(data ? (const void*)data : "", size, options, &made);
    mnn_go_result result = mnn_go_finish(status);
    result.handle = (uintptr_t)made;
    return result;
}

#endif
