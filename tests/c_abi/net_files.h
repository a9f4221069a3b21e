/* Models of the folder nets/, on each backend that this machine has, and exact values of their tensors. */
#ifndef MNN_C_TESTS_NET_FILES_H
#define MNN_C_TESTS_NET_FILES_H

#include "digits_net.h"

static const int32_t kBackends[] = {MNN_FORWARD_CPU, MNN_FORWARD_VULKAN};

static inline mnn_interpreter_t* open_net_of(const char* file) {
    char path[4096];
    mnn_interpreter_t* made = NULL;
    snprintf(path, sizeof path, MNN_C_NETS_FOLDER "/%s.mnn", file);
    assert_ok(mnn_interpreter_create_from_file(path, NULL, &made));
    return made;
}

/* Returns the backends of this machine: the CPU is the first. */
static inline size_t backend_count(void) {
    return has_device() ? 2 : 1;
}

static inline mnn_session_t* session_on(mnn_interpreter_t* of, int32_t backend) {
    mnn_schedule_config_t config = default_config();
    mnn_session_t* session = NULL;
    config.forward_type = backend;
    assert_ok(mnn_session_create(of, &config, &session));
    return session;
}

static inline void expect_values(const mnn_tensor_t* tensor, const float* wanted, size_t count, const char* what) {
    double got[16];
    assert_ok(mnn_tensor_read_as(tensor, got, count * sizeof *got, MNN_TYPE_DOUBLE, MNN_FORMAT_NCHW));
    for (size_t i = 0; i < count; ++i)
        if (got[i] != (double)wanted[i]) fail_msg("%s[%zu] is %g, wanted %g", what, i, got[i], (double)wanted[i]);
}

static inline void expect_constant(mnn_session_t* session, const char* name, const float* wanted, size_t count) {
    mnn_tensor_t* tensor = NULL;
    assert_ok(mnn_session_constant(session, name, &tensor));
    expect_values(tensor, wanted, count, name);
}

static inline void expect_output(mnn_session_t* session, const char* name, const float* wanted, size_t count) {
    mnn_tensor_t* tensor = NULL;
    assert_ok(mnn_session_output(session, name, &tensor));
    expect_values(tensor, wanted, count, name);
}

#endif
