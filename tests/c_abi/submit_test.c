/* Submitted runs on the CPU: results, order, timeouts, cancellation, callbacks, refusals, threads. */
#include "process.h"
#include "runtime.h"
#include "submitted.h"

static void gives_what_a_run_gives(void** state) {
    (void)state;
    for (int32_t threads = 1; threads <= 3; threads += 2) {
        mnn_session_t* session = session_with(net, NULL, threads);
        for (uint32_t seed = 0; seed < 4; ++seed) {
            write_pixels(session, seed);
            assert_ok(mnn_session_submit(session, NULL));
            assert_ok(mnn_session_wait(session, -1));
            check_scores(session, seed, 0);
        }
        mnn_statistics_t statistics = {.struct_size = sizeof statistics};
        assert_ok(mnn_session_statistics(session, &statistics));
        assert_int_equal(statistics.runs, 4);
        assert_int_equal(statistics.failed_runs, 0);
        assert_ok(mnn_session_destroy(&session));
    }
}

static void into_bound_memory(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    float pixels[PIXELS], wanted[CLASSES], got[CLASSES] = {0};
    fill_pixels(pixels, PIXELS, 5);
    reference_scores(5, wanted);
    assert_ok(mnn_session_bind_input(session, first_input(session), pixels, sizeof pixels, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_bind_output(session, first_output(session), got, sizeof got, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_submit(session, NULL));
    assert_ok(mnn_session_wait(session, -1));
    assert_memory_equal(got, wanted, sizeof got);
    assert_ok(mnn_session_destroy(&session));
}

static void busy_until_waited_for(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    struct end end = {.session = session};
    write_pixels(session, 1);
    assert_ok(submit_noted(session, &end));
    await_end(&end);
    mnn_session_t* copy = session;
    assert_fails(mnn_session_run(session), MNN_ERROR_BUSY);
    assert_non_null(strstr(mnn_last_error(), "mnn_session_run is not possible now"));
    assert_non_null(strstr(mnn_last_error(), "the run that mnn_session_submit began has to be waited for"));
    assert_fails(mnn_session_submit(session, NULL), MNN_ERROR_BUSY);
    assert_fails(mnn_session_destroy(&copy), MNN_ERROR_BUSY);
    assert_ptr_equal(copy, session);
    assert_ok(mnn_session_wait(session, 60000000000));
    assert_int_equal(end.status, MNN_OK);
    check_scores(session, 1, 0);
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_session_destroy(&session));
    assert_fails(mnn_session_wait(copy, -1), MNN_ERROR_BAD_HANDLE);
    assert_fails(mnn_session_submit(copy, NULL), MNN_ERROR_BAD_HANDLE);
}

static void one_wait_for_one_submit(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    assert_fails(mnn_session_wait(session, -1), MNN_ERROR_BAD_STATE);
    assert_non_null(strstr(mnn_last_error(), "mnn_session_submit"));
    assert_ok(mnn_session_run(session));
    assert_fails(mnn_session_wait(session, 0), MNN_ERROR_BAD_STATE);
    assert_ok(mnn_session_submit(session, NULL));
    assert_ok(mnn_session_wait(session, -1));
    assert_fails(mnn_session_wait(session, -1), MNN_ERROR_BAD_STATE);
    assert_fails(mnn_session_wait(NULL, -1), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_session_submit(NULL, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_ok(mnn_session_destroy(&session));
}

/* Another thread may look at the run in the moment of this call. */
static void* wait_for_it(void* data) {
    mnn_status status;
    do status = mnn_session_wait(data, -1);
    while (status == MNN_ERROR_BUSY);
    return (void*)(intptr_t)status;
}

static void waits_end_in_time(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    struct gate gate = CLOSED_GATE;
    write_pixels(session, 2);
    assert_ok(submit_gated(session, &gate));
    await_gate(&gate);
    const int64_t times[] = {0, 1, 1000000};
    for (size_t i = 0; i < 3; ++i) {
        assert_fails(mnn_session_wait(session, times[i]), MNN_ERROR_TIMEOUT);
        assert_fails(mnn_session_run(session), MNN_ERROR_BUSY);
    }
    /* One thread waits at a time. */
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, wait_for_it, session), 0);
    mnn_status status;
    do status = mnn_session_wait(session, 0);
    while (status == MNN_ERROR_TIMEOUT);
    assert_int_equal(status, MNN_ERROR_BUSY);
    assert_non_null(strstr(mnn_last_error(), "mnn_session_wait"));
    open_gate(&gate);
    void* got = NULL;
    assert_int_equal(pthread_join(thread, &got), 0);
    assert_int_equal((mnn_status)(intptr_t)got, MNN_OK);
    check_scores(session, 2, 0);
    /* A wait that is longer than any clock. */
    assert_ok(mnn_session_submit(session, NULL));
    assert_ok(mnn_session_wait(session, INT64_MAX));
    assert_ok(mnn_session_submit(session, NULL));
    assert_ok(mnn_session_wait(session, INT64_MIN));
    assert_ok(mnn_session_destroy(&session));
}

static void first_in_first_out(void** state) {
    (void)state;
    enum { SESSIONS = 5, THREADS = 2 };
    assert_int_equal(settled_thread_count(1), 1);
    mnn_runtime_t* runtime = runtime_of(THREADS);
    mnn_session_t *first = session_with(net, runtime, 0), *sessions[SESSIONS];
    struct gate gate = CLOSED_GATE;
    struct end ends[SESSIONS];
    int counter = 0;
    assert_int_equal(thread_count(), THREADS);
    assert_ok(submit_gated(first, &gate));
    await_gate(&gate);
    assert_int_equal(thread_count(), THREADS + 1);
    for (int i = 0; i < SESSIONS; ++i) {
        sessions[i] = session_with(net, runtime, 1 + i % 2);
        ends[i] = (struct end){.session = sessions[i], .counter = &counter};
        write_pixels(sessions[i], (uint32_t)i);
        assert_ok(submit_noted(sessions[i], &ends[i]));
    }
    assert_int_equal(thread_count(), THREADS + 1);
    for (int i = 0; i < SESSIONS; ++i) assert_fails(mnn_session_wait(sessions[i], 1000), MNN_ERROR_TIMEOUT);
    /* A session of its own, and one of the runtime that is run here, go on meanwhile. */
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
        assert_int_equal(settled_thread_count(THREADS + 1), THREADS + 1); /* the runtime lives */
        assert_ok(mnn_session_destroy(&sessions[i]));
    }
    assert_int_equal(settled_thread_count(1), 1);
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
    assert_ok(mnn_cancel_destroy(&cancel)); /* the runs hold it */
    assert_ok(mnn_cancel_create(&next));    /* and it is not that one */
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

static int32_t stop_run(void* user_data, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors,
                        size_t count) {
    (void)user_data, (void)op, (void)tensors, (void)count;
    return MNN_OP_STOP;
}

/* The sentence of a run is that of the thread which waits for it. */
static void failures_arrive(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    struct end end = {.session = session};
    mnn_run_options_t options = default_run_options();
    options.after = stop_run;
    options.done = note_end;
    options.user_data = &end;
    char first[256], again[256];
    assert_fails(mnn_session_run_with_options(session, &options), MNN_ERROR_CALLBACK_STOP);
    copy_last_error(first, sizeof first);
    assert_non_null(strstr(first, "stopped the run"));
    assert_int_equal(end.calls, 1);
    end.calls = 0;
    assert_ok(mnn_session_submit(session, &options));
    assert_fails(mnn_session_run(session), MNN_ERROR_BUSY); /* another sentence */
    assert_fails(mnn_session_wait(session, -1), MNN_ERROR_CALLBACK_STOP);
    copy_last_error(again, sizeof again);
    assert_string_equal(first, again);
    assert_string_equal(end.sentence, again);
    assert_int_equal(end.status, MNN_ERROR_CALLBACK_STOP);
    mnn_statistics_t statistics = {.struct_size = sizeof statistics};
    assert_ok(mnn_session_statistics(session, &statistics));
    assert_int_equal(statistics.failed_runs, 2);
    assert_ok(mnn_session_destroy(&session));
}

/* In the callback the outputs are there, and the session is not to be changed. */
struct at_end {
    mnn_session_t* session;
    mnn_tensor_t* output;
    float scores[CLASSES];
    mnn_status read, wait, run, submit, destroy;
    pthread_t thread;
    int calls;
};

static void look_around(void* user_data, mnn_status status) {
    (void)status;
    struct at_end* mine = user_data;
    mnn_session_t* copy = mine->session;
    mine->read = mnn_tensor_read(mine->output, mine->scores, sizeof mine->scores, MNN_FORMAT_NCHW);
    mine->wait = mnn_session_wait(mine->session, -1);
    mine->run = mnn_session_run(mine->session);
    mine->submit = mnn_session_submit(mine->session, NULL);
    mine->destroy = mnn_session_destroy(&copy);
    mine->thread = pthread_self();
    ++mine->calls;
}

static void at_the_end_of_a_run(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    float wanted[CLASSES];
    for (uint32_t seed = 0; seed < 2; ++seed) {
        struct at_end mine = {.session = session, .output = first_output(session)};
        mnn_run_options_t options = default_run_options();
        options.done = look_around;
        options.user_data = &mine;
        reference_scores(seed, wanted);
        write_pixels(session, seed);
        if (seed == 0) {
            assert_ok(mnn_session_run_with_options(session, &options));
        } else {
            assert_ok(mnn_session_submit(session, &options));
            assert_ok(mnn_session_wait(session, -1));
        }
        assert_int_equal(mine.calls, 1);
        assert_int_equal(mine.read, MNN_OK);
        assert_memory_equal(mine.scores, wanted, sizeof wanted);
        assert_int_equal(mine.wait, MNN_ERROR_BUSY);
        assert_int_equal(mine.run, MNN_ERROR_BUSY);
        assert_int_equal(mine.submit, MNN_ERROR_BUSY);
        assert_int_equal(mine.destroy, MNN_ERROR_BUSY);
        assert_int_equal(pthread_equal(mine.thread, pthread_self()) != 0, seed == 0);
    }
    assert_ok(mnn_session_destroy(&session));
}

/* What cannot begin is refused by submit, calls nothing and leaves the session as it was. */
static void refusals(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    struct end end = {.session = session};
    mnn_run_options_t options = default_run_options();
    options.done = note_end;
    options.user_data = &end;
    const int32_t two[] = {2, 1, 8, 8}, one[] = {1, 1, 8, 8};
    assert_ok(mnn_session_resize_input(session, first_input(session), two, 4));
    assert_fails(mnn_session_submit(session, &options), MNN_ERROR_BAD_STATE);
    assert_fails(mnn_session_run_with_options(session, &options), MNN_ERROR_BAD_STATE);
    assert_ok(mnn_session_resize_input(session, first_input(session), one, 4));

    mnn_cancel_t *gone = NULL, *cancel = NULL;
    assert_ok(mnn_cancel_create(&cancel));
    gone = cancel;
    assert_ok(mnn_cancel_destroy(&cancel));
    options.cancel = gone;
    assert_fails(mnn_session_submit(session, &options), MNN_ERROR_BAD_HANDLE);
    options.cancel = (mnn_cancel_t*)net;
    assert_fails(mnn_session_submit(session, &options), MNN_ERROR_BAD_HANDLE);
    options.cancel = NULL;

    options.struct_size = 3;
    assert_fails(mnn_session_submit(session, &options), MNN_ERROR_VERSION_MISMATCH);
    options.struct_size = sizeof options;

    float pixels[2 * PIXELS] = {0};
    assert_ok(
        mnn_session_bind_input(session, first_input(session), pixels, sizeof pixels / 2, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_resize_input(session, first_input(session), two, 4));
    assert_ok(mnn_session_resize(session));
    assert_fails(mnn_session_submit(session, &options), MNN_ERROR_BAD_STATE);
    assert_non_null(strstr(mnn_last_error(), "bind it anew"));
    assert_ok(mnn_session_bind_input(session, first_input(session), NULL, 0, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_resize_input(session, first_input(session), one, 4));
    assert_ok(mnn_session_resize(session));

    assert_int_equal(end.calls, 0);
    assert_fails(mnn_session_wait(session, -1), MNN_ERROR_BAD_STATE);
    write_pixels(session, 9);
    assert_ok(mnn_session_submit(session, &options));
    assert_ok(mnn_session_wait(session, -1));
    assert_int_equal(end.calls, 1);
    check_scores(session, 9, 0);
    assert_ok(mnn_session_destroy(&session));
}

/* Programs that were compiled with the first version of the options. */
static void options_without_done(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    mnn_run_options_t options;
    memset(&options, 0x5a, sizeof options);
    assert_ok(mnn_run_options_init(&options, offsetof(mnn_run_options_t, done)));
    write_pixels(session, 6);
    assert_ok(mnn_session_submit(session, &options)); /* nothing behind the size is read */
    assert_ok(mnn_session_wait(session, -1));
    check_scores(session, 6, 0);
    assert_fails(mnn_run_options_init(&options, offsetof(mnn_run_options_t, done) - 1),
                 MNN_ERROR_VERSION_MISMATCH);
    assert_ok(mnn_session_destroy(&session));
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
        runners[i] =
            (struct runner){.session = session_with(net, i < 3 ? runtime : NULL, 0), .wanted = wanted};
        write_pixels(runners[i].session, 12);
    }
    for (int i = 0; i < RUNNERS; ++i)
        assert_int_equal(pthread_create(&threads[i], NULL, submit_often, &runners[i]), 0);
    for (int i = 0; i < RUNNERS; ++i) assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < RUNNERS; ++i) {
        if (runners[i].wrong[0]) fail_msg("%s", runners[i].wrong);
        assert_ok(mnn_session_destroy(&runners[i].session));
    }
    assert_ok(mnn_runtime_destroy(&runtime));
}

/* The thread ends with the session, at once after a run. */
static void threads_end(void** state) {
    (void)state;
    assert_int_equal(settled_thread_count(1), 1);
    for (int i = 0; i < 50; ++i) {
        mnn_session_t* session = open_session(net);
        assert_ok(mnn_session_submit(session, NULL));
        assert_ok(mnn_session_wait(session, -1));
        assert_ok(mnn_session_destroy(&session));
    }
    assert_int_equal(settled_thread_count(1), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_what_a_run_gives),
        cmocka_unit_test(into_bound_memory),
        cmocka_unit_test(busy_until_waited_for),
        cmocka_unit_test(one_wait_for_one_submit),
        cmocka_unit_test(waits_end_in_time),
        cmocka_unit_test(first_in_first_out),
        cmocka_unit_test(cancelled_runs),
        cmocka_unit_test(failures_arrive),
        cmocka_unit_test(at_the_end_of_a_run),
        cmocka_unit_test(refusals),
        cmocka_unit_test(options_without_done),
        cmocka_unit_test(from_many_threads),
        cmocka_unit_test(threads_end),
    };
    return cmocka_run_group_tests_name("submit", tests, open_net, close_net);
}
