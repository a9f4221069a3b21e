/* Calls of two threads, or of a callback and its caller, at the same time: reads during runs, and an interpreter that
 * is destroyed while a session of it is created. */
#include <pthread.h>

#include "digits_net.h"

/* Reads and runs at the same time: each gets either its right result or BUSY, and both occur. */
struct contest {
    mnn_session_t* session;
    const float* wanted;
    int wrong, busy, done;
    int stop; /* atomic */
};

static void* read_and_read(void* data) {
    struct contest* mine = data;
    mnn_tensor_t* output = NULL;
    if (mnn_session_output(mine->session, NULL, &output) != MNN_OK) ++mine->wrong;
    while (!__atomic_load_n(&mine->stop, __ATOMIC_RELAXED)) {
        float got[CLASSES];
        const mnn_status status = mnn_tensor_read(output, got, sizeof got, MNN_FORMAT_NCHW);
        if (status == MNN_OK) {
            mine->wrong += memcmp(got, mine->wanted, sizeof got) != 0;
            ++mine->done;
        } else {
            mine->wrong += status != MNN_ERROR_BUSY;
            ++mine->busy;
        }
    }
    return NULL;
}

static void readers_beside_runs(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    float wanted[CLASSES], pixels[PIXELS];
    reference_scores(3, wanted);
    fill_pixels(pixels, PIXELS, 3);
    assert_ok(mnn_tensor_write(first_input(session), pixels, sizeof pixels, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
    struct contest readers[2];
    pthread_t threads[2];
    for (int i = 0; i < 2; ++i) {
        readers[i] = (struct contest){session, wanted, 0, 0, 0, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, read_and_read, &readers[i]), 0);
    }
    int ok = 0, busy = 0, other = 0;
    for (long i = 0; i < 2000000 && (ok < 20 || busy < 20); ++i) {
        const mnn_status status = mnn_session_run(session);
        ok += status == MNN_OK;
        busy += status == MNN_ERROR_BUSY;
        other += status != MNN_OK && status != MNN_ERROR_BUSY;
    }
    for (int i = 0; i < 2; ++i) __atomic_store_n(&readers[i].stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; ++i) assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(other, 0);
    assert_true(ok >= 20);
    assert_true(busy >= 20);
    for (int i = 0; i < 2; ++i) assert_int_equal(readers[i].wrong, 0);
    assert_ok(mnn_session_destroy(&session));
}

struct log_scene {
    mnn_interpreter_t* net;
    mnn_session_t* session;
    int messages;
    mnn_status destroyed, resized, read;
};

static void destroy_net(void* user_data, int32_t level, const char* message) {
    (void)level, (void)message;
    struct log_scene* scene = user_data;
    ++scene->messages;
    mnn_interpreter_t* copy = scene->net;
    if (copy) scene->destroyed = mnn_interpreter_destroy(&copy);
    if (!copy) scene->net = NULL;
    double flops = 0;
    if (scene->session) {
        scene->resized = mnn_session_resize(scene->session);
        scene->read = mnn_session_flops(scene->session, &flops, NULL);
    }
}

/* An interpreter that is destroyed while a session of it is created: both succeed. Log callbacks of a resize are not
 * callbacks of a run: they must not use the session. */
static void destroyed_while_creating(void** state) {
    (void)state;
    struct log_scene scene = {.destroyed = -1, .resized = -1, .read = -1};
    mnn_interpreter_options_t options;
    assert_ok(mnn_interpreter_options_init(&options, sizeof options));
    options.log_level = MNN_LOG_DEBUG;
    options.log_callback = destroy_net;
    options.log_user_data = &scene;
    mnn_interpreter_t *mine = NULL, *copy;
    mnn_session_t* session = NULL;
    const int32_t two[] = {2, 1, 8, 8};
    assert_ok(mnn_interpreter_create_from_file(MNN_C_DIGITS_MODEL, &options, &mine));
    copy = scene.net = mine;
    assert_ok(mnn_session_create(mine, NULL, &session));
    assert_int_equal(scene.destroyed, MNN_OK);
    assert_fails(mnn_interpreter_destroy(&copy), MNN_ERROR_BAD_HANDLE);
    float wanted[CLASSES], got[CLASSES], pixels[PIXELS];
    reference_scores(4, wanted);
    fill_pixels(pixels, PIXELS, 4);
    classify(session, pixels, 1, got);
    assert_memory_equal(got, wanted, sizeof got);
    scene.session = session;
    scene.messages = 0;
    assert_ok(mnn_session_resize_input(session, first_input(session), two, 4));
    assert_ok(mnn_session_resize(session));
    assert_true(scene.messages > 0);
    assert_int_equal(scene.resized, MNN_ERROR_BUSY);
    assert_int_equal(scene.read, MNN_ERROR_BUSY);
    scene.session = NULL;
    assert_ok(mnn_session_destroy(&session));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_beside_runs),
        cmocka_unit_test(destroyed_while_creating),
    };
    return cmocka_run_group_tests_name("races", tests, open_net, close_net);
}
