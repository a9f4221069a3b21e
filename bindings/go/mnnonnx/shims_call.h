/* The result of a function that Go calls, as in the package mnn. */
#ifndef MNN_GO_ONNX_SHIMS_CALL_H
#define MNN_GO_ONNX_SHIMS_CALL_H

#include <mnn_c_onnx.h>
#include <stdlib.h>
#include <string.h>

typedef struct mnn_go_result {
    mnn_status status;
    char* sentence; /* of a failure; Go frees it. NULL on MNN_OK, or when there is no memory for it */
    uintptr_t handle;
    const char* text; /* owned by the library */
} mnn_go_result;

static inline mnn_go_result mnn_go_finish_with(mnn_status status, const char* sentence) {
    mnn_go_result result = {status, NULL, 0, NULL};
    if (status != MNN_OK) {
        const size_t size = strlen(sentence) + 1;
        result.sentence = malloc(size);
        if (result.sentence) memcpy(result.sentence, sentence, size);
    }
    return result;
}

static inline mnn_go_result mnn_go_finish(mnn_status status) {
    return mnn_go_finish_with(status, mnn_onnx_last_error());
}

#endif
