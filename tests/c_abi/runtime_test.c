/* Runtimes: their configuration, the workers that their sessions share, any order of destruction, forks. */
#include "runtime.h"
#include "process.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static void refused(const mnn_runtime_config_t* config, mnn_status wanted) {
    mnn_runtime_t* runtime = UNTOUCHED_POINTER;
    assert_fails(mnn_runtime_create(config, &runtime), wanted);
    assert_ptr_equal(runtime, UNTOUCHED_POINTER);
}

static void never_task(void* user_data, mnn_task task, void* context, int32_t count) {
    (void)user_data, (void)task, (void)context, (void)count;
}

static void* never_allocate(void* user_data, size_t size, size_t alignment) {
    (void)user_data, (void)size, (void)alignment;
    return NULL;
}

static void never_release(void* user_data, void* memory, size_t size, size_t alignment) {
    (void)user_data, (void)memory, (void)size, (void)alignment;
}

static void wrong_configurations(void** state) {
    (void)state;
    int finalized = 0;
    mnn_runtime_config_t config = default_runtime_config();
    const size_t sizes[] = {0, sizeof(size_t), sizeof config - 1, 4097, SIZE_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        assert_fails(mnn_runtime_config_init(&config, sizes[i]), MNN_ERROR_VERSION_MISMATCH);
        config = default_runtime_config();
        config.struct_size = sizes[i];
        refused(&config, MNN_ERROR_VERSION_MISMATCH);
    }
    assert_fails(mnn_runtime_config_init(NULL, sizeof config), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_runtime_create(NULL, NULL), MNN_ERROR_NULL_ARGUMENT);
#define REFUSED(change, wanted)                     \
    do {                                            \
        config = default_runtime_config();          \
        config.threads = 2;                         \
        config.log_finalizer = count_up;            \
        config.allocator_finalizer = count_up;      \
        config.parallel_for_finalizer = count_up;   \
        config.log_user_data = &finalized;          \
        config.allocator_user_data = &finalized;    \
        config.parallel_for_user_data = &finalized; \
        change;                                     \
        refused(&config, wanted);                   \
    } while (0)
    const int32_t core = 0, below = -1, nowhere = 1000, beyond = INT32_MAX;
    REFUSED(config.threads = -1, MNN_ERROR_BAD_RANGE);
    REFUSED(config.threads = MNN_MAX_THREADS + 1, MNN_ERROR_BAD_RANGE);
    REFUSED(config.power = -1, MNN_ERROR_INVALID_VALUE);
    REFUSED(config.power = MNN_POWER_LOW + 1, MNN_ERROR_INVALID_VALUE);
    REFUSED(config.log_level = -1, MNN_ERROR_INVALID_VALUE);
    REFUSED(config.log_level = MNN_LOG_DEBUG + 1, MNN_ERROR_INVALID_VALUE);
    REFUSED(config.core_count = 1, MNN_ERROR_NULL_ARGUMENT);
    REFUSED((config.cores = &below, config.core_count = 1), MNN_ERROR_BAD_RANGE);
    REFUSED((config.cores = &nowhere, config.core_count = 1), MNN_ERROR_INVALID_VALUE);
    REFUSED((config.cores = &beyond, config.core_count = 1), MNN_ERROR_INVALID_VALUE);
    REFUSED(config.allocate = never_allocate, MNN_ERROR_INVALID_VALUE);
    REFUSED(config.release = never_release, MNN_ERROR_INVALID_VALUE);
    REFUSED((config.parallel_for = never_task, config.power = MNN_POWER_HIGH), MNN_ERROR_INVALID_VALUE);
    REFUSED((config.parallel_for = never_task, config.cores = &core, config.core_count = 1), MNN_ERROR_INVALID_VALUE);
#undef REFUSED
    assert_int_equal(finalized, 0); /* a failed call keeps nothing */
    assert_int_equal(settled_thread_count(1), 1);
}

static void handles(void** state) {
    (void)state;
    mnn_runtime_t* runtime = make_runtime(NULL);
    mnn_runtime_t* copy = runtime;
    mnn_schedule_config_t config = default_config();
    config.runtime = (mnn_runtime_t*)net;
    assert_refused(&config, MNN_ERROR_BAD_HANDLE);
    assert_non_null(strstr(mnn_last_error(), "config.runtime"));
    config.runtime = runtime;
    config.power = MNN_POWER_HIGH;
    assert_refused(&config, MNN_ERROR_INVALID_VALUE);
    assert_ok(mnn_runtime_destroy(&runtime));
    assert_null(runtime);
    assert_ok(mnn_runtime_destroy(&runtime));
    assert_ok(mnn_runtime_destroy(NULL));
    assert_fails(mnn_runtime_destroy(&copy), MNN_ERROR_BAD_HANDLE);
    config.power = MNN_POWER_NORMAL;
    config.runtime = copy;
    assert_refused(&config, MNN_ERROR_BAD_HANDLE);
    mnn_runtime_t* other = (mnn_runtime_t*)net;
    assert_fails(mnn_runtime_destroy(&other), MNN_ERROR_BAD_HANDLE);
    assert_ptr_equal(other, net);
}

static void workers_are_shared(void** state) {
    (void)state;
    enum { SESSIONS = 400, THREADS = 4 };
    static mnn_session_t* sessions[SESSIONS];
    mnn_interpreter_t* second = open_digits();
    float wanted[BATCH * CLASSES];
    batch_scores(3, wanted);
    assert_int_equal(settled_thread_count(1), 1);
    mnn_runtime_t* runtime = runtime_of(THREADS);
    assert_int_equal(thread_count(), THREADS);
    const long before = resident_kib();
    for (int i = 0; i < SESSIONS; ++i) {
        sessions[i] = session_with(i % 2 ? net : second, runtime, i % 7);
        assert_ok(resize_batch(sessions[i], BATCH));
    }
    assert_int_equal(thread_count(), THREADS);
    for (int i = 0; i < SESSIONS; i += 9) check_batch(sessions[i], 3, wanted);
    assert_int_equal(thread_count(), THREADS);
    print_message("%d sessions on one runtime of %d threads: %d threads, %ld KiB\n", SESSIONS, THREADS, thread_count(),
                  resident_kib() - before);
    for (int i = 0; i < SESSIONS; ++i) assert_ok(mnn_session_destroy(&sessions[i]));
    assert_ok(mnn_interpreter_destroy(&second));
    assert_ok(mnn_runtime_destroy(&runtime));
    assert_int_equal(settled_thread_count(1), 1);

    /* Without a runtime, every session has its own workers. */
    enum { FEW = 8 };
    for (int i = 0; i < FEW; ++i) sessions[i] = session_with(net, NULL, THREADS);
    assert_int_equal(thread_count(), 1 + FEW * (THREADS - 1));
    for (int i = 0; i < FEW; ++i) assert_ok(mnn_session_destroy(&sessions[i]));
}

/* Destroys the interpreter, the runtime and both sessions in one of their orders. */
static void in_order(const int* order) {
    int finalized[3] = {0, 0, 0};
    float wanted[BATCH * CLASSES];
    batch_scores(8, wanted);
    mnn_interpreter_t* own = open_digits();
    mnn_runtime_config_t config = default_runtime_config();
    config.threads = 3;
    config.log_finalizer = config.allocator_finalizer = config.parallel_for_finalizer = count_up;
    config.log_user_data = &finalized[0];
    config.allocator_user_data = &finalized[1];
    config.parallel_for_user_data = &finalized[2];
    mnn_runtime_t* runtime = make_runtime(&config);
    mnn_session_t* sessions[2];
    for (int i = 0; i < 2; ++i) {
        sessions[i] = session_with(own, runtime, 0);
        assert_ok(resize_batch(sessions[i], BATCH));
    }
    bool shared = true; /* the runtime's handle or a session is alive */
    for (int step = 0; step < 4; ++step) {
        for (int i = 0; i < 3; ++i) assert_int_equal(finalized[i], shared ? 0 : 1);
        if (order[step] == 0)
            assert_ok(mnn_interpreter_destroy(&own));
        else if (order[step] == 1)
            assert_ok(mnn_runtime_destroy(&runtime));
        else
            assert_ok(mnn_session_destroy(&sessions[order[step] - 2]));
        for (int i = 0; i < 2; ++i)
            if (sessions[i]) check_batch(sessions[i], 8, wanted);
        shared = runtime || sessions[0] || sessions[1];
        if (shared) assert_int_equal(thread_count(), 3);
    }
    for (int i = 0; i < 3; ++i) assert_int_equal(finalized[i], 1);
    assert_int_equal(settled_thread_count(1), 1);
}

static void any_order_of_destruction(void** state) {
    (void)state;
    int orders = 0;
    for (int code = 0; code < 256; ++code) {
        const int order[] = {code & 3, code >> 2 & 3, code >> 4 & 3, code >> 6};
        int seen = 0;
        for (int i = 0; i < 4; ++i) seen |= 1 << order[i];
        if (seen != 15) continue;
        in_order(order);
        ++orders;
    }
    assert_int_equal(orders, 24);
}

struct runner {
    mnn_interpreter_t* from;
    mnn_runtime_t* runtime;
    const float* wanted;
    mnn_session_t* session; /* NULL: one is created for each run */
    char wrong[256];
};

enum { RUNS = 30 };

/* cmocka's assertions may be used by the main thread only. */
static void* run_often(void* data) {
    struct runner* mine = data;
    float* pixels = malloc(BATCH * PIXELS * sizeof(float));
    float* got = malloc(BATCH * CLASSES * sizeof(float));
    fill_pixels(pixels, BATCH * PIXELS, 11);
    for (int i = 0; i < RUNS && !mine->wrong[0]; ++i) {
        const int32_t dims[] = {BATCH, 1, 8, 8};
        mnn_session_t* session = mine->session;
        mnn_tensor_t *input = NULL, *output = NULL;
        mnn_status status = MNN_OK;
        if (!session) status = create_with(mine->from, mine->runtime, 1 + i % 4, &session);
        if (status == MNN_OK) status = mnn_session_input(session, NULL, &input);
        if (status == MNN_OK) status = mnn_session_output(session, NULL, &output);
        if (status == MNN_OK) status = mnn_session_resize_input(session, input, dims, 4);
        if (status == MNN_OK) status = mnn_session_resize(session);
        if (status == MNN_OK) status = mnn_tensor_write(input, pixels, BATCH * PIXELS * sizeof(float), MNN_FORMAT_NCHW);
        if (status == MNN_OK) status = mnn_session_run(session);
        if (status == MNN_OK) status = mnn_tensor_read(output, got, BATCH * CLASSES * sizeof(float), MNN_FORMAT_NCHW);
        if (status != MNN_OK)
            snprintf(mine->wrong, sizeof mine->wrong, "%s: %s", mnn_status_name(status), mnn_last_error());
        else if (memcmp(got, mine->wanted, BATCH * CLASSES * sizeof(float)) != 0)
            snprintf(mine->wrong, sizeof mine->wrong, "run %d gave other bits", i);
        if (!mine->session && session) mnn_session_destroy(&session);
    }
    free(pixels);
    free(got);
    return NULL;
}

static void runs_at_the_same_time(void** state) {
    (void)state;
    enum { RUNNERS = 4 };
    float wanted[BATCH * CLASSES];
    batch_scores(11, wanted);
    mnn_runtime_t* runtime = runtime_of(3);
    struct runner runners[RUNNERS];
    pthread_t threads[RUNNERS];
    for (int i = 0; i < RUNNERS; ++i)
        runners[i] = (struct runner){.from = net,
                                     .runtime = runtime,
                                     .wanted = wanted,
                                     .session = i % 2 ? session_with(net, runtime, 1 + i) : NULL};
    for (int i = 0; i < RUNNERS; ++i) assert_int_equal(pthread_create(&threads[i], NULL, run_often, &runners[i]), 0);
    for (int i = 0; i < RUNNERS; ++i) assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < RUNNERS; ++i) {
        if (runners[i].wrong[0]) fail_msg("%s", runners[i].wrong);
        assert_ok(mnn_session_destroy(&runners[i].session));
    }
    assert_ok(mnn_runtime_destroy(&runtime));
}

struct nested {
    mnn_session_t* inner;
    mnn_runtime_t* runtime;
    const float* wanted;
    int calls;
};

static int32_t run_inner(void* user_data, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors, size_t count) {
    (void)op, (void)tensors, (void)count;
    struct nested* mine = user_data;
    ++mine->calls;
    check_batch(mine->inner, 21, mine->wanted); /* the workers are leased: it runs on this thread */
    mnn_session_t* made = session_with(net, mine->runtime, 0);
    assert_ok(resize_batch(made, BATCH)); /* planned without workers, run with them later */
    check_batch(made, 21, mine->wanted);
    if (mine->calls == 1)
        assert_ok(mnn_session_destroy(&mine->inner)), mine->inner = made;
    else
        assert_ok(mnn_session_destroy(&made));
    return MNN_OP_RUN;
}

/* A run that finds the workers busy does not wait for them. */
static void a_run_inside_of_another(void** state) {
    (void)state;
    float wanted[BATCH * CLASSES];
    batch_scores(21, wanted);
    struct nested mine = {.runtime = runtime_of(4), .wanted = wanted};
    mine.inner = session_with(net, mine.runtime, 0);
    mnn_session_t* outer = session_with(net, mine.runtime, 0);
    assert_ok(resize_batch(mine.inner, BATCH));
    assert_ok(resize_batch(outer, BATCH));
    assert_ok(run_watched(outer, run_inner, NULL, &mine));
    assert_true(mine.calls > 2);
    check_batch(mine.inner, 21, wanted);
    check_batch(outer, 21, wanted);
    assert_ok(mnn_session_destroy(&mine.inner));
    assert_ok(mnn_session_destroy(&outer));
    assert_ok(mnn_runtime_destroy(&mine.runtime));
}

static void a_forked_child(void** state) {
    (void)state;
#ifdef __SANITIZE_THREAD__ /* it ends a child that creates threads */
    skip();
#endif
    if (emulator_threads) skip(); /* qemu-user ends in an assertion of its own after fork() of several threads */
    float wanted[BATCH * CLASSES];
    batch_scores(31, wanted);
    mnn_runtime_t* runtime = runtime_of(3);
    mnn_session_t* session = session_with(net, runtime, 0);
    assert_ok(resize_batch(session, BATCH));
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        check_batch(session, 31, wanted);
        mnn_session_t* made = session_with(net, runtime, 0);
        assert_ok(resize_batch(made, BATCH));
        check_batch(made, 31, wanted);
        assert_ok(mnn_session_destroy(&session));
        assert_ok(mnn_runtime_destroy(&runtime));
        check_batch(made, 31, wanted);
        assert_ok(mnn_session_destroy(&made));
        mnn_runtime_t* own = runtime_of(3);
        made = session_with(net, own, 0);
        assert_ok(resize_batch(made, BATCH));
        check_batch(made, 31, wanted);
        if (thread_count() != 3) _exit(2);
        assert_ok(mnn_session_destroy(&made));
        assert_ok(mnn_runtime_destroy(&own));
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    check_batch(session, 31, wanted);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_runtime_destroy(&runtime));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_configurations),  cmocka_unit_test(handles),
        cmocka_unit_test(workers_are_shared),    cmocka_unit_test(any_order_of_destruction),
        cmocka_unit_test(runs_at_the_same_time), cmocka_unit_test(a_run_inside_of_another),
        cmocka_unit_test(a_forked_child),
    };
    return cmocka_run_group_tests(tests, open_net, close_net);
}
