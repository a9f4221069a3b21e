/* Sessions of one interpreter on several threads at once give the results that they give one after the other. Also
 * meant for the thread sanitizer. */
#include "support.h"

#include <pthread.h>

enum { WORKERS = 2, ROUNDS = 20 };

struct work {
    mnn_interpreter_t* net;
    mnn_session_t* session; /* NULL: the worker creates and destroys its own in every round */
    int32_t threads;
    uint32_t seed;
    mnn_status status;
    char sentence[256];
    float scores[ROUNDS][CLASSES];
};

/* cmocka's assertions may be used by the main thread only: workers keep their first failure. */
static bool keep(struct work* work, mnn_status status) {
    if (status != MNN_OK && work->status == MNN_OK) {
        work->status = status;
        snprintf(work->sentence, sizeof work->sentence, "%s", mnn_last_error());
    }
    return status == MNN_OK;
}

static mnn_status create_with_threads(mnn_interpreter_t* net, int32_t threads, mnn_session_t** session) {
    mnn_schedule_config_t config;
    const mnn_status status = mnn_schedule_config_init(&config, sizeof config);
    if (status != MNN_OK) return status;
    config.threads = threads;
    return mnn_session_create(net, &config, session);
}

static void* run_all(void* data) {
    struct work* work = data;
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        mnn_session_t* session = work->session;
        mnn_tensor_t *input = NULL, *output = NULL;
        float pixels[PIXELS];
        fill_pixels(pixels, PIXELS, work->seed + round);
        if (!session && !keep(work, create_with_threads(work->net, work->threads, &session))) return NULL;
        const bool fine =
            keep(work, mnn_session_input(session, "image", &input)) &&
            keep(work, mnn_session_output(session, "scores", &output)) &&
            keep(work, mnn_tensor_write(input, pixels, sizeof pixels, MNN_FORMAT_NCHW)) &&
            keep(work, mnn_session_run(session)) &&
            keep(work, mnn_tensor_read(output, work->scores[round], sizeof work->scores[round], MNN_FORMAT_NCHW));
        if (!work->session) keep(work, mnn_session_destroy(&session));
        if (!fine) return NULL;
    }
    return NULL;
}

static void run_together(struct work* works, size_t count) {
    pthread_t threads[8];
    assert_true(count <= 8);
    for (size_t i = 0; i < count; ++i) assert_int_equal(pthread_create(&threads[i], NULL, run_all, &works[i]), 0);
    for (size_t i = 0; i < count; ++i) assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (size_t i = 0; i < count; ++i)
        if (works[i].status != MNN_OK)
            fail_msg("worker %zu: %s: %s", i, mnn_status_name(works[i].status), works[i].sentence);
}

/* Returns the results of one session for the rounds of a seed, with the same number of threads. */
static void sequential(uint32_t seed, int32_t threads, float scores[ROUNDS][CLASSES]) {
    mnn_interpreter_t* net = open_digits();
    mnn_session_t* session = NULL;
    assert_ok(create_with_threads(net, threads, &session));
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        float pixels[PIXELS];
        fill_pixels(pixels, PIXELS, seed + round);
        classify(session, pixels, 1, scores[round]);
    }
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&net));
}

static void compare(const struct work* works, size_t count) {
    float wanted[ROUNDS][CLASSES];
    for (size_t i = 0; i < count; ++i) {
        sequential(works[i].seed, works[i].threads, wanted);
        assert_memory_equal(works[i].scores, wanted, sizeof wanted);
    }
}

static void two_sessions(void** state) {
    (void)state;
    for (int32_t threads = 1; threads <= 2; ++threads) {
        mnn_interpreter_t* net = open_digits();
        struct work works[WORKERS] = {{0}};
        for (size_t i = 0; i < WORKERS; ++i) {
            works[i].threads = threads;
            works[i].seed = (uint32_t)(1000 * (i + 1));
            assert_ok(create_with_threads(net, threads, &works[i].session));
        }
        run_together(works, WORKERS);
        compare(works, WORKERS);
        for (size_t i = 0; i < WORKERS; ++i) assert_ok(mnn_session_destroy(&works[i].session));
        assert_ok(mnn_interpreter_destroy(&net));
    }
}

/* Sessions are created and destroyed at the same time: the weights are prepared once, by the first thread. */
static void sessions_come_and_go(void** state) {
    (void)state;
    mnn_interpreter_t* net = open_digits();
    struct work works[4] = {{0}};
    for (size_t i = 0; i < 4; ++i) {
        works[i].net = net;
        works[i].threads = 1 + (int32_t)(i % 2);
        works[i].seed = (uint32_t)(5000 + 100 * i);
    }
    run_together(works, 4);
    compare(works, 4);
    assert_ok(mnn_interpreter_destroy(&net));
}

struct reader {
    const mnn_interpreter_t* net;
    const mnn_session_t* session;
    const float* wanted;
    int wrong;
};

static void* read_all(void* data) {
    struct reader* reader = data;
    for (int round = 0; round < ROUNDS; ++round) {
        mnn_tensor_t* output = NULL;
        const char* name = NULL;
        float scores[CLASSES];
        size_t count = 0;
        double flops = 0;
        bool needed = true;
        mnn_op_info_t info = {.struct_size = sizeof info};
        mnn_statistics_t memory = {.struct_size = sizeof memory};
        uint64_t parameters = 0;
        reader->wrong += mnn_session_output(reader->session, NULL, &output) != MNN_OK ||
                         mnn_tensor_name(output, &name) != MNN_OK ||
                         mnn_tensor_read(output, scores, sizeof scores, MNN_FORMAT_NCHW) != MNN_OK ||
                         memcmp(scores, reader->wanted, sizeof scores) != 0 ||
                         mnn_session_op_count(reader->session, &count) != MNN_OK || count == 0 ||
                         mnn_session_op_info(reader->session, count - 1, &info) != MNN_OK ||
                         mnn_session_flops(reader->session, &flops, NULL) != MNN_OK ||
                         mnn_session_statistics(reader->session, &memory) != MNN_OK ||
                         mnn_session_needs_resize(reader->session, &needed) != MNN_OK || needed ||
                         mnn_interpreter_parameter_count(reader->net, &parameters) != MNN_OK ||
                         mnn_interpreter_op_count(reader->net, &count) != MNN_OK ||
                         mnn_interpreter_output_name(reader->net, 0, &name) != MNN_OK ||
                         mnn_session_input(reader->session, "no", &output) != MNN_ERROR_NOT_FOUND;
    }
    return NULL;
}

/* A const handle may be used by any number of threads at once. */
static void const_handles_are_shared(void** state) {
    (void)state;
    mnn_interpreter_t* net = open_digits();
    mnn_session_t* session = open_session(net);
    float pixels[PIXELS], scores[CLASSES];
    fill_pixels(pixels, PIXELS, 30);
    classify(session, pixels, 1, scores);
    struct reader readers[3];
    pthread_t threads[3];
    for (size_t i = 0; i < 3; ++i) {
        readers[i] = (struct reader){net, session, scores, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, read_all, &readers[i]), 0);
    }
    for (size_t i = 0; i < 3; ++i) assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (size_t i = 0; i < 3; ++i) assert_int_equal(readers[i].wrong, 0);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&net));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_sessions),
        cmocka_unit_test(sessions_come_and_go),
        cmocka_unit_test(const_handles_are_shared),
    };
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
