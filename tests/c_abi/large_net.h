/* A model whose weights stay in its file, and the results of its sessions. */
#ifndef MNN_C_TESTS_LARGE_NET_H
#define MNN_C_TESTS_LARGE_NET_H

#include "digits_net.h"

/* Convolutions with more than 8 KiB of weights each. */
#define LARGE MNN_C_CASES_FOLDER "/convolution__3x3_wide/model.mnn"
enum { MAX_ELEMENTS = 1 << 18 };

struct run {
    float values[MAX_ELEMENTS];
    size_t count;
};

static inline void work(mnn_session_t* session, struct run* result) {
    static float x[MAX_ELEMENTS];
    size_t count = 0;
    assert_ok(mnn_tensor_element_count(first_input(session), &count));
    assert_true(count > 0 && count <= MAX_ELEMENTS);
    for (size_t i = 0; i < count; ++i) x[i] = (float)(i % 13) * 0.125f - 0.5f;
    assert_ok(mnn_tensor_write(first_input(session), x, count * sizeof *x, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_tensor_element_count(first_output(session), &result->count));
    assert_true(result->count > 0 && result->count <= MAX_ELEMENTS);
    assert_ok(mnn_tensor_read(first_output(session), result->values, result->count * sizeof(float), MNN_FORMAT_NCHW));
}

static inline void assert_same(mnn_session_t* session, const struct run* wanted) {
    static struct run got;
    work(session, &got);
    assert_int_equal(got.count, wanted->count);
    assert_memory_equal(got.values, wanted->values, wanted->count * sizeof(float));
}

#endif
