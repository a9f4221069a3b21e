/* The demo model, opened for a group of tests and closed after it. */
#ifndef MNN_C_TESTS_DIGITS_NET_H
#define MNN_C_TESTS_DIGITS_NET_H

#include "support.h"

static mnn_interpreter_t* net;

static inline int open_net(void** state) {
    (void)state;
    net = NULL;
    return mnn_interpreter_create_from_file(MNN_C_DIGITS_MODEL, NULL, &net) == MNN_OK ? 0 : -1;
}

static inline int close_net(void** state) {
    (void)state;
    return mnn_interpreter_destroy(&net) == MNN_OK ? 0 : -1;
}

#endif
