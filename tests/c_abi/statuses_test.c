/* Statuses that no other program here provokes: models and weight files that change, are missing or are cut while an
 * interpreter uses them, files that cannot be written, shapes that are fixed. tests/docs/statuses.py compares the
 * statuses of all these programs with the comments of the header. */
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

enum { PATH = 160 };

static char folder[] = "/tmp/mnn_statuses_XXXXXX";
static char model[PATH], weights[PATH];

static void write_file(const char* path, const unsigned char* bytes, size_t size) {
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, size), size);
    /* The time is so old that every later change is visible. */
    const struct timespec times[] = {{1000000000, 0}, {1000000000, 0}};
    assert_int_equal(futimens(file, times), 0);
    close(file);
}

static void copy_file(const char* from, const char* to) {
    size_t size = 0;
    unsigned char* bytes = read_whole_file(from, &size);
    assert_non_null(bytes);
    write_file(to, bytes, size);
    free(bytes);
}

static void touch(const char* path) {
    assert_int_equal(utimensat(AT_FDCWD, path, NULL, 0), 0);
}

static mnn_interpreter_t* open_model(void) {
    mnn_interpreter_t* net = NULL;
    assert_ok(mnn_interpreter_create_from_file(model, NULL, &net));
    return net;
}

static void assert_no_session(mnn_interpreter_t* net, mnn_status wanted) {
    mnn_session_t* session = UNTOUCHED_POINTER;
    assert_fails(mnn_session_create(net, NULL, &session), wanted);
    assert_ptr_equal(session, UNTOUCHED_POINTER);
}

/* Weights of more than 8 KiB stay in the file. */
static void a_model_that_changes(void** state) {
    (void)state;
    copy_file(MNN_C_CASES_FOLDER "/convolution__3x3_wide/model.mnn", model);
    mnn_interpreter_t* net = open_model();
    touch(model);
    size_t size = 0;
    assert_no_session(net, MNN_ERROR_FILE_CHANGED);
    assert_ok(mnn_interpreter_model_bytes(net, NULL, 0, &size));
    unsigned char* bytes = malloc(size);
    assert_non_null(bytes);
    assert_fails(mnn_interpreter_model_bytes(net, bytes, size, &size), MNN_ERROR_FILE_CHANGED);
    free(bytes);
    assert_fails(mnn_interpreter_save(net, model), MNN_ERROR_FILE_CHANGED);
    assert_ok(mnn_interpreter_destroy(&net));
    unlink(model);
}

static void assert_no_model(mnn_status wanted) {
    mnn_interpreter_t* net = UNTOUCHED_POINTER;
    assert_fails(mnn_interpreter_create_from_file(model, NULL, &net), wanted);
    assert_ptr_equal(net, UNTOUCHED_POINTER);
}

/* Constants of the graph are in it, too. */
static void a_weight_file_that_is_wrong(void** state) {
    (void)state;
    copy_file(MNN_C_CASES_FOLDER "/weights__external/model.mnn", model);
    assert_no_model(MNN_ERROR_FILE_NOT_EXIST);
    assert_int_equal(mkdir(weights, 0700), 0);
    assert_no_model(MNN_ERROR_FILE_OPEN_FAILED);
    rmdir(weights);
    write_file(weights, (const unsigned char*)"short", 5);
    assert_no_model(MNN_ERROR_TRUNCATED);

    copy_file(MNN_C_CASES_FOLDER "/weights__external/model.mnn.weight", weights);
    mnn_interpreter_t* net = open_model();
    mnn_session_t *session = open_session(net), *second = NULL;
    touch(weights);
    assert_ok(mnn_session_create(net, NULL, &second)); /* shares the weights that the first one has read */
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_session_destroy(&second));
    assert_no_session(net, MNN_ERROR_FILE_CHANGED);
    assert_ok(mnn_interpreter_destroy(&net));
    unlink(weights);
    unlink(model);
}

/* Beyond the limit on the size of files nothing is written, and the process continues. */
static void files_that_cannot_be_written(void** state) {
    (void)state;
    mnn_interpreter_t* net = open_digits();
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 64;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const mnn_status saved = mnn_interpreter_save(net, model);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(saved, MNN_ERROR_FILE_WRITE_FAILED);
    assert_int_equal(access(model, F_OK), -1);
    assert_ok(mnn_interpreter_destroy(&net));
}

static void shapes_that_are_fixed(void** state) {
    (void)state;
    mnn_interpreter_t* net = NULL;
    assert_ok(mnn_interpreter_create_from_file(MNN_C_CASES_FOLDER "/raster__static_model/model.mnn", NULL, &net));
    mnn_session_t* session = open_session(net);
    const int32_t dims[] = {7};
    assert_fails(mnn_session_resize_input(session, first_input(session), dims, 1), MNN_ERROR_NOT_SUPPORTED);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&net));
}

/* Halves converted to another layout need memory. */
static void a_binding_that_needs_memory(void** state) {
    (void)state;
    mnn_interpreter_t* net = NULL;
    assert_ok(mnn_interpreter_create_from_file(MNN_C_NETS_FOLDER "/halves.mnn", NULL, &net));
    mnn_session_t* session = open_session(net);
    const mnn_statistics_t memory = statistics_of(session);
    assert_ok(mnn_session_destroy(&session));
    mnn_schedule_config_t config;
    assert_ok(mnn_schedule_config_init(&config, sizeof config));
    config.max_memory_bytes = memory.peak_memory_bytes;
    assert_ok(mnn_session_create(net, &config, &session));
    static unsigned char values[4096];
    size_t size = 0;
    mnn_tensor_t* input = first_input(session);
    assert_ok(mnn_tensor_byte_size(input, MNN_FORMAT_NC4HW4, &size));
    assert_true(size <= sizeof values);
    assert_fails(mnn_session_bind_input(session, input, values, size, MNN_FORMAT_NC4HW4), MNN_ERROR_LIMIT_EXCEEDED);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&net));
}

static int begin(void** state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(model, PATH, "%s/model.mnn", folder);
    snprintf(weights, PATH, "%s/model.mnn.weight", folder);
    return 0;
}

static int end(void** state) {
    (void)state;
    return rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_that_changes),         cmocka_unit_test(a_weight_file_that_is_wrong),
        cmocka_unit_test(files_that_cannot_be_written), cmocka_unit_test(shapes_that_are_fixed),
        cmocka_unit_test(a_binding_that_needs_memory),
    };
    return cmocka_run_group_tests_name("statuses", tests, begin, end);
}
