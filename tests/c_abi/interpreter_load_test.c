/* mnn_interpreter_create_*: models from files and from memory, and the options of loading. */
#include "support.h"

#include <unistd.h>

static unsigned char* model;
static size_t model_size;

static int load_model(void** state) {
    (void)state;
    model = read_whole_file(MNN_C_DIGITS_MODEL, &model_size);
    return model ? 0 : -1;
}

static int free_model(void** state) {
    (void)state;
    free(model);
    return 0;
}

/* Runs a net once and compares with a session of the plainly loaded file. */
static void assert_works(mnn_interpreter_t* net) {
    float pixels[PIXELS], wanted[CLASSES], got[CLASSES];
    reference_scores(3, wanted);
    fill_pixels(pixels, PIXELS, 3);
    mnn_session_t* session = open_session(net);
    classify(session, pixels, 1, got);
    assert_memory_equal(got, wanted, sizeof got);
    assert_ok(mnn_session_destroy(&session));
}

/* The size of the options' first version. */
enum { FIRST_SIZE = offsetof(mnn_interpreter_options_t, attention_scale) };

static void options_init(void** state) {
    (void)state;
    struct {
        mnn_interpreter_options_t options;
        unsigned char later[32];
    } mine;
    const mnn_interpreter_options_t zero = {.struct_size = sizeof zero};
    memset(&mine, 0x5a, sizeof mine);
    assert_ok(mnn_interpreter_options_init(&mine.options, sizeof mine.options));
    assert_memory_equal(&mine.options, &zero, sizeof zero);
    for (size_t i = 0; i < sizeof mine.later; ++i) assert_int_equal(mine.later[i], 0x5a);
    /* In a later version's struct, all of it is cleared. */
    assert_ok(mnn_interpreter_options_init(&mine.options, sizeof mine));
    assert_int_equal(mine.options.struct_size, sizeof mine);
    for (size_t i = 0; i < sizeof mine.later; ++i) assert_int_equal(mine.later[i], 0);
    memset(&mine, 0x5a, sizeof mine);
    const size_t small[] = {0, 1, sizeof(size_t), FIRST_SIZE - 1};
    for (size_t i = 0; i < sizeof small / sizeof *small; ++i)
        assert_fails(mnn_interpreter_options_init(&mine.options, small[i]), MNN_ERROR_VERSION_MISMATCH);
    for (size_t i = 0; i < sizeof mine; ++i) assert_int_equal(((unsigned char*)&mine)[i], 0x5a);
    assert_fails(mnn_interpreter_options_init(NULL, sizeof zero), MNN_ERROR_NULL_ARGUMENT);
}

/* ONNX models are another format: the sentence names the converter for them. */
static void onnx_models_are_recognised(void** state) {
    (void)state;
    /* IR version 9, producer "tests", a graph of 4 bytes; without the version; with a graph that is a number; cut. */
    const unsigned char onnx[] = {8, 9, 18, 5, 't', 'e', 's', 't', 's', 58, 4, 18, 2, 'g', 'g'};
    const unsigned char other[] = {18, 5, 't', 'e', 's', 't', 's', 58, 4, 18, 2, 'g', 'g', 0, 0};
    const unsigned char number[] = {8, 9, 18, 5, 't', 'e', 's', 't', 's', 56, 4, 0, 0, 0, 0};
    mnn_interpreter_t* net = NULL;
    assert_fails(mnn_interpreter_create_from_memory(onnx, sizeof onnx, NULL, &net), MNN_ERROR_BAD_FORMAT);
    assert_non_null(strstr(mnn_last_error(), "mnn convert"));
    assert_non_null(strstr(mnn_last_error(), "mnn_onnx_convert_file()"));
    assert_fails(mnn_interpreter_create_from_memory(other, sizeof other, NULL, &net), MNN_ERROR_BAD_FORMAT);
    assert_null(strstr(mnn_last_error(), "ONNX"));
    assert_fails(mnn_interpreter_create_from_memory(number, sizeof number, NULL, &net), MNN_ERROR_BAD_FORMAT);
    assert_null(strstr(mnn_last_error(), "ONNX"));
    assert_fails(mnn_interpreter_create_from_memory(onnx, 9, NULL, &net), MNN_ERROR_BAD_FORMAT);
    assert_null(strstr(mnn_last_error(), "ONNX"));

    char path[] = "mnn_c_onnx_XXXXXX";
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, onnx, sizeof onnx), (ssize_t)sizeof onnx);
    assert_int_equal(close(descriptor), 0);
    assert_fails(mnn_interpreter_create_from_file(path, NULL, &net), MNN_ERROR_BAD_FORMAT);
    assert_non_null(strstr(mnn_last_error(), "ONNX"));
    assert_non_null(strstr(mnn_last_error(), path));
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(other, 1, sizeof other, file), sizeof other);
    assert_int_equal(fclose(file), 0);
    assert_fails(mnn_interpreter_create_from_file(path, NULL, &net), MNN_ERROR_BAD_FORMAT);
    assert_non_null(strstr(mnn_last_error(), path));
    assert_int_equal(unlink(path), 0);
    assert_null(net);
}

static void load_from_file(void** state) {
    (void)state;
    const int32_t modes[] = {MNN_LOAD_DEFAULT, MNN_LOAD_MAPPED, MNN_LOAD_CHUNKED};
    for (size_t i = 0; i < 3; ++i) {
        mnn_interpreter_options_t options;
        assert_ok(mnn_interpreter_options_init(&options, sizeof options));
        options.load_mode = modes[i];
        mnn_interpreter_t* net = NULL;
        assert_ok(mnn_interpreter_create_from_file(MNN_C_DIGITS_MODEL, &options, &net));
        assert_works(net);
        assert_ok(mnn_interpreter_destroy(&net));
        assert_null(net);
    }
}

/* MNN_LOAD_CHUNKED: the file may change and be removed after the call. */
static void chunked_file_may_change(void** state) {
    (void)state;
    char path[] = "mnn_c_chunked_XXXXXX";
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, model, model_size), (ssize_t)model_size);
    mnn_interpreter_options_t options;
    assert_ok(mnn_interpreter_options_init(&options, sizeof options));
    options.load_mode = MNN_LOAD_CHUNKED;
    mnn_interpreter_t* net = NULL;
    const mnn_status status = mnn_interpreter_create_from_file(path, &options, &net);
    const int cut = ftruncate(descriptor, 0);
    close(descriptor);
    unlink(path);
    assert_ok(status);
    assert_int_equal(cut, 0);
    assert_works(net);
    assert_ok(mnn_interpreter_destroy(&net));
}

/* A mapped file may be unlinked: the mapping keeps it. */
static void mapped_file_may_be_unlinked(void** state) {
    (void)state;
    char path[] = "mnn_c_mapped_XXXXXX";
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, model, model_size), (ssize_t)model_size);
    close(descriptor);
    mnn_interpreter_t* net = NULL;
    const mnn_status status = mnn_interpreter_create_from_file(path, NULL, &net);
    unlink(path);
    assert_ok(status);
    assert_works(net);
    assert_ok(mnn_interpreter_destroy(&net));
}

static void load_from_memory(void** state) {
    (void)state;
    /* One allocation is also at an odd address: each mode accepts unaligned bytes. */
    const int32_t modes[] = {MNN_LOAD_DEFAULT, MNN_LOAD_COPY, MNN_LOAD_BORROW};
    for (size_t i = 0; i < 3; ++i)
        for (size_t shift = 0; shift < 2; ++shift) {
            unsigned char* bytes = malloc(model_size + shift);
            assert_non_null(bytes);
            memcpy(bytes + shift, model, model_size);
            mnn_interpreter_options_t options;
            assert_ok(mnn_interpreter_options_init(&options, sizeof options));
            options.load_mode = modes[i];
            mnn_interpreter_t* net = NULL;
            assert_ok(mnn_interpreter_create_from_memory(bytes + shift, model_size, &options, &net));
            if (modes[i] != MNN_LOAD_BORROW) {
                memset(bytes, 0xff, model_size + shift);
                free(bytes);
            }
            assert_works(net);
            assert_ok(mnn_interpreter_destroy(&net));
            if (modes[i] == MNN_LOAD_BORROW) {
                assert_memory_equal(bytes + shift, model, model_size); /* never written */
                free(bytes);
            }
        }
    mnn_interpreter_t* net = NULL;
    assert_ok(mnn_interpreter_create_from_memory(model, model_size, NULL, &net));
    assert_works(net);
    assert_ok(mnn_interpreter_destroy(&net));
}

static void files_that_do_not_load(void** state) {
    (void)state;
    mnn_interpreter_t* net = UNTOUCHED_POINTER;
    assert_fails(mnn_interpreter_create_from_file("no-such-file.mnn", NULL, &net), MNN_ERROR_FILE_NOT_EXIST);
    assert_fails(mnn_interpreter_create_from_file("", NULL, &net), MNN_ERROR_FILE_NOT_EXIST);
    assert_fails(mnn_interpreter_create_from_file(".", NULL, &net), MNN_ERROR_FILE_OPEN_FAILED);
    assert_fails(mnn_interpreter_create_from_file("/dev/null", NULL, &net), MNN_ERROR_FILE_OPEN_FAILED);
    assert_fails(mnn_interpreter_create_from_file(MNN_C_DIGITS_MODEL "/x", NULL, &net), MNN_ERROR_FILE_NOT_EXIST);
    assert_fails(mnn_interpreter_create_from_file(NULL, NULL, &net), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_interpreter_create_from_file(MNN_C_DIGITS_MODEL, NULL, NULL), MNN_ERROR_NULL_ARGUMENT);
    /* Files that are no models: an empty file, and text. Both ways of reading give the same status. */
    const int32_t modes[] = {MNN_LOAD_MAPPED, MNN_LOAD_CHUNKED};
    for (size_t i = 0; i < 2; ++i) {
        mnn_interpreter_options_t options;
        assert_ok(mnn_interpreter_options_init(&options, sizeof options));
        options.load_mode = modes[i];
        char path[] = "mnn_c_broken_XXXXXX";
        const int descriptor = mkstemp(path);
        assert_true(descriptor >= 0);
        const mnn_status empty = mnn_interpreter_create_from_file(path, &options, &net);
        const char text[] = "This is a letter and no neural network. This is a letter and no neural network.";
        const ssize_t written = write(descriptor, text, sizeof text);
        const mnn_status letter = mnn_interpreter_create_from_file(path, &options, &net);
        close(descriptor);
        unlink(path);
        assert_fails(empty, MNN_ERROR_TRUNCATED);
        assert_int_equal(written, sizeof text);
        assert_fails(letter, MNN_ERROR_BAD_FORMAT);
    }
    assert_ptr_equal(net, UNTOUCHED_POINTER);
}

static void memory_that_does_not_load(void** state) {
    (void)state;
    mnn_interpreter_t* net = UNTOUCHED_POINTER;
    assert_fails(mnn_interpreter_create_from_memory(NULL, 0, NULL, &net), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_interpreter_create_from_memory(NULL, model_size, NULL, &net), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_interpreter_create_from_memory(model, model_size, NULL, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_interpreter_create_from_memory(model, 0, NULL, &net), MNN_ERROR_TRUNCATED);
    const size_t lengths[] = {1, 3, 4, 7, 8, 64, 500, 1000, model_size / 2, model_size - 16};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
        unsigned char* part = malloc(lengths[i]);
        assert_non_null(part);
        memcpy(part, model, lengths[i]);
        const mnn_status status = mnn_interpreter_create_from_memory(part, lengths[i], NULL, &net);
        free(part);
        if (status != MNN_ERROR_TRUNCATED)
            fail_msg("the first %zu bytes give %s: %s", lengths[i], mnn_status_name(status), mnn_last_error());
        assert_true(mnn_last_error()[0] != '\0');
    }
    assert_ptr_equal(net, UNTOUCHED_POINTER);
}

static void wrong_options(void** state) {
    (void)state;
    mnn_interpreter_t* net = UNTOUCHED_POINTER;
    mnn_interpreter_options_t options;
    const int32_t not_for_files[] = {MNN_LOAD_COPY, MNN_LOAD_BORROW, 5, -1, INT32_MIN, INT32_MAX};
    const int32_t not_for_memory[] = {MNN_LOAD_MAPPED, MNN_LOAD_CHUNKED, 5, -1, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < 6; ++i) {
        assert_ok(mnn_interpreter_options_init(&options, sizeof options));
        options.load_mode = not_for_files[i];
        assert_fails(mnn_interpreter_create_from_file(MNN_C_DIGITS_MODEL, &options, &net), MNN_ERROR_INVALID_VALUE);
        options.load_mode = not_for_memory[i];
        assert_fails(mnn_interpreter_create_from_memory(model, model_size, &options, &net), MNN_ERROR_INVALID_VALUE);
    }
    assert_ok(mnn_interpreter_options_init(&options, sizeof options));
    const int32_t levels[] = {-1, 5, INT32_MAX};
    for (size_t i = 0; i < 3; ++i) {
        options.log_level = levels[i];
        assert_fails(mnn_interpreter_create_from_file(MNN_C_DIGITS_MODEL, &options, &net), MNN_ERROR_INVALID_VALUE);
    }
    assert_ok(mnn_interpreter_options_init(&options, sizeof options));
    const size_t wrong[] = {0, sizeof(size_t), FIRST_SIZE - 1, 4097, SIZE_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        options.struct_size = wrong[i];
        assert_fails(mnn_interpreter_create_from_file(MNN_C_DIGITS_MODEL, &options, &net), MNN_ERROR_VERSION_MISMATCH);
        assert_fails(mnn_interpreter_create_from_memory(model, model_size, &options, &net), MNN_ERROR_VERSION_MISMATCH);
    }
    assert_ptr_equal(net, UNTOUCHED_POINTER);
    /* In a struct of a later version, known fields are used, and unknown ones must be zero. */
    struct {
        mnn_interpreter_options_t options;
        unsigned char later[32];
    } longer;
    assert_ok(mnn_interpreter_options_init(&longer.options, sizeof longer));
    net = NULL;
    assert_ok(mnn_interpreter_create_from_file(MNN_C_DIGITS_MODEL, &longer.options, &net));
    assert_ok(mnn_interpreter_destroy(&net));
    for (size_t i = 0; i < sizeof longer.later; i += 31) {
        longer.later[i] = 1;
        assert_fails(mnn_interpreter_create_from_file(MNN_C_DIGITS_MODEL, &longer.options, &net),
                     MNN_ERROR_VERSION_MISMATCH);
        longer.later[i] = 0;
    }
    longer.options.load_mode = MNN_LOAD_COPY;
    assert_fails(mnn_interpreter_create_from_file(MNN_C_DIGITS_MODEL, &longer.options, &net), MNN_ERROR_INVALID_VALUE);
}

/* The demo model has no external weights, so the path is not used. tests/unit/external_file_test.cpp has a model that
 * needs them. */
static void unneeded_external_weights(void** state) {
    (void)state;
    mnn_interpreter_options_t options;
    assert_ok(mnn_interpreter_options_init(&options, sizeof options));
    options.external_weight_path = "no-such-file.weight";
    mnn_interpreter_t* net = NULL;
    assert_ok(mnn_interpreter_create_from_file(MNN_C_DIGITS_MODEL, &options, &net));
    assert_works(net);
    assert_ok(mnn_interpreter_destroy(&net));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_init),
        cmocka_unit_test(load_from_file),
        cmocka_unit_test(onnx_models_are_recognised),
        cmocka_unit_test(chunked_file_may_change),
        cmocka_unit_test(mapped_file_may_be_unlinked),
        cmocka_unit_test(load_from_memory),
        cmocka_unit_test(files_that_do_not_load),
        cmocka_unit_test(memory_that_does_not_load),
        cmocka_unit_test(wrong_options),
        cmocka_unit_test(unneeded_external_weights),
    };
    return cmocka_run_group_tests_name("interpreter_load", tests, load_model, free_model);
}
