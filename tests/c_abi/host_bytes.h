/* A model whose weights are external, the bytes of both in memory, and options that count the library's calls. */
#ifndef MNN_C_TESTS_HOST_BYTES_H
#define MNN_C_TESTS_HOST_BYTES_H

#include <pthread.h>

#include "support.h"

#define MODEL_PATH MNN_C_CASES_FOLDER "/weights__external/model.mnn"

enum { MAX_ELEMENTS = 4096 };

static unsigned char *model, *weights;
static size_t model_size, weights_size;
static float wanted[MAX_ELEMENTS];
static size_t wanted_count;

static inline int load_all(void** state) {
    (void)state;
    model = read_whole_file(MODEL_PATH, &model_size);
    weights = read_whole_file(MODEL_PATH ".weight", &weights_size);
    return model && weights ? 0 : -1;
}

static inline int free_all(void** state) {
    (void)state;
    free(model);
    free(weights);
    return 0;
}

/* The bytes that are given to the library, and counts of its calls. */
struct given {
    int bytes_freed, weights_freed;
    pthread_t bytes_thread;
    int reads;
    mnn_status answer; /* of the reader */
    int refuse_after;  /* the number of reads that succeed */
};

static inline void free_bytes(void* user_data) {
    struct given* given = user_data;
    ++given->bytes_freed;
    given->bytes_thread = pthread_self();
}

static inline void free_weights(void* user_data) {
    ++((struct given*)user_data)->weights_freed;
}

static inline mnn_status read_weights(void* user_data, uint64_t offset, void* destination, size_t bytes) {
    struct given* given = user_data;
    if (offset > weights_size || bytes > weights_size - offset || bytes == 0) abort();
    if (given->reads++ >= given->refuse_after) return given->answer;
    memcpy(destination, weights + offset, bytes);
    return MNN_OK;
}

static inline mnn_interpreter_options_t options_of(void) {
    mnn_interpreter_options_t options;
    assert_ok(mnn_interpreter_options_init(&options, sizeof options));
    return options;
}

static inline mnn_interpreter_options_t borrowing(struct given* given) {
    mnn_interpreter_options_t options = options_of();
    options.load_mode = MNN_LOAD_BORROW;
    options.bytes_finalizer = free_bytes;
    options.bytes_user_data = given;
    return options;
}

static inline mnn_interpreter_options_t reading(struct given* given) {
    mnn_interpreter_options_t options = options_of();
    given->refuse_after = INT32_MAX;
    options.external_weight_reader = read_weights;
    options.external_weight_size = weights_size;
    options.external_weight_user_data = given;
    options.external_weight_finalizer = free_weights;
    return options;
}

/* Returns the first output for an input of small numbers. */
static inline size_t results(mnn_session_t* session, float* values) {
    float x[MAX_ELEMENTS];
    size_t count = 0;
    assert_ok(mnn_tensor_element_count(first_input(session), &count));
    assert_true(count > 0 && count <= MAX_ELEMENTS);
    for (size_t i = 0; i < count; ++i) x[i] = (float)(i % 7) * 0.25f - 0.5f;
    assert_ok(mnn_tensor_write(first_input(session), x, count * sizeof *x, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_tensor_element_count(first_output(session), &count));
    assert_true(count > 0 && count <= MAX_ELEMENTS);
    assert_ok(mnn_tensor_read(first_output(session), values, count * sizeof *values, MNN_FORMAT_NCHW));
    return count;
}

static inline void assert_works(mnn_session_t* session) {
    float got[MAX_ELEMENTS];
    if (wanted_count == 0) {
        mnn_interpreter_t* net = NULL;
        assert_ok(mnn_interpreter_create_from_file(MODEL_PATH, NULL, &net));
        mnn_session_t* reference = open_session(net);
        wanted_count = results(reference, wanted);
        assert_ok(mnn_session_destroy(&reference));
        assert_ok(mnn_interpreter_destroy(&net));
    }
    assert_int_equal(results(session, got), wanted_count);
    assert_memory_equal(got, wanted, wanted_count * sizeof *got);
}

#endif
