/* Submitted runs on the CPU: results, the state of the session, timeouts, refusals. */
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

/* Another thread may be reading the run at the moment of this call. */
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
    /* Only one thread waits at a time. */
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
    /* The wait is longer than any clock. */
    assert_ok(mnn_session_submit(session, NULL));
    assert_ok(mnn_session_wait(session, INT64_MAX));
    assert_ok(mnn_session_submit(session, NULL));
    assert_ok(mnn_session_wait(session, INT64_MIN));
    assert_ok(mnn_session_destroy(&session));
}

/* A run that cannot begin is refused by submit, calls nothing and does not change the session. */
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
    assert_ok(mnn_session_bind_input(session, first_input(session), pixels, sizeof pixels / 2, MNN_FORMAT_NCHW));
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

/* Programs that were compiled with a shorter struct of options. */
static void options_without_done(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    mnn_run_options_t options;
    const size_t sizes[] = {offsetof(mnn_run_options_t, device_times), offsetof(mnn_run_options_t, done)};
    for (uint32_t i = 0; i < 2; ++i) {
        memset(&options, 0x5a, sizeof options);
        assert_ok(mnn_run_options_init(&options, sizes[i]));
        write_pixels(session, i);
        assert_ok(mnn_session_submit(session, &options)); /* nothing behind the size is read */
        assert_ok(mnn_session_wait(session, -1));
        check_scores(session, i, 0);
    }
    assert_fails(mnn_run_options_init(&options, sizes[0] - 1), MNN_ERROR_VERSION_MISMATCH);
    options = default_run_options();
    options.device_times = 2;
    assert_fails(mnn_session_submit(session, &options), MNN_ERROR_INVALID_VALUE);
    assert_ok(mnn_session_destroy(&session));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_what_a_run_gives), cmocka_unit_test(into_bound_memory),
        cmocka_unit_test(busy_until_waited_for),  cmocka_unit_test(one_wait_for_one_submit),
        cmocka_unit_test(waits_end_in_time),      cmocka_unit_test(refusals),
        cmocka_unit_test(options_without_done),
    };
    return cmocka_run_group_tests_name("submit", tests, open_net, close_net);
}
