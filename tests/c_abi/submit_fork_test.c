/* Submitted runs and fork(): a child does not have its parent's threads. */
#include "process.h"
#include "runtime.h"
#include "submitted.h"

#include <sys/wait.h>
#include <unistd.h>

/* Runs the body in a child, whose exit code is the number of the first line that fails there. */
#define IN_CHILD(body)                                      \
    do {                                                    \
        const pid_t child = fork();                         \
        assert_true(child >= 0);                            \
        if (child == 0) {                                   \
            alarm(60);                                      \
            body;                                           \
            _exit(0);                                       \
        }                                                   \
        int ended = -1;                                     \
        assert_int_equal(waitpid(child, &ended, 0), child); \
        assert_int_equal(ended, 0);                         \
    } while (0)

/* Ends the child when the condition is false. */
static void must(bool right, int line) {
    if (right) return;
    fprintf(stderr, "line %d of the child: %s\n", line, mnn_last_error());
    _exit(1);
}
#define MUST(right) must((right), __LINE__)

static bool gives(mnn_session_t* session, uint32_t seed, bool submitted) {
    mnn_tensor_t *input = NULL, *output = NULL;
    float pixels[PIXELS], wanted[CLASSES], got[CLASSES];
    fill_pixels(pixels, PIXELS, seed);
    reference_scores(seed, wanted);
    return mnn_session_input(session, NULL, &input) == MNN_OK && mnn_session_output(session, NULL, &output) == MNN_OK &&
           mnn_tensor_write(input, pixels, sizeof pixels, MNN_FORMAT_NCHW) == MNN_OK &&
           (submitted ? mnn_session_submit(session, NULL) == MNN_OK && mnn_session_wait(session, -1) == MNN_OK
                      : mnn_session_run(session) == MNN_OK) &&
           mnn_tensor_read(output, got, sizeof got, MNN_FORMAT_NCHW) == MNN_OK && memcmp(got, wanted, sizeof got) == 0;
}

static bool refused(mnn_status status) {
    return status == MNN_ERROR_BAD_STATE && strstr(mnn_last_error(), "forked");
}

/* The thread sanitizer ends a child that creates threads. */
#ifdef __SANITIZE_THREAD__
#define SKIP_THREADS_OF_CHILDREN() skip()
#else
#define SKIP_THREADS_OF_CHILDREN() (void)0
#endif

static void threads_are_not_inherited(void** state) {
    (void)state;
    SKIP_THREADS_OF_CHILDREN();
    mnn_runtime_t* runtime = runtime_of(2);
    mnn_session_t* sessions[] = {session_with(net, NULL, 1), session_with(net, runtime, 0)};
    for (int i = 0; i < 2; ++i) assert_true(gives(sessions[i], 3, true));
    IN_CHILD({
        for (int i = 0; i < 2; ++i) {
            MUST(refused(mnn_session_submit(sessions[i], NULL)));
            MUST(gives(sessions[i], 4, false));
        }
        mnn_session_t* own = session_with(net, NULL, 1);
        MUST(gives(own, 5, true));
        mnn_session_t* shared = session_with(net, runtime, 0);
        MUST(refused(mnn_session_submit(shared, NULL)));
        MUST(mnn_session_destroy(&shared) == MNN_OK);
        MUST(mnn_runtime_destroy(&runtime) == MNN_OK);
        for (int i = 0; i < 2; ++i) MUST(mnn_session_destroy(&sessions[i]) == MNN_OK);
        MUST(gives(own, 6, true));
        MUST(mnn_session_destroy(&own) == MNN_OK);
        MUST(settled_thread_count(1) == 1);
    });
    for (int i = 0; i < 2; ++i) {
        assert_true(gives(sessions[i], 7, true));
        assert_ok(mnn_session_destroy(&sessions[i]));
    }
    assert_ok(mnn_runtime_destroy(&runtime));
}

static void a_thread_of_the_child(void** state) {
    (void)state;
    SKIP_THREADS_OF_CHILDREN();
    mnn_session_t* session = session_with(net, NULL, 1);
    IN_CHILD({
        MUST(gives(session, 3, true));
        MUST(mnn_session_destroy(&session) == MNN_OK);
        MUST(settled_thread_count(1) == 1);
    });
    assert_true(gives(session, 4, true));
    assert_ok(mnn_session_destroy(&session));
}

/* At the fork one run is over, one is running and one waits for its turn. */
static void runs_of_the_parent(void** state) {
    (void)state;
    mnn_runtime_t* runtime = runtime_of(1);
    mnn_session_t* over = session_with(net, runtime, 0);
    mnn_session_t* running = session_with(net, runtime, 0);
    mnn_session_t* queued = session_with(net, runtime, 0);
    mnn_session_t* sessions[] = {over, running, queued};
    struct gate gate = CLOSED_GATE;
    for (int i = 0; i < 3; ++i) write_pixels(sessions[i], (uint32_t)i);
    assert_ok(mnn_session_submit(over, NULL));
    assert_ok(submit_gated(running, &gate));
    assert_ok(mnn_session_submit(queued, NULL));
    await_gate(&gate);
    IN_CHILD({
        MUST(mnn_session_wait(over, -1) == MNN_OK);
        MUST(gives(over, 0, false));
        MUST(refused(mnn_session_wait(running, -1)));
        MUST(refused(mnn_session_wait(queued, 0)));
        MUST(refused(mnn_session_wait(queued, 0)));
        MUST(mnn_session_run(queued) == MNN_ERROR_BUSY);
        MUST(mnn_session_destroy(&running) == MNN_ERROR_BUSY && running);
    });
    open_gate(&gate);
    for (int i = 0; i < 3; ++i) {
        assert_ok(mnn_session_wait(sessions[i], -1));
        check_scores(sessions[i], (uint32_t)i, 0);
        assert_ok(mnn_session_destroy(&sessions[i]));
    }
    assert_ok(mnn_runtime_destroy(&runtime));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_are_not_inherited),
        cmocka_unit_test(a_thread_of_the_child),
        cmocka_unit_test(runs_of_the_parent),
    };
    return cmocka_run_group_tests_name("submit_fork", tests, open_net, close_net);
}
