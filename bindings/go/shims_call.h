/* The result of a function that Go calls. */
#ifndef MNN_GO_SHIMS_CALL_H
#define MNN_GO_SHIMS_CALL_H

#include <mnn_c.h>
#include <stdlib.h>

typedef struct mnn_go_result {
    mnn_status status;
    char* sentence;   /* of a failure; Go frees it. NULL on MNN_OK, or when there is no memory for it */
    uint64_t number;  /* a count, a size, an enumerator or a bool */
    double real;      /* operations */
    const char* text; /* owned by the handle that was passed */
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

typedef struct mnn_go_shape {
    mnn_go_result result; /* number: the rank */
    int32_t dims[MNN_MAX_RANK];
} mnn_go_shape;

#endif
