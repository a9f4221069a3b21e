/*
 * The functions that Go calls. As in the package mnn each makes one call and takes the sentence of a failure along. Handles
 * are numbers for Go: they are no addresses.
 */
#ifndef MNN_GO_ONNX_SHIMS_H
#define MNN_GO_ONNX_SHIMS_H

#include <mnn_c_onnx.h>
#include <stdlib.h>
#include <string.h>

typedef struct mnn_go_result {
    mnn_status status;
    char* sentence; /* of a failure; Go frees it. NULL on MNN_OK, or when there is no memory for it */
    uintptr_t handle;
    const void* data; /* bytes or a text of the library */
    size_t size;
} mnn_go_result;

static inline mnn_go_result mnn_go_finish(mnn_status status, const char* sentence) {
    mnn_go_result result = {status, NULL, 0, NULL, 0};
    if (status != MNN_OK) {
        const size_t size = strlen(sentence) + 1;
        result.sentence = malloc(size);
        if (result.sentence) memcpy(result.sentence, sentence, size);
    }
    return result;
}

static inline mnn_go_result mnn_go_onnx_finish(mnn_status status) {
    return mnn_go_finish(status, mnn_onnx_last_error());
}

static inline mnn_onnx_result_t* mnn_go_onnx_handle(uintptr_t handle) {
    return (mnn_onnx_result_t*)handle;
}

/* ---- Tokens ---- */

static inline mnn_go_result go_mnn_cancel_create(void) {
    mnn_cancel_t* token = NULL;
    const mnn_status status = mnn_cancel_create(&token);
    mnn_go_result result = mnn_go_finish(status, mnn_last_error());
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

/* In progress.go. */
extern int32_t mnnOnnxProgress(uintptr_t watch, uint64_t done, uint64_t total);

static inline int32_t mnn_go_onnx_progress(void* watch, uint64_t done, uint64_t total) {
    return mnnOnnxProgress((uintptr_t)watch, done, total);
}

static inline mnn_go_result go_mnn_onnx_options_init(mnn_onnx_options_t* options) {
    return mnn_go_onnx_finish(mnn_onnx_options_init(options, sizeof *options));
}

/* path: NULL, and the model lies in memory. The options lie in memory of C. */
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
    mnn_go_result result = mnn_go_onnx_finish(status);
    result.handle = (uintptr_t)made;
    return result;
}

static inline mnn_go_result go_mnn_onnx_result_destroy(uintptr_t handle) {
    mnn_onnx_result_t* result = mnn_go_onnx_handle(handle);
    return mnn_go_onnx_finish(mnn_onnx_result_destroy(&result));
}
static inline mnn_go_result go_mnn_onnx_result_report(uintptr_t handle, mnn_onnx_report_t* report) {
    report->struct_size = sizeof *report;
    return mnn_go_onnx_finish(mnn_onnx_result_report(mnn_go_onnx_handle(handle), report));
}
static inline mnn_go_result go_mnn_onnx_result_problem(uintptr_t handle, size_t index, mnn_onnx_problem_t* problem) {
    problem->struct_size = sizeof *problem;
    return mnn_go_onnx_finish(mnn_onnx_result_problem(mnn_go_onnx_handle(handle), index, problem));
}
static inline mnn_go_result go_mnn_onnx_result_note(uintptr_t handle, size_t index) {
    const char* note = NULL;
    mnn_go_result result = mnn_go_onnx_finish(mnn_onnx_result_note(mnn_go_onnx_handle(handle), index, &note));
    result.data = note;
    return result;
}
static inline mnn_go_result go_mnn_onnx_result_data(uintptr_t handle) {
    const void* data = NULL;
    size_t size = 0;
    mnn_go_result result = mnn_go_onnx_finish(mnn_onnx_result_data(mnn_go_onnx_handle(handle), &data, &size));
    result.data = data;
    result.size = size;
    return result;
}
static inline mnn_go_result go_mnn_onnx_result_weights(uintptr_t handle) {
    const void* data = NULL;
    size_t size = 0;
    mnn_go_result result = mnn_go_onnx_finish(mnn_onnx_result_weights(mnn_go_onnx_handle(handle), &data, &size));
    result.data = data;
    result.size = size;
    return result;
}
static inline mnn_go_result go_mnn_onnx_result_save(uintptr_t handle, const char* path) {
    return mnn_go_onnx_finish(mnn_onnx_result_save(mnn_go_onnx_handle(handle), path));
}

#endif
