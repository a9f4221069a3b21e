/* The callback at the end of a run, and the results of a wait. */
#include "digits_net.h"
#include "runtime.h"
#include "submitted.h"

#ifdef __SSE2__
#include <immintrin.h>
#endif

static int32_t stop_run(void* user_data, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors, size_t count) {
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

/* In the callback the outputs can be read, and the session must not be changed. */
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

/* A callback has the thread of its runtime, which therefore cannot compute a later run meanwhile. */
struct next_run {
    mnn_session_t* session;
    mnn_status submit, wait;
};

static void submit_and_wait(void* user_data, mnn_status status) {
    (void)status;
    struct next_run* next = user_data;
    next->submit = mnn_session_submit(next->session, NULL);
    next->wait = mnn_session_wait(next->session, -1);
}

static void waiting_on_the_thread_of_runs(void** state) {
    (void)state;
    mnn_runtime_t* runtime = runtime_of(1);
    mnn_session_t *first = session_with(net, runtime, 0), *second = session_with(net, runtime, 0);
    struct next_run next = {.session = second};
    mnn_run_options_t options = default_run_options();
    options.done = submit_and_wait;
    options.user_data = &next;
    write_pixels(second, 5);
    assert_ok(mnn_session_submit(first, &options));
    assert_ok(mnn_session_wait(first, -1));
    assert_int_equal(next.submit, MNN_OK);
    assert_int_equal(next.wait, MNN_ERROR_BUSY);
    assert_ok(mnn_session_wait(second, -1));
    check_scores(second, 5, 0);
    assert_ok(mnn_session_destroy(&first));
    assert_ok(mnn_session_destroy(&second));
    assert_ok(mnn_runtime_destroy(&runtime));
}

#ifdef __SSE2__
static bool keeps_subnormals(void) {
    volatile float small = 1e-40f;
    return small * 0.5f != 0;
}

static int32_t look_at_the_mode(void* user_data, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors,
                                size_t count) {
    (void)op, (void)tensors, (void)count;
    if (!keeps_subnormals()) ++*(int*)user_data;
    return MNN_OP_RUN;
}

static void look_at_the_mode_again(void* user_data, mnn_status status) {
    (void)status;
    if (!keeps_subnormals()) ++*(int*)user_data;
}
#endif

/* Callbacks on the thread run without flush-to-zero, even when the thread that created it runs with it. */
static void callbacks_have_the_usual_arithmetic(void** state) {
    (void)state;
#ifdef __SSE2__
    mnn_session_t* session = open_session(net);
    int flushed = 0;
    mnn_run_options_t options = default_run_options();
    options.before = options.after = look_at_the_mode;
    options.done = look_at_the_mode_again;
    options.user_data = &flushed;
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x8040);
    const bool kept = keeps_subnormals();
    const mnn_status submitted = mnn_session_submit(session, &options);
    const mnn_status status = mnn_session_wait(session, -1);
    const unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    assert_false(kept);
    assert_int_equal(submitted, MNN_OK);
    assert_int_equal(status, MNN_OK);
    assert_int_equal(after & 0x8040, 0x8040);
    assert_int_equal(flushed, 0);
    assert_ok(mnn_session_destroy(&session));
#else
    skip();
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures_arrive),
        cmocka_unit_test(at_the_end_of_a_run),
        cmocka_unit_test(waiting_on_the_thread_of_runs),
        cmocka_unit_test(callbacks_have_the_usual_arithmetic),
    };
    return cmocka_run_group_tests_name("submit_callbacks", tests, open_net, close_net);
}
