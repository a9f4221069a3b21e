/* Parts of the demo net, for tests of parts and paths. The net: image -> c1 (r1) -> c2 (r2) -> m -> ... -> scores. */
#ifndef MNN_C_TESTS_NET_PARTS_H
#define MNN_C_TESTS_NET_PARTS_H

#include "digits_net.h"

enum { POOLED = 32 * 4 * 4 };

static const char* const kM[] = {"m"};
static const char* const kR1[] = {"r1"};
static const char* const kConvolutions[] = {"c1", "c2"};

static inline mnn_schedule_config_t by_names(const char* const* inputs, size_t input_count, const char* const* outputs,
                                             size_t output_count) {
    mnn_schedule_config_t config = default_config();
    config.inputs = inputs;
    config.input_count = input_count;
    config.outputs = outputs;
    config.output_count = output_count;
    return config;
}

static inline mnn_schedule_config_t by_operators(const char* const* names, size_t count) {
    mnn_schedule_config_t config = default_config();
    config.operators = names;
    config.operator_count = count;
    return config;
}

/* Computes the pooling's result for `batch` images. */
static inline void pooled_of(const float* pixels, int32_t batch, float* pooled) {
    mnn_schedule_config_t config = by_names(NULL, 0, kM, 1);
    mnn_session_t* session = NULL;
    const int32_t dims[] = {batch, 1, 8, 8};
    assert_ok(mnn_session_create(net, &config, &session));
    assert_ok(mnn_session_resize_input(session, first_input(session), dims, 4));
    assert_ok(mnn_session_resize(session));
    assert_ok(mnn_tensor_write(first_input(session), pixels, (size_t)batch * PIXELS * sizeof(float), MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_tensor_read(first_output(session), pooled, (size_t)batch * POOLED * sizeof(float), MNN_FORMAT_NCHW));
    assert_ok(mnn_session_destroy(&session));
}

static inline void assert_input(mnn_session_t* session, size_t index, const char* name, int32_t used) {
    mnn_tensor_t* tensor = NULL;
    const char* found = NULL;
    mnn_tensor_properties_t info = {.struct_size = sizeof info};
    assert_ok(mnn_session_input_at(session, index, &tensor));
    assert_ok(mnn_tensor_name(tensor, &found));
    assert_string_equal(found, name);
    assert_ok(mnn_tensor_info(tensor, &info));
    assert_int_equal(info.used, used);
}

static inline void assert_output(const mnn_session_t* session, const char* name, const float* wanted, size_t count) {
    mnn_tensor_t* tensor = NULL;
    float* got = malloc(count * sizeof(float));
    assert_ok(mnn_session_output(session, name, &tensor));
    assert_ok(mnn_tensor_read(tensor, got, count * sizeof(float), MNN_FORMAT_NCHW));
    assert_memory_equal(got, wanted, count * sizeof(float));
    free(got);
}

#endif
