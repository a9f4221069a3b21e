/* The models and the checks that the tests of libmnn_c_onnx share. */
#ifndef MNN_C_ONNX_CHECKS_H
#define MNN_C_ONNX_CHECKS_H

#include <mnn_c_onnx.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "small_model.h"

#define assert_ok(call) assert_int_equal((call), MNN_OK)

static inline void assert_fails(mnn_status status, mnn_status wanted, const char* word) {
    if (status != wanted || !strstr(mnn_onnx_last_error(), word))
        fail_msg("status %d for %d: %s", status, wanted, mnn_onnx_last_error());
}

static inline mnn_onnx_options_t defaults(void) {
    mnn_onnx_options_t options;
    assert_ok(mnn_onnx_options_init(&options, sizeof options));
    return options;
}

/* Computes the product of ones with the matrix of matrix_model. */
static inline void products(mnn_interpreter_t* net, float sums[32]) {
    mnn_session_t* session = NULL;
    mnn_tensor_t *in = NULL, *out = NULL;
    const int32_t dims[] = {1, 64};
    float ones[64];
    for (int i = 0; i < 64; i++) ones[i] = 1;
    mnn_schedule_config_t config;
    assert_ok(mnn_schedule_config_init(&config, sizeof config));
    config.defer_planning = 1;
    assert_ok(mnn_session_create(net, &config, &session));
    assert_ok(mnn_session_input(session, NULL, &in));
    assert_ok(mnn_session_resize_input(session, in, dims, 2));
    assert_ok(mnn_session_resize(session));
    assert_ok(mnn_session_output(session, NULL, &out));
    assert_ok(mnn_tensor_write(in, ones, sizeof ones, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_tensor_read(out, sums, 32 * sizeof(float), MNN_FORMAT_NCHW));
    mnn_session_destroy(&session);
}

/* An element of that matrix. */
static inline float element(int i) {
    return (float)((i * 37) % 101 - 50) / 64;
}

#endif
