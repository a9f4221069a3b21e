/* Sessions over the demo model on a Vulkan device, whose inputs and outputs are buffers. */
#ifndef MNN_C_TESTS_DEVICE_NET_H
#define MNN_C_TESTS_DEVICE_NET_H

#include "host_buffer.h"
#include "runtime.h"

enum { IMAGE = PIXELS * 4, SCORES = CLASSES * 4 };

static inline mnn_session_t* device_session(mnn_interpreter_t* model, mnn_runtime_t* runtime) {
    mnn_schedule_config_t config = default_config();
    config.forward_type = MNN_FORWARD_VULKAN;
    config.runtime = runtime;
    mnn_session_t* session = NULL;
    assert_ok(mnn_session_create(model, &config, &session));
    return session;
}

static inline mnn_status bind_in(mnn_session_t* session, const mnn_device_buffer_t* part) {
    return mnn_session_bind_input_buffer(session, first_input(session), part);
}
static inline mnn_status bind_out(mnn_session_t* session, const mnn_device_buffer_t* part) {
    return mnn_session_bind_output_buffer(session, first_output(session), part);
}

static inline void expect_scores(const void* memory, uint32_t seed) {
    float wanted[CLASSES], got[CLASSES];
    reference_scores(seed, wanted);
    memcpy(got, memory, sizeof got);
    assert_close(got, wanted, CLASSES, 1e-4f);
}

#endif
