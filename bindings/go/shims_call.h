/* How the functions that Go calls are made: handles, results, and macros for the forms that most calls have. */
#ifndef MNN_GO_SHIMS_CALL_H
#define MNN_GO_SHIMS_CALL_H

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

/* A struct that knows its size, with the result of the call that fills it. */
#define MNN_GO_STRUCT(NAME, TYPE) \
    typedef struct NAME {         \
        mnn_go_result result;     \
        TYPE info;                \
    } NAME;
/* Each defines go_FUNCTION, which gives such a struct; `filled.info` is what it fills. */
#define MNN_GO_FILL(NAME, FUNCTION, PARAMETERS, ...)            \
    static inline NAME go_##FUNCTION PARAMETERS {               \
        NAME filled = {.info.struct_size = sizeof filled.info}; \
        filled.result = mnn_go_finish(FUNCTION(__VA_ARGS__));   \
        return filled;                                          \
    }

typedef struct mnn_go_shape {
    mnn_go_result result; /* number: the rank */
    int32_t dims[MNN_MAX_RANK];
} mnn_go_shape;

#endif
