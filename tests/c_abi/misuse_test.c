/* A table of misuse: the wrong calls of a caller, and the statuses that they return. Misuse that has its own test
 * (handles, moments, cancel, files) is not repeated here. */
#include "support.h"

#include <math.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static mnn_interpreter_t* net;
static mnn_session_t* session;
static mnn_tensor_t *input, *output;
static float pixels[PIXELS], wanted[CLASSES];

static int open_all(void** state) {
    (void)state;
    reference_scores(5, wanted);
    fill_pixels(pixels, PIXELS, 5);
    net = open_digits();
    session = open_session(net);
    input = first_input(session);
    output = first_output(session);
    assert_ok(mnn_tensor_write(input, pixels, sizeof pixels, MNN_FORMAT_NCHW));
    return 0;
}

/* The session still computes its scores after each attempt. */
static int close_all(void** state) {
    (void)state;
    float got[CLASSES];
    const int32_t dims[] = {1, 1, 8, 8};
    assert_ok(mnn_session_resize_input(session, input, dims, 4));
    assert_ok(mnn_session_resize(session));
    classify(session, pixels, 1, got);
    assert_memory_equal(got, wanted, sizeof got);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&net));
    return 0;
}

static void null_arguments(void** state) {
    (void)state;
    mnn_interpreter_t* none = UNTOUCHED_POINTER;
    float scores[CLASSES];
    assert_fails(mnn_interpreter_create_from_file(NULL, NULL, &none), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_interpreter_create_from_file(MNN_C_DIGITS_MODEL, NULL, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_interpreter_create_from_memory(NULL, 10, NULL, &none), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_session_create(NULL, NULL, &session), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_session_run(NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_tensor_write(NULL, pixels, sizeof pixels, MNN_FORMAT_NCHW), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_tensor_write(input, NULL, sizeof pixels, MNN_FORMAT_NCHW), MNN_ERROR_NULL_ARGUMENT);
    assert_ok(mnn_session_run(session));
    assert_fails(mnn_tensor_read(output, NULL, sizeof scores, MNN_FORMAT_NCHW), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_session_resize_input(session, input, NULL, 4), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_session_resize_input(session, NULL, NULL, 0), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_tensor_shape(input, NULL, 0, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_ptr_equal(none, UNTOUCHED_POINTER);
    assert_ok(mnn_session_run_with_options(session, NULL));
    assert_ok(mnn_session_destroy(NULL));
    mnn_session_t* zero = NULL;
    assert_ok(mnn_session_destroy(&zero));
}

static void before_a_run(void** state) {
    (void)state;
    float scores[CLASSES];
    void* data = NULL;
    assert_fails(mnn_tensor_read(output, scores, sizeof scores, MNN_FORMAT_NCHW), MNN_ERROR_BAD_STATE);
    assert_fails(mnn_tensor_map(output, MNN_MAP_READ, &data), MNN_ERROR_BAD_STATE);
    assert_fails(mnn_tensor_write(output, scores, sizeof scores, MNN_FORMAT_NCHW), MNN_ERROR_BAD_STATE);
    assert_ok(mnn_session_run(session));
    assert_fails(mnn_tensor_map(output, MNN_MAP_WRITE, &data), MNN_ERROR_BAD_STATE);
    assert_fails(mnn_tensor_unmap(output), MNN_ERROR_BAD_STATE);
    assert_fails(mnn_tensor_map(input, 0, &data), MNN_ERROR_INVALID_VALUE);
    assert_fails(mnn_tensor_map(input, 7, &data), MNN_ERROR_INVALID_VALUE);
}

static void wrong_sizes(void** state) {
    (void)state;
    float scores[CLASSES];
    assert_fails(mnn_tensor_write(input, pixels, sizeof pixels - 1, MNN_FORMAT_NCHW), MNN_ERROR_INPUT_DATA);
    assert_fails(mnn_tensor_write(input, pixels, sizeof pixels + 4, MNN_FORMAT_NCHW), MNN_ERROR_INPUT_DATA);
    assert_fails(mnn_tensor_write(input, pixels, SIZE_MAX, MNN_FORMAT_NCHW), MNN_ERROR_INPUT_DATA);
    assert_fails(mnn_tensor_write(input, pixels, 0, MNN_FORMAT_NCHW), MNN_ERROR_INPUT_DATA);
    assert_fails(mnn_tensor_write(input, pixels, sizeof pixels, 99), MNN_ERROR_INVALID_VALUE);
    assert_ok(mnn_session_run(session));
    assert_fails(mnn_tensor_read(output, scores, sizeof scores - 1, MNN_FORMAT_NCHW), MNN_ERROR_BUFFER_TOO_SMALL);
    assert_fails(mnn_tensor_read(output, scores, sizeof scores, -1), MNN_ERROR_INVALID_VALUE);
    /* Odd addresses are accepted. */
    unsigned char bytes[sizeof pixels + 1], result[sizeof scores + 1];
    memcpy(bytes + 1, pixels, sizeof pixels);
    assert_ok(mnn_tensor_write(input, bytes + 1, sizeof pixels, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_tensor_read(output, result + 1, sizeof scores, MNN_FORMAT_NCHW));
    assert_memory_equal(result + 1, wanted, sizeof wanted);
}

struct shape_row {
    int32_t dims[4];
    mnn_status input, resize;
};

static void odd_shapes(void** state) {
    (void)state;
    const struct shape_row rows[] = {
        {{-1, 1, 8, 8}, MNN_ERROR_BAD_RANGE, MNN_OK},
        {{0, 1, 8, 8}, MNN_OK, MNN_OK},
        {{1, 2, 8, 8}, MNN_OK, MNN_ERROR_COMPUTE_SIZE},
        {{1, 1, INT32_MAX, INT32_MAX}, MNN_OK, MNN_ERROR_OVERFLOW},
        {{INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX}, MNN_ERROR_OVERFLOW, MNN_OK},
        {{INT32_MAX, 1, 8, 8}, MNN_OK, MNN_ERROR_LIMIT_EXCEEDED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const mnn_status status = mnn_session_resize_input(session, input, rows[i].dims, 4);
        assert_int_equal(status, rows[i].input);
        if (status != MNN_OK) continue;
        const mnn_status resized = mnn_session_resize(session);
        if (resized != rows[i].resize)
            fail_msg("row %zu: %s, wanted %s: %s", i, mnn_status_name(resized), mnn_status_name(rows[i].resize),
                     mnn_last_error());
        assert_int_equal(mnn_session_run(session), resized);
    }
    const int32_t ones[MNN_MAX_RANK + 1] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    assert_fails(mnn_session_resize_input(session, input, ones, MNN_MAX_RANK + 1), MNN_ERROR_BAD_RANGE);
    const size_t ranks[] = {0, 2, MNN_MAX_RANK};
    for (size_t i = 0; i < 3; ++i) {
        assert_ok(mnn_session_resize_input(session, input, ones, ranks[i]));
        assert_fails(mnn_session_resize(session), MNN_ERROR_COMPUTE_SIZE);
    }
}

static int32_t answer(void* user_data, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors, size_t count) {
    (void)op, (void)tensors, (void)count;
    return *(int32_t*)user_data;
}

static void callback_answers(void** state) {
    (void)state;
    int32_t odd = 77, skip = MNN_OP_SKIP;
    assert_fails(run_watched(session, answer, NULL, &odd), MNN_ERROR_INVALID_VALUE);
    assert_fails(run_watched(session, NULL, answer, &skip), MNN_ERROR_INVALID_VALUE);
    assert_ok(run_watched(session, answer, NULL, &skip));
}

/* Structs that no init function has seen. */
static void garbage_structs(void** state) {
    (void)state;
    const int patterns[] = {0, 0xaa, 0xff};
    for (size_t i = 0; i < 3; ++i) {
        mnn_schedule_config_t config;
        mnn_interpreter_options_t options;
        mnn_run_options_t run;
        mnn_resize_options_t resize;
        mnn_session_t* no_session = UNTOUCHED_POINTER;
        mnn_interpreter_t* no_net = UNTOUCHED_POINTER;
        memset(&config, patterns[i], sizeof config);
        memset(&options, patterns[i], sizeof options);
        memset(&run, patterns[i], sizeof run);
        memset(&resize, patterns[i], sizeof resize);
        assert_fails(mnn_session_create(net, &config, &no_session), MNN_ERROR_VERSION_MISMATCH);
        assert_fails(mnn_interpreter_create_from_file(MNN_C_DIGITS_MODEL, &options, &no_net),
                     MNN_ERROR_VERSION_MISMATCH);
        assert_fails(mnn_session_run_with_options(session, &run), MNN_ERROR_VERSION_MISMATCH);
        assert_fails(mnn_session_resize_with_options(session, &resize), MNN_ERROR_VERSION_MISMATCH);
        assert_ptr_equal(no_session, UNTOUCHED_POINTER);
        assert_ptr_equal(no_net, UNTOUCHED_POINTER);
    }
    mnn_schedule_config_t config;
    mnn_session_t* none = UNTOUCHED_POINTER;
    memset(&config, 0, sizeof config);
    assert_fails(mnn_session_create(net, &config, &none), MNN_ERROR_VERSION_MISMATCH);
    assert_non_null(strstr(mnn_last_error(), "init")); /* the sentence names the remedy */
}

static void what_are_no_models(void** state) {
    (void)state;
    mnn_interpreter_t* none = UNTOUCHED_POINTER;
    assert_fails(mnn_interpreter_create_from_file("/nonexistent/x.mnn", NULL, &none), MNN_ERROR_FILE_NOT_EXIST);
    assert_fails(mnn_interpreter_create_from_file("", NULL, &none), MNN_ERROR_FILE_NOT_EXIST);
    assert_fails(mnn_interpreter_create_from_file(".", NULL, &none), MNN_ERROR_FILE_OPEN_FAILED);
    assert_fails(mnn_interpreter_create_from_file("/dev/null", NULL, &none), MNN_ERROR_FILE_OPEN_FAILED);
    size_t size = 0;
    unsigned char* bytes = read_whole_file(MNN_C_DIGITS_MODEL, &size);
    assert_non_null(bytes);
    const size_t cuts[] = {1, 8, 100, size / 2};
    for (size_t i = 0; i < 4; ++i)
        assert_fails(mnn_interpreter_create_from_memory(bytes, cuts[i], NULL, &none), MNN_ERROR_TRUNCATED);
    assert_fails(mnn_interpreter_create_from_memory(bytes, 0, NULL, &none), MNN_ERROR_TRUNCATED);
    assert_ptr_equal(none, UNTOUCHED_POINTER);
    free(bytes);
}

static void other_sessions_tensors(void** state) {
    (void)state;
    mnn_session_t* other = open_session(net);
    mnn_tensor_t* found = UNTOUCHED_POINTER;
    const int32_t dims[] = {1, 1, 8, 8};
    assert_fails(mnn_session_resize_input(session, first_input(other), dims, 4), MNN_ERROR_BAD_HANDLE);
    assert_fails(mnn_session_resize_input(session, output, dims, 4), MNN_ERROR_BAD_HANDLE);
    assert_fails(mnn_session_input(session, "nope", &found), MNN_ERROR_NOT_FOUND);
    assert_non_null(strstr(mnn_last_error(), "image"));
    assert_fails(mnn_session_input(session, "", &found), MNN_ERROR_NOT_FOUND);
    assert_fails(mnn_session_input_at(session, 5, &found), MNN_ERROR_BAD_INDEX);
    assert_ptr_equal(found, UNTOUCHED_POINTER);
    assert_ok(mnn_session_destroy(&other));
}

/* NaN and infinities are computed with like any other values. */
static void values_that_are_no_numbers(void** state) {
    (void)state;
    const float odd[] = {NAN, INFINITY, -INFINITY, 1e38f};
    for (size_t i = 0; i < 4; ++i) {
        float strange[PIXELS];
        for (size_t k = 0; k < PIXELS; ++k) strange[k] = odd[i];
        assert_ok(mnn_tensor_write(input, strange, sizeof strange, MNN_FORMAT_NCHW));
        assert_ok(mnn_session_run(session));
    }
}

struct racer {
    bool resizes;
    int ok, busy, other;
};

static void* race(void* data) {
    struct racer* mine = data;
    for (int i = 0; i < 200; ++i) {
        const int32_t dims[] = {1 + i % 2, 1, 8, 8};
        mnn_status status =
            mine->resizes ? mnn_session_resize_input(session, input, dims, 4) : mnn_session_run(session);
        if (mine->resizes && status == MNN_OK) status = mnn_session_resize(session);
        mine->ok += status == MNN_OK;
        mine->busy += status == MNN_ERROR_BUSY || status == MNN_ERROR_BAD_STATE;
        mine->other += status != MNN_OK && status != MNN_ERROR_BUSY && status != MNN_ERROR_BAD_STATE;
    }
    return NULL;
}

/* Two threads use one session: each call works or is refused; nothing else happens. */
static void two_threads(void** state) {
    (void)state;
    for (int pair = 0; pair < 3; ++pair) {
        struct racer racers[2] = {{.resizes = pair > 0}, {.resizes = pair > 1}};
        pthread_t threads[2];
        for (int i = 0; i < 2; ++i) assert_int_equal(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
        for (int i = 0; i < 2; ++i) assert_int_equal(pthread_join(threads[i], NULL), 0);
        for (int i = 0; i < 2; ++i) assert_int_equal(racers[i].other, 0);
        assert_true(racers[0].ok + racers[1].ok > 0);
    }
}

/* A child runs the session of its parent, and both get the same. */
static void forked(void** state) {
    (void)state;
    mnn_schedule_config_t config;
    mnn_session_t* threaded = NULL;
    assert_ok(mnn_schedule_config_init(&config, sizeof config));
    config.threads = 2;
    assert_ok(mnn_session_create(net, &config, &threaded));
    float mine[CLASSES], theirs[CLASSES];
    classify(threaded, pixels, 1, mine);
    int channel[2];
    assert_int_equal(pipe(channel), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(60);
        const bool fine = mnn_session_run(threaded) == MNN_OK &&
                          mnn_tensor_read(first_output(threaded), theirs, sizeof theirs, MNN_FORMAT_NCHW) == MNN_OK &&
                          write(channel[1], theirs, sizeof theirs) == (ssize_t)sizeof theirs &&
                          mnn_session_destroy(&threaded) == MNN_OK && mnn_session_destroy(&session) == MNN_OK &&
                          mnn_interpreter_destroy(&net) == MNN_OK;
        _exit(fine ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(read(channel[0], theirs, sizeof theirs), (ssize_t)sizeof theirs);
    assert_memory_equal(theirs, mine, sizeof mine);
    close(channel[0]);
    close(channel[1]);
    assert_ok(mnn_session_run(threaded));
    assert_ok(mnn_session_destroy(&threaded));
}

#define ROW(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)

int main(void) {
    const struct CMUnitTest tests[] = {
        ROW(null_arguments),
        ROW(before_a_run),
        ROW(wrong_sizes),
        ROW(odd_shapes),
        ROW(callback_answers),
        ROW(garbage_structs),
        ROW(what_are_no_models),
        ROW(other_sessions_tensors),
        ROW(values_that_are_no_numbers),
        ROW(two_threads),
        ROW(forked),
    };
    return cmocka_run_group_tests_name("misuse", tests, NULL, NULL);
}
