/* mnn_interpreter_release_model(): the memory that it frees, and the sessions that remain usable. */
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

#include "large_net.h"
#include "process.h"

#define EXTERNAL MNN_C_CASES_FOLDER "/weights__external/model.mnn"

enum { PADDING = 48 << 20 };

static void set_batch(mnn_session_t* session, int32_t batch) {
    int32_t dims[MNN_MAX_RANK];
    size_t rank = 0;
    assert_ok(mnn_tensor_shape(first_input(session), dims, MNN_MAX_RANK, &rank));
    dims[0] = batch;
    assert_ok(mnn_session_resize_input(session, first_input(session), dims, rank));
}

static mnn_session_t* deferred_session(mnn_interpreter_t* model) {
    mnn_schedule_config_t config = default_config();
    config.defer_planning = 1;
    mnn_session_t* session = NULL;
    assert_ok(mnn_session_create(model, &config, &session));
    return session;
}

static void count_call(void* user_data) {
    ++*(int*)user_data;
}

/* Returns the bytes of LARGE, with `padding` zeros behind them; the caller frees them. */
static unsigned char* large_bytes(size_t padding, size_t* size) {
    unsigned char* bytes = read_whole_file(LARGE, size);
    assert_non_null(bytes);
    unsigned char* padded = calloc(*size + padding, 1);
    assert_non_null(padded);
    memcpy(padded, bytes, *size);
    free(bytes);
    *size += padding;
    return padded;
}

/* Checks the place of the bytes, by mode, before and after the call. */
static void files_are_closed(void** state) {
    (void)state;
    char path[] = "/tmp/mnn_release_XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    size_t size = 0;
    unsigned char* bytes = large_bytes(0, &size);
    assert_int_equal(write(file, bytes, size), (ssize_t)size);
    close(file);
    free(bytes);
    const struct utimbuf long_ago = {.actime = 1000000000, .modtime = 1000000000};
    assert_int_equal(utime(path, &long_ago), 0); /* otherwise the file is read completely */
    const int32_t modes[] = {MNN_LOAD_DEFAULT, MNN_LOAD_MAPPED};
    for (size_t i = 0; i < 2; ++i) {
        static struct run wanted;
        mnn_interpreter_options_t options;
        assert_ok(mnn_interpreter_options_init(&options, sizeof options));
        options.load_mode = modes[i];
        mnn_interpreter_t* model = NULL;
        assert_ok(mnn_interpreter_create_from_file(path, &options, &model));
        mnn_session_t* session = open_session(model);
        work(session, &wanted);
        assert_true(modes[i] == MNN_LOAD_MAPPED ? has_mapped(path) : holds_open(path));
        assert_ok(mnn_interpreter_release_model(model));
        assert_false(holds_open(path));
        assert_false(has_mapped(path));
        assert_same(session, &wanted);
        assert_ok(mnn_session_destroy(&session));
        assert_ok(mnn_interpreter_destroy(&model));
    }
    unlink(path);
}

static void copied_bytes_are_freed(void** state) {
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* its heap keeps freed memory */
#endif
    static struct run wanted;
    size_t size = 0;
    unsigned char* bytes = large_bytes(PADDING, &size);
    mnn_interpreter_t* model = NULL;
    assert_ok(mnn_interpreter_create_from_memory(bytes, size, NULL, &model));
    free(bytes);
    mnn_session_t* session = open_session(model);
    work(session, &wanted);
    const size_t before = resident_bytes();
    assert_true(before > PADDING);
    assert_ok(mnn_interpreter_release_model(model));
    assert_true(resident_bytes() < before - PADDING * 9 / 10);
    assert_same(session, &wanted);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&model));
}

static void borrowed_bytes_go_at_once(void** state) {
    (void)state;
    static struct run wanted, more;
    int freed = 0;
    size_t size = 0;
    unsigned char* bytes = large_bytes(0, &size);
    mnn_interpreter_options_t options;
    assert_ok(mnn_interpreter_options_init(&options, sizeof options));
    options.load_mode = MNN_LOAD_BORROW;
    options.bytes_finalizer = count_call;
    options.bytes_user_data = &freed;
    mnn_interpreter_t* model = NULL;
    assert_ok(mnn_interpreter_create_from_memory(bytes, size, &options, &model));
    mnn_session_t *session = open_session(model), *deferred = deferred_session(model);
    int32_t dims[MNN_MAX_RANK];
    size_t rank = 0;
    assert_ok(mnn_tensor_shape(first_input(session), dims, MNN_MAX_RANK, &rank));
    const int32_t batch = dims[0];
    work(session, &wanted);
    set_batch(session, batch + 1);
    assert_ok(mnn_session_resize(session));
    work(session, &more);
    assert_int_equal(freed, 0);
    assert_ok(mnn_interpreter_release_model(model));
    assert_int_equal(freed, 1);
    memset(bytes, 0xff, size);
    free(bytes);

    /* Sessions run, and are resized between the kept plans. */
    for (int round = 0; round < 3; ++round) {
        assert_same(session, &more);
        set_batch(session, batch);
        assert_ok(mnn_session_resize(session));
        assert_same(session, &wanted);
        set_batch(session, batch + 1);
        assert_ok(mnn_session_resize(session));
    }
    /* This plan needs weights that are no longer prepared: those of the first session were released with it. */
    assert_ok(mnn_session_destroy(&session));
    for (int round = 0; round < 2; ++round) {
        assert_fails(mnn_session_resize(deferred), MNN_ERROR_BAD_STATE);
        assert_non_null(strstr(mnn_last_error(), "mnn_interpreter_release_model"));
        assert_fails(mnn_session_run(deferred), MNN_ERROR_BAD_STATE);
    }
    assert_ok(mnn_session_destroy(&deferred));
    assert_ok(mnn_interpreter_destroy(&model));
    assert_int_equal(freed, 1);
}

static mnn_status read_file(void* user_data, uint64_t offset, void* destination, size_t bytes) {
    ++*(int*)user_data;
    FILE* file = fopen(EXTERNAL ".weight", "rb");
    const bool read = file && fseek(file, (long)offset, SEEK_SET) == 0 && fread(destination, 1, bytes, file);
    if (file) fclose(file);
    return read ? MNN_OK : MNN_ERROR_FILE_READ_FAILED;
}

static void external_weights_go_too(void** state) {
    (void)state;
    static struct run wanted;
    int reads = 0, freed = 0;
    uint64_t parameters = 0, same = 0;
    size_t size = 0;
    free(read_whole_file(EXTERNAL ".weight", &size));
    mnn_interpreter_options_t options;
    assert_ok(mnn_interpreter_options_init(&options, sizeof options));
    options.external_weight_reader = read_file;
    options.external_weight_size = size;
    options.external_weight_user_data = &reads;
    mnn_interpreter_t* model = NULL;
    assert_ok(mnn_interpreter_create_from_file(EXTERNAL, &options, &model));
    mnn_session_t* session = open_session(model);
    work(session, &wanted);
    assert_ok(mnn_interpreter_parameter_count(model, &parameters));
    assert_true(reads > 0 && parameters > 0);
    assert_ok(mnn_interpreter_release_model(model));
    const int before = reads;
    assert_same(session, &wanted);
    assert_ok(mnn_interpreter_parameter_count(model, &same));
    assert_int_equal(parameters, same);
    assert_int_equal(reads, before);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&model));

    unsigned char* weights = read_whole_file(EXTERNAL ".weight", &size);
    assert_ok(mnn_interpreter_options_init(&options, sizeof options));
    options.external_weight_data = weights;
    options.external_weight_size = size;
    options.external_weight_mode = MNN_LOAD_BORROW;
    options.external_weight_finalizer = count_call;
    options.external_weight_user_data = &freed;
    assert_ok(mnn_interpreter_create_from_file(EXTERNAL, &options, &model));
    assert_ok(mnn_interpreter_release_model(model));
    assert_int_equal(freed, 1);
    free(weights);
    assert_ok(mnn_interpreter_destroy(&model));
    assert_int_equal(freed, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_closed),
        cmocka_unit_test(copied_bytes_are_freed),
        cmocka_unit_test(borrowed_bytes_go_at_once),
        cmocka_unit_test(external_weights_go_too),
    };
    return cmocka_run_group_tests_name("release", tests, NULL, NULL);
}
