/* Submitted runs on a Vulkan device: no thread where the device computes the whole run, the thread where it does not.
 * Skipped (exit code 77) where there is no device. */
#include "process.h"
#include "submitted.h"

#include <sys/wait.h>
#include <unistd.h>

enum { SKIPPED = 77 };
static const float kTolerance = 1e-4f;

static mnn_interpreter_t* net;

static mnn_status create(int32_t gpu_mode, mnn_session_t** session) {
    mnn_schedule_config_t config;
    const mnn_status status = mnn_schedule_config_init(&config, sizeof config);
    if (status != MNN_OK) return status;
    config.forward_type = MNN_FORWARD_VULKAN;
    config.gpu_mode = gpu_mode;
    return mnn_session_create(net, &config, session);
}

static mnn_session_t* vulkan_session(int32_t gpu_mode) {
    mnn_session_t* session = NULL;
    assert_ok(create(gpu_mode, &session));
    return session;
}

static void without_a_thread(void** state) {
    (void)state;
    const int32_t modes[] = {MNN_GPU_RECORD_OP, MNN_GPU_RECORD_BATCH};
    for (size_t i = 0; i < 2; ++i) {
        mnn_session_t* session = vulkan_session(modes[i]);
        assert_ok(mnn_session_run(session)); /* the driver creates its threads */
        const int threads = thread_count();
        for (uint32_t seed = 0; seed < 4; ++seed) {
            write_pixels(session, seed);
            assert_ok(mnn_session_submit(session, NULL));
            assert_fails(mnn_session_run(session), MNN_ERROR_BUSY);
            mnn_status status = MNN_ERROR_TIMEOUT;
            if (seed % 2 == 0)
                status = mnn_session_wait(session, -1);
            else
                while (status == MNN_ERROR_TIMEOUT) status = mnn_session_wait(session, 0);
            assert_int_equal(status, MNN_OK);
            check_scores(session, seed, kTolerance);
        }
        assert_fails(mnn_session_wait(session, -1), MNN_ERROR_BAD_STATE);
        assert_int_equal(thread_count(), threads);
        mnn_statistics_t statistics = {.struct_size = sizeof statistics};
        assert_ok(mnn_session_statistics(session, &statistics));
        assert_int_equal(statistics.runs, 5);
        assert_int_equal(statistics.failed_runs, 0);
        assert_ok(mnn_session_destroy(&session));
    }
}

static void into_bound_memory(void** state) {
    (void)state;
    mnn_session_t* session = vulkan_session(0);
    float pixels[PIXELS], wanted[CLASSES], got[CLASSES] = {0};
    reference_scores(5, wanted);
    assert_ok(mnn_session_bind_input(session, first_input(session), pixels, sizeof pixels, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_bind_output(session, first_output(session), got, sizeof got, MNN_FORMAT_NCHW));
    fill_pixels(pixels, PIXELS, 5);
    assert_ok(mnn_session_submit(session, NULL));
    assert_ok(mnn_session_wait(session, -1));
    assert_close(got, wanted, CLASSES, kTolerance);
    assert_ok(mnn_session_destroy(&session));
}

/* Callbacks need the thread: those around the operators, and the one at the end. */
static void with_callbacks(void** state) {
    (void)state;
    mnn_session_t* session = vulkan_session(0);
    assert_ok(mnn_session_run(session));
    const int threads = thread_count();
    struct end end = {.session = session};
    write_pixels(session, 1);
    assert_ok(submit_noted(session, &end));
    await_end(&end); /* without a wait */
    assert_ok(mnn_session_wait(session, -1));
    assert_int_equal(end.calls, 1);
    assert_int_equal(end.status, MNN_OK);
    assert_false(pthread_equal(end.thread, pthread_self()));
    assert_int_equal(thread_count(), threads + 1);
    check_scores(session, 1, kTolerance);
    struct gate gate = CLOSED_GATE;
    write_pixels(session, 2);
    assert_ok(submit_gated(session, &gate));
    await_gate(&gate);
    assert_fails(mnn_session_wait(session, 1000), MNN_ERROR_TIMEOUT);
    open_gate(&gate);
    assert_ok(mnn_session_wait(session, -1));
    check_scores(session, 2, kTolerance);
    assert_ok(mnn_session_destroy(&session));
}

/* A run on the CPU is active while one on the device begins and ends, also in one runtime. */
static void beside_the_cpu(void** state) {
    (void)state;
    mnn_runtime_t* runtime = NULL;
    assert_ok(mnn_runtime_create(NULL, &runtime));
    mnn_schedule_config_t config;
    assert_ok(mnn_schedule_config_init(&config, sizeof config));
    config.runtime = runtime;
    mnn_session_t *cpu = NULL, *gpu = NULL;
    assert_ok(mnn_session_create(net, &config, &cpu));
    config.forward_type = MNN_FORWARD_VULKAN;
    assert_ok(mnn_session_create(net, &config, &gpu));
    struct gate gate = CLOSED_GATE;
    write_pixels(cpu, 3);
    write_pixels(gpu, 4);
    assert_ok(submit_gated(cpu, &gate));
    await_gate(&gate);
    assert_ok(mnn_session_submit(gpu, NULL));
    assert_ok(mnn_session_wait(gpu, -1));
    check_scores(gpu, 4, kTolerance);
    assert_fails(mnn_session_wait(cpu, 0), MNN_ERROR_TIMEOUT);
    /* The other way round. */
    write_pixels(gpu, 5);
    assert_ok(mnn_session_submit(gpu, NULL));
    open_gate(&gate);
    assert_ok(mnn_session_wait(cpu, -1));
    check_scores(cpu, 3, 0);
    assert_ok(mnn_session_wait(gpu, -1));
    check_scores(gpu, 5, kTolerance);
    assert_ok(mnn_session_destroy(&cpu));
    assert_ok(mnn_session_destroy(&gpu));
    assert_ok(mnn_runtime_destroy(&runtime));
}

static void cancelled_before(void** state) {
    (void)state;
    mnn_session_t* session = vulkan_session(0);
    mnn_cancel_t* cancel = NULL;
    assert_ok(mnn_cancel_create(&cancel));
    assert_ok(mnn_cancel_trigger(cancel));
    struct end end = {.session = session};
    mnn_run_options_t options = default_run_options();
    options.cancel = cancel;
    options.done = note_end;
    options.user_data = &end;
    assert_ok(mnn_session_submit(session, &options));
    assert_fails(mnn_session_wait(session, -1), MNN_ERROR_CANCELLED);
    assert_int_equal(end.calls, 1);
    assert_int_equal(end.status, MNN_ERROR_CANCELLED);
    assert_ok(mnn_cancel_destroy(&cancel));
    write_pixels(session, 6);
    assert_ok(mnn_session_run(session));
    check_scores(session, 6, kTolerance);
    assert_ok(mnn_session_destroy(&session));
}

/* A run with a token is computed by the thread, which looks at the token between parts. */
static void with_a_token(void** state) {
    (void)state;
    mnn_session_t* session = vulkan_session(0);
    mnn_cancel_t* cancel = NULL;
    assert_ok(mnn_cancel_create(&cancel));
    mnn_run_options_t options = default_run_options();
    options.cancel = cancel;
    for (uint32_t seed = 0; seed < 3; ++seed) {
        write_pixels(session, seed);
        assert_ok(mnn_session_submit(session, &options));
        assert_ok(mnn_session_wait(session, -1));
        check_scores(session, seed, kTolerance);
    }
    /* The token is triggered while a run waits at its first operator. */
    struct gate gate = CLOSED_GATE;
    options.before = stop_at_gate;
    options.user_data = &gate;
    assert_ok(mnn_session_submit(session, &options));
    await_gate(&gate);
    assert_ok(mnn_cancel_trigger(cancel));
    open_gate(&gate);
    assert_fails(mnn_session_wait(session, -1), MNN_ERROR_CANCELLED);
    assert_ok(mnn_cancel_destroy(&cancel));
    write_pixels(session, 4);
    assert_ok(mnn_session_submit(session, NULL));
    assert_ok(mnn_session_wait(session, -1));
    check_scores(session, 4, kTolerance);
    assert_ok(mnn_session_destroy(&session));
}

/* A run that the parent handed to the device ends there. */
static void forked(void** state) {
    (void)state;
    mnn_session_t* session = vulkan_session(0);
    write_pixels(session, 7);
    assert_ok(mnn_session_submit(session, NULL));
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(60);
        const bool refused = mnn_session_wait(session, -1) == MNN_ERROR_BAD_STATE;
        const bool explained = strstr(mnn_last_error(), "process") != NULL;
        const bool again = mnn_session_submit(session, NULL) == MNN_ERROR_BAD_STATE;
        const bool freed = mnn_session_destroy(&session) == MNN_OK;
        _exit(refused && explained && again && freed ? 0 : 1);
    }
    int result = -1;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
    assert_ok(mnn_session_wait(session, -1));
    check_scores(session, 7, kTolerance);
    assert_ok(mnn_session_destroy(&session));
}

int main(void) {
    mnn_session_t* probe = NULL;
    if (mnn_interpreter_create_from_file(MNN_C_DIGITS_MODEL, NULL, &net) != MNN_OK) return 1;
    const mnn_status found = create(0, &probe);
    if (found == MNN_ERROR_BACKEND_MISSING) {
        printf("skipped: %s\n", mnn_last_error());
        return mnn_interpreter_destroy(&net) == MNN_OK ? SKIPPED : 1;
    }
    if (found != MNN_OK || mnn_session_destroy(&probe) != MNN_OK) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_thread), cmocka_unit_test(into_bound_memory), cmocka_unit_test(with_callbacks),
        cmocka_unit_test(beside_the_cpu),   cmocka_unit_test(cancelled_before),  cmocka_unit_test(with_a_token),
        cmocka_unit_test(forked),
    };
    const int failed = cmocka_run_group_tests_name("submit_vulkan", tests, NULL, NULL);
    return failed || mnn_interpreter_destroy(&net) != MNN_OK;
}
