/* mnn_interpreter_release_model_keeping(): with MNN_KEEP_WEIGHTS sessions are planned for new shapes, although the
 * bytes that the model came from are gone. */
#include <unistd.h>
#include <utime.h>

#include "large_net.h"

#define EXTERNAL MNN_C_CASES_FOLDER "/weights__external/model.mnn"

enum { FACTORS = 4 };

static struct run wanted[FACTORS];

static void count_call(void* user_data) {
    ++*(int*)user_data;
}

/* The input's declared shape times `factor`, in batch, height and width. */
static void set_factor(mnn_session_t* session, int32_t factor) {
    static const int channel = 1;
    mnn_declaration_t declared = {.struct_size = sizeof declared};
    mnn_interpreter_t* model = NULL;
    assert_ok(mnn_interpreter_create_from_file(LARGE, NULL, &model));
    assert_ok(mnn_interpreter_input_info(model, 0, &declared));
    assert_ok(mnn_interpreter_destroy(&model));
    assert_int_equal(declared.rank, 4);
    for (int i = 0; i < 4; ++i) declared.dims[i] = i == channel ? declared.dims[i] : declared.dims[i] * factor;
    assert_ok(mnn_session_resize_input(session, first_input(session), declared.dims, 4));
}

/* Computes the expected results for each shape, in sessions of a model that was not released. */
static void compute_wanted(void) {
    if (wanted[0].count > 0) return;
    mnn_interpreter_t* model = NULL;
    assert_ok(mnn_interpreter_create_from_file(LARGE, NULL, &model));
    for (int32_t i = 0; i < FACTORS; ++i) {
        mnn_session_t* session = open_session(model);
        set_factor(session, i + 1);
        assert_ok(mnn_session_resize(session));
        work(session, &wanted[i]);
        assert_ok(mnn_session_destroy(&session));
    }
    assert_ok(mnn_interpreter_destroy(&model));
}

/* Returns for how many new shapes a resize succeeds. The results have to be right for each of them. */
static int shapes_that_work(mnn_session_t* session) {
    int working = 0;
    for (int32_t i = 1; i < FACTORS; ++i) {
        set_factor(session, i + 1);
        if (mnn_session_resize(session) != MNN_OK) continue;
        assert_same(session, &wanted[i]);
        ++working;
    }
    set_factor(session, 1);
    assert_ok(mnn_session_resize(session));
    assert_same(session, &wanted[0]);
    return working;
}

static mnn_session_t* deferred_session(mnn_interpreter_t* model) {
    mnn_schedule_config_t config;
    assert_ok(mnn_schedule_config_init(&config, sizeof config));
    config.defer_planning = 1;
    mnn_session_t* session = NULL;
    assert_ok(mnn_session_create(model, &config, &session));
    return session;
}

static void files_go_and_shapes_come(void** state) {
    (void)state;
    compute_wanted();
    const int32_t modes[] = {MNN_LOAD_DEFAULT, MNN_LOAD_MAPPED, MNN_LOAD_CHUNKED};
    for (size_t i = 0; i < 3; ++i) {
        char path[] = "/tmp/mnn_keep_XXXXXX";
        const int file = mkstemp(path);
        assert_true(file >= 0);
        size_t size = 0;
        unsigned char* bytes = read_whole_file(LARGE, &size);
        assert_int_equal(write(file, bytes, size), (ssize_t)size);
        const struct utimbuf long_ago = {.actime = 1000000000, .modtime = 1000000000};
        assert_int_equal(utime(path, &long_ago), 0); /* else the file is read as a whole */
        mnn_interpreter_options_t options;
        assert_ok(mnn_interpreter_options_init(&options, sizeof options));
        options.load_mode = modes[i];
        mnn_interpreter_t* model = NULL;
        assert_ok(mnn_interpreter_create_from_file(path, &options, &model));
        mnn_session_t *session = open_session(model), *deferred = deferred_session(model), *none = NULL;
        assert_ok(mnn_interpreter_release_model_keeping(model, MNN_KEEP_WEIGHTS));
        /* Another content does no harm: the file is not read again. */
        memset(bytes, 0xff, size);
        assert_int_equal(pwrite(file, bytes, size, 0), (ssize_t)size);
        close(file);
        unlink(path);
        free(bytes);
        assert_int_equal(shapes_that_work(session), FACTORS - 1);
        set_factor(deferred, 3);
        assert_ok(mnn_session_resize(deferred));
        assert_same(deferred, &wanted[2]);
        assert_fails(mnn_session_create(model, NULL, &none), MNN_ERROR_BAD_STATE);
        assert_ok(mnn_session_destroy(&deferred));
        assert_ok(mnn_session_destroy(&session));
        assert_ok(mnn_interpreter_destroy(&model));
    }
}

static void bytes_in_memory(void** state) {
    (void)state;
    compute_wanted();
    for (int borrowed = 0; borrowed < 2; ++borrowed) {
        int freed = 0;
        size_t size = 0;
        unsigned char* bytes = read_whole_file(LARGE, &size);
        mnn_interpreter_options_t options;
        assert_ok(mnn_interpreter_options_init(&options, sizeof options));
        options.load_mode = borrowed ? MNN_LOAD_BORROW : MNN_LOAD_COPY;
        options.bytes_finalizer = borrowed ? count_call : NULL;
        options.bytes_user_data = &freed;
        mnn_interpreter_t* model = NULL;
        assert_ok(mnn_interpreter_create_from_memory(bytes, size, &options, &model));
        mnn_session_t* session = open_session(model);
        assert_ok(mnn_interpreter_release_model_keeping(model, MNN_KEEP_WEIGHTS));
        assert_int_equal(freed, borrowed);
        memset(bytes, 0xff, size);
        free(bytes);
        assert_int_equal(shapes_that_work(session), FACTORS - 1);
        assert_ok(mnn_session_destroy(&session));
        assert_ok(mnn_interpreter_destroy(&model));
        assert_int_equal(freed, borrowed);
    }
}

/* A second release keeps no more than the first one left, and KEEP_NOTHING frees what KEEP_WEIGHTS kept. */
static void one_way_after_the_other(void** state) {
    (void)state;
    compute_wanted();
    const int32_t ways[][2] = {{MNN_KEEP_WEIGHTS, MNN_KEEP_NOTHING},
                               {MNN_KEEP_NOTHING, MNN_KEEP_WEIGHTS},
                               {MNN_KEEP_WEIGHTS, MNN_KEEP_WEIGHTS}};
    for (size_t i = 0; i < 3; ++i) {
        mnn_interpreter_t* model = NULL;
        assert_ok(mnn_interpreter_create_from_file(LARGE, NULL, &model));
        mnn_session_t* session = open_session(model);
        assert_fails(mnn_interpreter_release_model_keeping(model, 2), MNN_ERROR_INVALID_VALUE);
        assert_fails(mnn_interpreter_release_model_keeping(model, -1), MNN_ERROR_INVALID_VALUE);
        for (size_t k = 0; k < 2; ++k) assert_ok(mnn_interpreter_release_model_keeping(model, ways[i][k]));
        if (i == 2)
            assert_int_equal(shapes_that_work(session), FACTORS - 1);
        else
            assert_in_range(shapes_that_work(session), 0, FACTORS - 2);
        assert_ok(mnn_session_destroy(&session));
        assert_ok(mnn_interpreter_destroy(&model));
    }
}

struct reader {
    int reads, finalized;
    mnn_status answer;
};

static mnn_status read_weights(void* user_data, uint64_t offset, void* destination, size_t bytes) {
    struct reader* reader = user_data;
    ++reader->reads;
    if (reader->answer != MNN_OK) return reader->answer;
    FILE* file = fopen(EXTERNAL ".weight", "rb");
    const bool read = file && fseek(file, (long)offset, SEEK_SET) == 0 && fread(destination, 1, bytes, file) == bytes;
    if (file) fclose(file);
    return read ? MNN_OK : MNN_ERROR_FILE_READ_FAILED;
}

static void finalize_reader(void* user_data) {
    ++((struct reader*)user_data)->finalized;
}

/* Sessions that are planned for the first time behind the release read all weights from what is kept. */
static void external_weights(void** state) {
    (void)state;
    static struct run expected;
    struct reader reader = {0, 0, MNN_OK};
    size_t size = 0;
    free(read_whole_file(EXTERNAL ".weight", &size));
    mnn_interpreter_options_t options;
    assert_ok(mnn_interpreter_options_init(&options, sizeof options));
    options.external_weight_reader = read_weights;
    options.external_weight_size = size;
    options.external_weight_user_data = &reader;
    options.external_weight_finalizer = finalize_reader;
    mnn_interpreter_t* model = NULL;
    assert_ok(mnn_interpreter_create_from_file(EXTERNAL, NULL, &model)); /* reads the file beside it */
    mnn_session_t* session = open_session(model);
    work(session, &expected);
    assert_ok(mnn_session_destroy(&session));
    session = deferred_session(model);
    assert_ok(mnn_interpreter_release_model_keeping(model, MNN_KEEP_WEIGHTS));
    assert_ok(mnn_session_resize(session));
    assert_same(session, &expected);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&model));

    assert_ok(mnn_interpreter_create_from_file(EXTERNAL, &options, &model));
    session = deferred_session(model);
    /* An error of the reader ends the call, which has changed nothing then. */
    reader.answer = MNN_ERROR_FILE_READ_FAILED;
    assert_fails(mnn_interpreter_release_model_keeping(model, MNN_KEEP_WEIGHTS), MNN_ERROR_FILE_READ_FAILED);
    assert_int_equal(reader.finalized, 0);
    reader.answer = MNN_OK;
    mnn_session_t* more = open_session(model);
    assert_ok(mnn_session_destroy(&more));
    assert_ok(mnn_interpreter_release_model_keeping(model, MNN_KEEP_WEIGHTS));
    assert_int_equal(reader.finalized, 1);
    const int reads = reader.reads;
    assert_ok(mnn_session_resize(session));
    assert_same(session, &expected);
    assert_int_equal(reader.reads, reads);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&model));
    assert_int_equal(reader.finalized, 1);
}

/* A file that has changed in the meantime is an error. */
static void a_changed_file(void** state) {
    (void)state;
    char path[] = "/tmp/mnn_keep_XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    size_t size = 0;
    unsigned char* bytes = read_whole_file(LARGE, &size);
    assert_int_equal(write(file, bytes, size), (ssize_t)size);
    const struct utimbuf long_ago = {.actime = 1000000000, .modtime = 1000000000};
    assert_int_equal(utime(path, &long_ago), 0);
    mnn_interpreter_t* model = NULL;
    assert_ok(mnn_interpreter_create_from_file(path, NULL, &model));
    mnn_session_t* session = open_session(model);
    assert_int_equal(pwrite(file, bytes, size, 0), (ssize_t)size);
    assert_fails(mnn_interpreter_release_model_keeping(model, MNN_KEEP_WEIGHTS), MNN_ERROR_FILE_CHANGED);
    size_t needed = 0;
    /* Not MNN_ERROR_BAD_STATE: nothing is released. */
    assert_fails(mnn_interpreter_model_bytes(model, bytes, size, &needed), MNN_ERROR_FILE_CHANGED);
    assert_ok(mnn_session_run(session));
    close(file);
    unlink(path);
    free(bytes);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&model));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_go_and_shapes_come), cmocka_unit_test(bytes_in_memory),
        cmocka_unit_test(one_way_after_the_other),  cmocka_unit_test(external_weights),
        cmocka_unit_test(a_changed_file),
    };
    return cmocka_run_group_tests_name("release_keeping", tests, NULL, NULL);
}
