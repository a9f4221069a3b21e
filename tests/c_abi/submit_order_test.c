/* The thread of submitted runs: their order, cancellation of waiting runs, use from many threads, the end of the
 * thread. */
#include "process.h"
#include "runtime.h"
#include "submitted.h"

static int others; /* threads: this one, and that of a sanitizer */

static void* nothing(void* data) {
    return data;
}

static int count_others(void** state) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, nothing, NULL) != 0 || pthread_join(thread, NULL) != 0) return -1;
    others = settled_thread_count(1);
    return open_net(state);
}

static void first_in_first_out(void** state) {
    (void)state;
    enum { SESSIONS = 5, THREADS = 2 };
    mnn_runtime_t* runtime = runtime_of(THREADS);
    mnn_session_t *first = session_with(net, runtime, 0), *sessions[SESSIONS];
    struct gate gate = CLOSED_GATE;
    struct end ends[SESSIONS];
    int counter = 0;
    assert_int_equal(thread_count(), others + THREADS - 1);
    assert_ok(submit_gated(first, &gate));
    await_gate(&gate);
    assert_int_equal(thread_count(), others + THREADS);
    for (int i = 0; i < SESSIONS; ++i) {
        sessions[i] = session_with(net, runtime, 1 + i % 2);
        ends[i] = (struct end){.session = sessions[i], .counter = &counter};
        write_pixels(sessions[i], (uint32_t)i);
        assert_ok(submit_noted(sessions[i], &ends[i]));
    }
    assert_int_equal(thread_count(), others + THREADS);
    for (int i = 0; i < SESSIONS; ++i) assert_fails(mnn_session_wait(sessions[i], 1000), MNN_ERROR_TIMEOUT);
    /* A separate session, and one of the runtime that is run here, continue meanwhile. */
    mnn_session_t *own = open_session(net), *here = session_with(net, runtime, 0);
    write_pixels(own, 7);
    write_pixels(here, 8);
    assert_ok(mnn_session_submit(own, NULL));
    assert_ok(mnn_session_wait(own, -1));
    check_scores(own, 7, 0);
    assert_ok(mnn_session_run(here));
    check_scores(here, 8, 0);
    assert_ok(mnn_session_destroy(&own));
    assert_ok(mnn_session_destroy(&here));

    open_gate(&gate);
    for (int i = SESSIONS; i-- > 0;) assert_ok(mnn_session_wait(sessions[i], -1));
    assert_ok(mnn_session_wait(first, -1));
    for (int i = 0; i < SESSIONS; ++i) {
        assert_int_equal(ends[i].calls, 1);
        assert_int_equal(ends[i].order, i + 1);
        assert_int_equal(ends[i].status, MNN_OK);
        assert_true(pthread_equal(ends[i].thread, ends[0].thread));
        assert_false(pthread_equal(ends[i].thread, pthread_self()));
        check_scores(sessions[i], (uint32_t)i, 0);
    }
    assert_ok(mnn_runtime_destroy(&runtime));
    assert_ok(mnn_session_destroy(&first));
    for (int i = 0; i < SESSIONS; ++i) {
        assert_int_equal(thread_count(), others + THREADS); /* the runtime is alive */
        assert_ok(mnn_session_destroy(&sessions[i]));
    }
    assert_int_equal(settled_thread_count(others), others);
}

static void cancelled_runs(void** state) {
    (void)state;
    mnn_runtime_t* runtime = runtime_of(1);
    mnn_session_t *first = session_with(net, runtime, 0), *queued = session_with(net, runtime, 0);
    struct gate gate = CLOSED_GATE;
    struct end end = {.session = queued};
    mnn_cancel_t *cancel = NULL, *next = NULL;
    assert_ok(mnn_cancel_create(&cancel));
    mnn_run_options_t options = default_run_options();
    options.cancel = cancel;
    options.before = stop_at_gate;
    options.user_data = &gate;
    assert_ok(mnn_session_submit(first, &options));
    await_gate(&gate);
    options.before = NULL;
    options.done = note_end;
    options.user_data = &end;
    assert_ok(mnn_session_submit(queued, &options));
    assert_ok(mnn_cancel_trigger(cancel));
    assert_ok(mnn_cancel_destroy(&cancel)); /* the runs keep it alive */
    assert_ok(mnn_cancel_create(&next));    /* it is not the same token */
    assert_fails(mnn_session_wait(queued, 0), MNN_ERROR_TIMEOUT);
    open_gate(&gate);
    assert_fails(mnn_session_wait(queued, -1), MNN_ERROR_CANCELLED);
    assert_fails(mnn_session_wait(first, -1), MNN_ERROR_CANCELLED);
    assert_int_equal(end.status, MNN_ERROR_CANCELLED);
    assert_string_equal(end.sentence, mnn_last_error());
    assert_int_equal(end.calls, 1);
    assert_ok(mnn_cancel_destroy(&next));
    for (int i = 0; i < 2; ++i) {
        mnn_session_t* session = i ? first : queued;
        write_pixels(session, 4);
        assert_ok(mnn_session_submit(session, NULL));
        assert_ok(mnn_session_wait(session, -1));
        check_scores(session, 4, 0);
        assert_ok(mnn_session_destroy(&session));
    }
    assert_ok(mnn_runtime_destroy(&runtime));
}

struct runner {
    mnn_session_t* session;
    const float* wanted;
    char wrong[256];
};

static void* submit_often(void* data) {
    struct runner* mine = data;
    mnn_tensor_t* output = NULL;
    mnn_status status = mnn_session_output(mine->session, NULL, &output);
    for (int i = 0; i < 100 && !mine->wrong[0]; ++i) {
        float got[CLASSES];
        if (status == MNN_OK) status = mnn_session_submit(mine->session, NULL);
        if (status == MNN_OK) do
                status = mnn_session_wait(mine->session, i % 3 ? -1 : 1000);
            while (status == MNN_ERROR_TIMEOUT);
        if (status == MNN_OK) status = mnn_tensor_read(output, got, sizeof got, MNN_FORMAT_NCHW);
        if (status != MNN_OK)
            snprintf(mine->wrong, sizeof mine->wrong, "%s: %s", mnn_status_name(status), mnn_last_error());
        else if (memcmp(got, mine->wanted, sizeof got) != 0)
            snprintf(mine->wrong, sizeof mine->wrong, "run %d gave other bits", i);
    }
    return NULL;
}

static void from_many_threads(void** state) {
    (void)state;
    enum { RUNNERS = 4 };
    float wanted[CLASSES];
    reference_scores(12, wanted);
    mnn_runtime_t* runtime = runtime_of(2);
    struct runner runners[RUNNERS];
    pthread_t threads[RUNNERS];
    for (int i = 0; i < RUNNERS; ++i) {
        runners[i] = (struct runner){.session = session_with(net, i < 3 ? runtime : NULL, 0), .wanted = wanted};
        write_pixels(runners[i].session, 12);
    }
    for (int i = 0; i < RUNNERS; ++i) assert_int_equal(pthread_create(&threads[i], NULL, submit_often, &runners[i]), 0);
    for (int i = 0; i < RUNNERS; ++i) assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < RUNNERS; ++i) {
        if (runners[i].wrong[0]) fail_msg("%s", runners[i].wrong);
        assert_ok(mnn_session_destroy(&runners[i].session));
    }
    assert_ok(mnn_runtime_destroy(&runtime));
}

/* The thread ends with the session, even directly after a run. */
static void threads_end(void** state) {
    (void)state;
    assert_int_equal(settled_thread_count(others), others);
    for (int i = 0; i < 50; ++i) {
        mnn_session_t* session = open_session(net);
        assert_ok(mnn_session_submit(session, NULL));
        assert_ok(mnn_session_wait(session, -1));
        assert_ok(mnn_session_destroy(&session));
    }
    assert_int_equal(settled_thread_count(others), others);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_in_first_out),
        cmocka_unit_test(cancelled_runs),
        cmocka_unit_test(from_many_threads),
        cmocka_unit_test(threads_end),
    };
    return cmocka_run_group_tests_name("submit_order", tests, count_others, close_net);
}
