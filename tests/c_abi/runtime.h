/* Code that tests of runtimes share: configurations, sessions of a runtime, finalizers that count. */
#ifndef MNN_C_TESTS_RUNTIME_H
#define MNN_C_TESTS_RUNTIME_H

#include "digits_net.h"

enum { BATCH = 48 };

static inline mnn_runtime_config_t default_runtime_config(void) {
    mnn_runtime_config_t config;
    assert_ok(mnn_runtime_config_init(&config, sizeof config));
    return config;
}

static inline mnn_runtime_t* make_runtime(const mnn_runtime_config_t* config) {
    mnn_runtime_t* runtime = NULL;
    assert_ok(mnn_runtime_create(config, &runtime));
    assert_non_null(runtime);
    return runtime;
}

static inline mnn_runtime_t* runtime_of(int32_t threads) {
    mnn_runtime_config_t config = default_runtime_config();
    config.threads = threads;
    return make_runtime(&config);
}

static inline mnn_status create_with(mnn_interpreter_t* from, mnn_runtime_t* runtime, int32_t threads,
                                     mnn_session_t** session) {
    mnn_schedule_config_t config;
    const mnn_status status = mnn_schedule_config_init(&config, sizeof config);
    if (status != MNN_OK) return status;
    config.runtime = runtime;
    config.threads = threads;
    return mnn_session_create(from, &config, session);
}

static inline mnn_session_t* session_with(mnn_interpreter_t* from, mnn_runtime_t* runtime, int32_t threads) {
    mnn_session_t* session = NULL;
    assert_ok(create_with(from, runtime, threads, &session));
    return session;
}

static inline mnn_status resize_batch(mnn_session_t* session, int32_t batch) {
    const int32_t dims[] = {batch, 1, 8, 8};
    const mnn_status status = mnn_session_resize_input(session, first_input(session), dims, 4);
    return status == MNN_OK ? mnn_session_resize(session) : status;
}

/* Returns the scores of BATCH seeded images, computed by a separate session with one thread. */
static inline void batch_scores(uint32_t seed, float* scores) {
    static float pixels[BATCH * PIXELS];
    fill_pixels(pixels, BATCH * PIXELS, seed);
    mnn_session_t* session = batch_session(BATCH);
    classify(session, pixels, BATCH, scores);
    assert_ok(mnn_session_destroy(&session));
}

/* Checks that a session for BATCH images gives these bits. */
static inline void check_batch(mnn_session_t* session, uint32_t seed, const float* wanted) {
    static float pixels[BATCH * PIXELS], got[BATCH * CLASSES];
    fill_pixels(pixels, BATCH * PIXELS, seed);
    classify(session, pixels, BATCH, got);
    assert_memory_equal(got, wanted, sizeof got);
}

static inline void count_up(void* user_data) {
    ++*(int*)user_data;
}

#endif
