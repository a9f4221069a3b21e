/* Models that were cut short: every length gives MNN_ERROR_TRUNCATED, from memory and from files. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

/* Strings and arrays at the end of a file are followed by zeros up to the next multiple of 4 or 8, which nothing reads.
 * */
enum { PADDING = 7 };

/* The lengths of files that are tested are multiples of this. Under wine each call for a file is a request to another
 * process, and the 60,000 files of all lengths take minutes, or far longer on a busy machine. */
#ifndef MNN_C_FILE_STEP
#define MNN_C_FILE_STEP 1
#endif

struct loads {
    size_t truncated, whole; /* how many lengths were truncated or complete */
};

/* A length gives MNN_ERROR_TRUNCATED, or the model where only padding is missing. */
static void check(mnn_status status, mnn_interpreter_t** made, size_t length, size_t size, struct loads* loads) {
    if (status == MNN_ERROR_TRUNCATED) {
        assert_true(mnn_last_error()[0] != '\0');
        assert_null(*made);
        ++loads->truncated;
        if (loads->whole) fail_msg("%zu of %zu bytes are cut short, but fewer are not", length, size);
        return;
    }
    if (status != MNN_OK || size - length > PADDING)
        fail_msg("%zu of %zu bytes give %s: %s", length, size, mnn_status_name(status), mnn_last_error());
    ++loads->whole;
    assert_ok(mnn_interpreter_destroy(made));
}

static void check_memory(const unsigned char* bytes, size_t size, size_t step) {
    struct loads loads = {0};
    const int32_t modes[] = {MNN_LOAD_COPY, MNN_LOAD_BORROW};
    for (size_t i = 0; i < 2; ++i) {
        mnn_interpreter_options_t options;
        assert_ok(mnn_interpreter_options_init(&options, sizeof options));
        options.load_mode = modes[i];
        loads.whole = 0;
        for (size_t length = 0; length < size; length += step) {
            mnn_interpreter_t* made = NULL;
            check(mnn_interpreter_create_from_memory(bytes, length, &options, &made), &made, length, size, &loads);
        }
    }
    assert_true(loads.truncated >= 2 * (size / step) - 2 * PADDING);
}

/* The same file is extended up to the next length; its age decides whether it is read completely. */
static void check_file(const unsigned char* bytes, size_t size, size_t step, int32_t mode, int is_old) {
    char path[] = "/tmp/mnn_cut_XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    mnn_interpreter_options_t options;
    assert_ok(mnn_interpreter_options_init(&options, sizeof options));
    options.load_mode = mode;
    const struct timespec times[] = {{1000000000, 0}, {1000000000, 0}};
    struct loads loads = {0};
    for (size_t length = 0, written = 0; length < size; length += step) {
        assert_int_equal(pwrite(file, bytes + written, length - written, (off_t)written), length - written);
        written = length;
        if (is_old) assert_int_equal(futimens(file, times), 0);
        mnn_interpreter_t* made = NULL;
        check(mnn_interpreter_create_from_file(path, &options, &made), &made, length, size, &loads);
    }
    assert_true(loads.truncated >= size / step - PADDING);
    close(file);
    unlink(path);
}

static void check_model(const char* path, size_t memory_step, size_t file_step) {
    size_t size = 0;
    unsigned char* bytes = read_whole_file(path, &size);
    assert_non_null(bytes);
    mnn_interpreter_t* whole = NULL;
    assert_ok(mnn_interpreter_create_from_memory(bytes, size, NULL, &whole));
    assert_ok(mnn_interpreter_destroy(&whole));
    check_memory(bytes, size, memory_step);
    file_step *= MNN_C_FILE_STEP;
    check_file(bytes, size, file_step, MNN_LOAD_CHUNKED, 0);
    check_file(bytes, size, file_step, MNN_LOAD_MAPPED, 0);
    check_file(bytes, size, file_step, MNN_LOAD_DEFAULT, 1);
    free(bytes);
}

static void every_length(void** state) {
    (void)state;
    check_model(MNN_C_CASES_FOLDER "/control__loop_counted/model.mnn", 1, 1);
    check_model(MNN_C_CASES_FOLDER "/source__types/model.mnn", 1, 1);
    check_model(MNN_C_CASES_FOLDER "/control__if_conv/model.mnn", 1, 1); /* with subgraphs */
}

static void lengths_of_larger_models(void** state) {
    (void)state;
    check_model(MNN_C_DIGITS_MODEL, 3, 13);
    check_model(MNN_C_CASES_FOLDER "/int8__conv_chain/model.mnn", 5, 17);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_length),
        cmocka_unit_test(lengths_of_larger_models),
    };
    return cmocka_run_group_tests_name("truncated_models", tests, NULL, NULL);
}
