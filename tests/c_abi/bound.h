/* A session over the demo model, to which tests of mnn_session_bind_input() and mnn_session_bind_output() bind memory.
 * */
#ifndef MNN_C_TESTS_BOUND_H
#define MNN_C_TESTS_BOUND_H

#include "digits_net.h"

static mnn_session_t* session;
static mnn_tensor_t *input, *output;
static float pixels[PIXELS], wanted[CLASSES];

static inline int open_one(void** state) {
    (void)state;
    fill_pixels(pixels, PIXELS, 21);
    reference_scores(21, wanted);
    session = open_session(net);
    input = first_input(session);
    output = first_output(session);
    return 0;
}
static inline int close_one(void** state) {
    (void)state;
    return mnn_session_destroy(&session) != MNN_OK;
}

static inline mnn_status bind_pixels(const void* data) {
    return mnn_session_bind_input(session, input, data, data ? sizeof pixels : 0, MNN_FORMAT_NCHW);
}
static inline mnn_status bind_scores(void* data, size_t bytes) {
    return mnn_session_bind_output(session, output, data, bytes, MNN_FORMAT_NCHW);
}

#endif
