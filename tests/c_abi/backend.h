/* Code that tests of backends of the host share: a backend that pools, and counts its calls. */
#ifndef MNN_C_TESTS_BACKEND_H
#define MNN_C_TESTS_BACKEND_H

#include "runtime.h"

#include <float.h>
#include <pthread.h>

/* The record of a backend that computes poolings, and refuses everything else. */
struct host {
    mnn_status at_supports, at_prepare, at_compute; /* what its callbacks return for the pooling */
    mnn_session_t* session;                         /* the session that a callback uses; NULL: none */
    mnn_status called;                              /* the status that the callback got */
    int asked, prepared, computed, released, finalized;
    pthread_mutex_t mutex;
};

static inline void count(struct host* host, int* counter) {
    pthread_mutex_lock(&host->mutex);
    ++*counter;
    pthread_mutex_unlock(&host->mutex);
}

static inline bool is_pooling(const mnn_operator_call_t* call) {
    return strcmp(call->node->type_name, "Pooling") == 0;
}

static inline mnn_status supports(void* user_data, mnn_operator_call_t* call) {
    struct host* host = user_data;
    count(host, &host->asked);
    if (is_pooling(call)) {
        snprintf(call->message, call->message_size, "what supports says");
        return host->at_supports;
    }
    snprintf(call->message, call->message_size, "%s is for others", call->node->type_name);
    return MNN_ERROR_NOT_SUPPORTED;
}

static inline mnn_status prepare(void* user_data, mnn_operator_call_t* call) {
    struct host* host = user_data;
    if (!is_pooling(call)) return MNN_ERROR_INTERNAL;
    if (call->weights || call->weight_count) return MNN_ERROR_INTERNAL;
    snprintf(call->message, call->message_size, "what prepare says");
    if (host->at_prepare != MNN_OK) return host->at_prepare;
    count(host, &host->prepared);
    call->state = malloc(1);
    return call->state ? MNN_OK : MNN_ERROR_OUT_OF_MEMORY;
}

/* Computes the largest of 2x2, and the same number in each run for a test that expects it. */
static inline mnn_status compute(void* user_data, mnn_operator_call_t* call) {
    struct host* host = user_data;
    const int32_t* in = call->inputs[0]->dims;
    const float* x = call->inputs[0]->data;
    float* y = call->outputs[0]->data;
    count(host, &host->computed);
    if (!call->state || call->inputs[0]->data == call->outputs[0]->data) return MNN_ERROR_INTERNAL;
    if (host->session) host->called = mnn_session_run(host->session);
    snprintf(call->message, call->message_size, "what compute says");
    if (host->at_compute != MNN_OK) return host->at_compute;
    for (int32_t map = 0; map < in[0] * in[1]; ++map, x += in[2] * in[3])
        for (int32_t v = 0; v < in[2]; v += 2)
            for (int32_t u = 0; u < in[3]; u += 2) {
                *y = -FLT_MAX;
                for (int32_t i = 0; i < 4; ++i) {
                    const float value = x[(v + i / 2) * in[3] + u + i % 2];
                    if (value > *y) *y = value;
                }
                ++y;
            }
    return MNN_OK;
}

static inline void release(void* user_data, void* state) {
    struct host* host = user_data;
    count(host, &host->released);
    free(state);
}

static inline void finalize(void* user_data) {
    struct host* host = user_data;
    ++host->finalized;
}

static inline mnn_backend_t backend_of(struct host* host) {
    mnn_backend_t backend;
    assert_ok(mnn_backend_init(&backend, sizeof backend));
    backend.name = "own";
    backend.supports = supports;
    backend.prepare = prepare;
    backend.compute = compute;
    backend.release = release;
    backend.user_data = host;
    backend.finalizer = finalize;
    return backend;
}

static inline void init_host(struct host* host) {
    memset(host, 0, sizeof *host);
    assert_int_equal(pthread_mutex_init(&host->mutex, NULL), 0);
}

static inline int32_t add(mnn_runtime_t* runtime, struct host* host) {
    const mnn_backend_t backend = backend_of(host);
    int32_t type = 0;
    assert_ok(mnn_runtime_add_backend(runtime, &backend, &type));
    assert_true(type >= MNN_FORWARD_USER);
    return type;
}

static inline mnn_schedule_config_t config_of(mnn_runtime_t* runtime, int32_t type) {
    mnn_schedule_config_t config = default_config();
    config.runtime = runtime;
    config.forward_type = type;
    return config;
}

static inline mnn_session_t* session_on(mnn_runtime_t* runtime, int32_t type) {
    const mnn_schedule_config_t config = config_of(runtime, type);
    mnn_session_t* session = NULL;
    assert_ok(mnn_session_create(net, &config, &session));
    return session;
}

static inline void check_scores(mnn_session_t* session, uint32_t seed) {
    float pixels[PIXELS], wanted[CLASSES], got[CLASSES];
    reference_scores(seed, wanted);
    fill_pixels(pixels, PIXELS, seed);
    classify(session, pixels, 1, got);
    assert_close(got, wanted, CLASSES, 1e-4f);
}

#endif
