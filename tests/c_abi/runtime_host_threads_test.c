/* Threads of the host behind a parallel-for callback: real threads, hosts that skip or repeat numbers, and the
 * floating-point mode of the host's threads. */
#include "process.h"
#include "runtime.h"

#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 4 };

enum manner { Honest, SkipsSome, SkipsAll, Repeats, Beyond, ReturnsEarly };

struct host {
    enum manner manner;
    atomic_int calls, begun, wrong_modes;
    atomic_int max_count; /* the largest count */
    int finalized;
    /* of the last call that returned early */
    pthread_t late[64];
    int late_count;
};

struct share {
    struct host* host;
    mnn_task task;
    void* context;
    int32_t first, count, step;
};

static void call_tasks(const struct share* share) {
    for (int32_t i = share->first; i < share->count; i += share->step) {
        atomic_fetch_add(&share->host->begun, 1);
        share->task(share->context, i);
    }
}

/* Returns the rounding mode that additions show: fegetround() of glibc looks at the x87 unit of x86 processors, which
 * computes none of them. */
static int rounding(void) {
    const volatile float one = 1, tiny = 1e-10f;
    if (one + tiny > one) return FE_UPWARD;
    return one - tiny < one ? FE_DOWNWARD : FE_TONEAREST;
}

static void* host_thread(void* data) {
    const struct share* share = data;
    fesetround(FE_UPWARD);
    call_tasks(share);
    if (rounding() != FE_UPWARD) atomic_fetch_add(&share->host->wrong_modes, 1);
    return NULL;
}

static void* late_thread(void* data) {
    host_thread(data);
    free(data);
    return NULL;
}

static void join_late(struct host* host) {
    for (int i = 0; i < host->late_count; ++i) pthread_join(host->late[i], NULL);
    host->late_count = 0;
}

static void parallel_for(void* user_data, mnn_task task, void* context, int32_t count) {
    struct host* host = user_data;
    atomic_fetch_add(&host->calls, 1);
    if (count > host->max_count) host->max_count = count;
    struct share shares[THREADS];
    pthread_t threads[THREADS];
    if (host->manner == SkipsAll) return;
    if (host->manner == ReturnsEarly) {
        if (host->late_count >= 60) join_late(host);
        struct share* share = malloc(sizeof *share);
        *share = (struct share){host, task, context, 0, count, 1};
        if (pthread_create(&host->late[host->late_count], NULL, late_thread, share) == 0)
            ++host->late_count;
        else
            free(share);
        return;
    }
    for (int i = 0; i < THREADS; ++i) shares[i] = (struct share){host, task, context, i, count, THREADS};
    int made = 0;
    for (int i = 1; i < THREADS; ++i) {
        if (host->manner == SkipsSome && i % 2) continue;
        if (pthread_create(&threads[made], NULL, host_thread, &shares[i]) == 0)
            ++made;
        else
            call_tasks(&shares[i]);
    }
    call_tasks(&shares[0]);
    if (host->manner == Repeats)
        for (int i = 0; i < THREADS; ++i) call_tasks(&shares[i]);
    if (host->manner == Beyond) {
        task(context, -1);
        task(context, count);
        task(context, INT32_MAX);
    }
    for (int i = 0; i < made; ++i) pthread_join(threads[i], NULL);
}

static void finalize(void* user_data) {
    ++((struct host*)user_data)->finalized;
}

static mnn_runtime_t* runtime_of_host(struct host* host) {
    mnn_runtime_config_t config = default_runtime_config();
    config.threads = THREADS;
    config.parallel_for = parallel_for;
    config.parallel_for_user_data = host;
    config.parallel_for_finalizer = finalize;
    return make_runtime(&config);
}

static void every_manner(void** state) {
    (void)state;
    float wanted[BATCH * CLASSES];
    batch_scores(13, wanted);
    for (enum manner manner = Honest; manner <= ReturnsEarly; ++manner) {
        struct host host = {.manner = manner};
        mnn_runtime_t* runtime = runtime_of_host(&host);
        assert_int_equal(thread_count(), 1); /* the library creates none */
        mnn_session_t* sessions[] = {session_with(net, runtime, 0), session_with(net, runtime, 2)};
        for (int i = 0; i < 2; ++i) {
            host.max_count = 0;
            host.calls = 0;
            assert_ok(resize_batch(sessions[i], BATCH));
            for (int round = 0; round < 3; ++round) check_batch(sessions[i], 13, wanted);
            assert_true(host.calls > 0);
            assert_int_equal(host.max_count, i == 0 ? THREADS : 2);
        }
        join_late(&host);
        assert_int_equal(host.wrong_modes, 0);
        assert_true(manner == SkipsAll || host.begun > 0);
        assert_int_equal(rounding(), FE_TONEAREST);
        for (int i = 0; i < 2; ++i) assert_ok(mnn_session_destroy(&sessions[i]));
        assert_int_equal(host.finalized, 0);
        assert_ok(mnn_runtime_destroy(&runtime));
        assert_int_equal(host.finalized, 1);
    }
}

/* The callback itself runs in the mode of the calling thread. */
static int seen_rounding;

static void look_at_mode(void* user_data, mnn_task task, void* context, int32_t count) {
    (void)user_data;
    seen_rounding = rounding();
    for (int32_t i = 0; i < count; ++i) task(context, i);
}

static void mode_of_the_caller(void** state) {
    (void)state;
    float wanted[BATCH * CLASSES];
    batch_scores(14, wanted);
    mnn_runtime_config_t config = default_runtime_config();
    config.threads = 3;
    config.parallel_for = look_at_mode;
    mnn_runtime_t* runtime = make_runtime(&config);
    mnn_session_t* session = session_with(net, runtime, 0);
    assert_ok(resize_batch(session, BATCH));
    assert_int_equal(fesetround(FE_DOWNWARD), 0);
    seen_rounding = -1;
    check_batch(session, 14, wanted);
    const int after = rounding();
    fesetround(FE_TONEAREST);
    assert_int_equal(seen_rounding, FE_DOWNWARD);
    assert_int_equal(after, FE_DOWNWARD);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_runtime_destroy(&runtime));
}

struct curious {
    mnn_session_t* session;
    mnn_status count, memory, run, destroy;
};

static void use_the_library(void* user_data, mnn_task task, void* context, int32_t count) {
    struct curious* mine = user_data;
    if (mine->session) {
        size_t inputs = 0;
        mnn_statistics_t memory = {.struct_size = sizeof memory};
        mnn_session_t* copy = mine->session;
        mine->count = mnn_session_input_count(mine->session, &inputs);
        mine->memory = mnn_session_statistics(mine->session, &memory);
        mine->run = mnn_session_run(mine->session);
        mine->destroy = mnn_session_destroy(&copy);
    }
    for (int32_t i = 0; i < count; ++i) task(context, i);
}

static void calls_from_inside(void** state) {
    (void)state;
    struct curious mine = {0};
    float wanted[BATCH * CLASSES];
    batch_scores(15, wanted);
    mnn_runtime_config_t config = default_runtime_config();
    config.threads = 2;
    config.parallel_for = use_the_library;
    config.parallel_for_user_data = &mine;
    mnn_runtime_t* runtime = make_runtime(&config);
    mnn_session_t* session = session_with(net, runtime, 0);
    assert_ok(resize_batch(session, BATCH));
    mine.session = session;
    mine.count = mine.memory = mine.run = mine.destroy = -1;
    check_batch(session, 15, wanted);
    assert_int_equal(mine.count, MNN_OK);
    assert_int_equal(mine.memory, MNN_OK);
    assert_int_equal(mine.run, MNN_ERROR_BUSY);
    assert_int_equal(mine.destroy, MNN_ERROR_BUSY);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_runtime_destroy(&runtime));
}

/* Sessions on several threads share the host's threads; each keeps its own work separate. */
struct runner {
    mnn_session_t* session;
    const float *pixels, *wanted;
    bool same;
};

static void* run_often(void* data) {
    struct runner* mine = data;
    float* got = malloc(BATCH * CLASSES * sizeof(float));
    mnn_tensor_t *input = NULL, *output = NULL;
    mine->same = mnn_session_input(mine->session, NULL, &input) == MNN_OK &&
                 mnn_session_output(mine->session, NULL, &output) == MNN_OK;
    for (int i = 0; i < 10 && mine->same; ++i) {
        memset(got, 0, BATCH * CLASSES * sizeof(float));
        mine->same = mnn_tensor_write(input, mine->pixels, BATCH * PIXELS * sizeof(float), MNN_FORMAT_NCHW) == MNN_OK &&
                     mnn_session_run(mine->session) == MNN_OK &&
                     mnn_tensor_read(output, got, BATCH * CLASSES * sizeof(float), MNN_FORMAT_NCHW) == MNN_OK &&
                     memcmp(got, mine->wanted, BATCH * CLASSES * sizeof(float)) == 0;
    }
    free(got);
    return NULL;
}

static void runs_at_the_same_time(void** state) {
    (void)state;
    enum { RUNNERS = 3 };
    struct host host = {.manner = Honest};
    static float pixels[RUNNERS][BATCH * PIXELS], wanted[RUNNERS][BATCH * CLASSES];
    struct runner runners[RUNNERS];
    pthread_t threads[RUNNERS];
    mnn_runtime_t* runtime = runtime_of_host(&host);
    for (uint32_t i = 0; i < RUNNERS; ++i) {
        fill_pixels(pixels[i], BATCH * PIXELS, 40 + i);
        batch_scores(40 + i, wanted[i]);
        runners[i] = (struct runner){session_with(net, runtime, 0), pixels[i], wanted[i], false};
        assert_ok(resize_batch(runners[i].session, BATCH));
    }
    for (int i = 0; i < RUNNERS; ++i) assert_int_equal(pthread_create(&threads[i], NULL, run_often, &runners[i]), 0);
    for (int i = 0; i < RUNNERS; ++i) assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < RUNNERS; ++i) {
        assert_true(runners[i].same);
        assert_ok(mnn_session_destroy(&runners[i].session));
    }
    assert_ok(mnn_runtime_destroy(&runtime));
    assert_int_equal(host.finalized, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_manner),
        cmocka_unit_test(mode_of_the_caller),
        cmocka_unit_test(calls_from_inside),
        cmocka_unit_test(runs_at_the_same_time),
    };
    return cmocka_run_group_tests(tests, open_net, close_net);
}
