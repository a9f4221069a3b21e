/* The demo model, opened for a group of tests and closed after it, and code that tests of its sessions share. */
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

static inline mnn_schedule_config_t default_config(void) {
    mnn_schedule_config_t config;
    assert_ok(mnn_schedule_config_init(&config, sizeof config));
    return config;
}

/* Opens the model of a conformance case. */
static inline mnn_interpreter_t* open_case(const char* name) {
    char path[4096];
    mnn_interpreter_t* made = NULL;
    snprintf(path, sizeof path, MNN_C_CASES_FOLDER "/%s/model.mnn", name);
    assert_ok(mnn_interpreter_create_from_file(path, NULL, &made));
    return made;
}

/* The digits model whose input leaves dimension `axis` open; the caller frees it. */
static inline unsigned char* open_model(int axis, size_t* size) {
    unsigned char* bytes = read_whole_file(MNN_C_DIGITS_MODEL, size);
    assert_non_null(bytes);
    const int32_t dims[] = {4, 1, 1, 8, 8}; /* the vector in the file: its length, then the extents */
    const int32_t open = -1;
    size_t found = 0;
    for (size_t at = 0; at + sizeof dims <= *size; at += 4)
        if (memcmp(bytes + at, dims, sizeof dims) == 0) {
            memcpy(bytes + at + 4 * (size_t)(axis + 1), &open, sizeof open);
            ++found;
        }
    assert_int_equal(found, 1);
    return bytes;
}

static inline void assert_refused(const mnn_schedule_config_t* config, mnn_status wanted) {
    mnn_session_t* session = UNTOUCHED_POINTER;
    assert_fails(mnn_session_create(net, config, &session), wanted);
    assert_ptr_equal(session, UNTOUCHED_POINTER);
}

/* Returns a session whose input has that many images. */
static inline mnn_session_t* batch_session(int32_t batch) {
    mnn_session_t* session = open_session(net);
    const int32_t dims[] = {batch, 1, 8, 8};
    assert_ok(mnn_session_resize_input(session, first_input(session), dims, 4));
    assert_ok(mnn_session_resize(session));
    return session;
}

#endif
