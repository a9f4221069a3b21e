/* Code that tests of submitted runs share: runs that stop at a gate, callbacks that record the end of a run. */
#ifndef MNN_C_TESTS_SUBMITTED_H
#define MNN_C_TESTS_SUBMITTED_H

#include "support.h"

#include <pthread.h>

/* Holds a run at its first operator until it is opened. */
struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool reached, open;
};

#define CLOSED_GATE \
    { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, false }

static inline int32_t stop_at_gate(void* user_data, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors,
                                   size_t count) {
    (void)op, (void)tensors, (void)count;
    struct gate* gate = user_data;
    pthread_mutex_lock(&gate->mutex);
    gate->reached = true;
    pthread_cond_broadcast(&gate->changed);
    while (!gate->open) pthread_cond_wait(&gate->changed, &gate->mutex);
    pthread_mutex_unlock(&gate->mutex);
    return MNN_OP_RUN;
}

/* Returns when a run has reached the gate. */
static inline void await_gate(struct gate* gate) {
    pthread_mutex_lock(&gate->mutex);
    while (!gate->reached) pthread_cond_wait(&gate->changed, &gate->mutex);
    pthread_mutex_unlock(&gate->mutex);
}

static inline void open_gate(struct gate* gate) {
    pthread_mutex_lock(&gate->mutex);
    gate->open = true;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->mutex);
}

/* Records the end of a run. */
struct end {
    mnn_session_t* session;
    int calls; /* atomic, like the next */
    int order; /* 1 for the first of all */
    int* counter;
    mnn_status status;
    char sentence[256];
    pthread_t thread;
};

static inline void note_end(void* user_data, mnn_status status) {
    struct end* end = user_data;
    end->status = status;
    snprintf(end->sentence, sizeof end->sentence, "%s", mnn_last_error());
    end->thread = pthread_self();
    if (end->counter) end->order = __atomic_add_fetch(end->counter, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&end->calls, 1, __ATOMIC_RELEASE);
}

static inline void await_end(const struct end* end) {
    while (__atomic_load_n(&end->calls, __ATOMIC_ACQUIRE) == 0) sched_yield();
}

static inline mnn_run_options_t default_run_options(void) {
    mnn_run_options_t options;
    assert_ok(mnn_run_options_init(&options, sizeof options));
    return options;
}

static inline mnn_status submit_gated(mnn_session_t* session, struct gate* gate) {
    mnn_run_options_t options = default_run_options();
    options.before = stop_at_gate;
    options.user_data = gate;
    return mnn_session_submit(session, &options);
}

static inline mnn_status submit_noted(mnn_session_t* session, struct end* end) {
    mnn_run_options_t options = default_run_options();
    options.done = note_end;
    options.user_data = end;
    return mnn_session_submit(session, &options);
}

static inline void write_pixels(mnn_session_t* session, uint32_t seed) {
    float pixels[PIXELS];
    fill_pixels(pixels, PIXELS, seed);
    assert_ok(mnn_tensor_write(first_input(session), pixels, sizeof pixels, MNN_FORMAT_NCHW));
}

/* Checks that the outputs are those of the seed's image. */
static inline void check_scores(mnn_session_t* session, uint32_t seed, float tolerance) {
    float wanted[CLASSES], got[CLASSES];
    reference_scores(seed, wanted);
    assert_ok(mnn_tensor_read(first_output(session), got, sizeof got, MNN_FORMAT_NCHW));
    if (tolerance > 0)
        assert_close(got, wanted, CLASSES, tolerance);
    else
        assert_memory_equal(got, wanted, sizeof got);
}

#endif
