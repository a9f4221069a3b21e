/* Constants that a session has written, saved with the model. */
#include <unistd.h>

#include "constants.h"

static unsigned char* bytes_of(mnn_interpreter_t* model, size_t* size) {
    assert_ok(mnn_interpreter_model_bytes(model, NULL, 0, size));
    unsigned char* bytes = malloc(*size);
    assert_non_null(bytes);
    assert_fails(mnn_interpreter_model_bytes(model, bytes, *size - 1, size), MNN_ERROR_BUFFER_TOO_SMALL);
    assert_ok(mnn_interpreter_model_bytes(model, bytes, *size, size));
    return bytes;
}

/* A saved model gives the same results, bit for bit; a model without changes is saved unchanged. */
static void check_saving(const char* name) {
    enum { MAX_VALUES = 1024 };
    static float wanted[MAX_VALUES], got[MAX_VALUES];
    char path[] = "/tmp/mnn_constants_XXXXXX", original[4096];
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    mnn_interpreter_t *model = open_case(name), *saved = NULL;
    mnn_session_t *writer = open_session(model), *reader = NULL;
    snprintf(original, sizeof original, MNN_C_CASES_FOLDER "/%s/model.mnn", name);
    size_t size = 0, same = 0;
    unsigned char *file_bytes = read_whole_file(original, &size), *bytes = bytes_of(model, &same);
    assert_int_equal(size, same);
    assert_memory_equal(bytes, file_bytes, size);
    free(bytes);

    scale_constants(writer, 2);
    assert_ok(mnn_session_resize(writer));
    const size_t count = products(writer, wanted, MAX_VALUES);
    assert_ok(mnn_interpreter_update_constants(model, writer));
    assert_ok(mnn_interpreter_save(model, path));
    bytes = read_whole_file(path, &same);
    assert_int_equal(same, size);
    assert_memory_not_equal(bytes, file_bytes, size);
    free(bytes);
    assert_ok(mnn_interpreter_create_from_file(path, NULL, &saved));
    reader = open_session(saved);
    assert_int_equal(products(reader, got, MAX_VALUES), count);
    assert_memory_equal(got, wanted, count * sizeof *got);

    /* It is saved again, into the file that is in use. */
    scale_constants(reader, 2);
    assert_ok(mnn_session_resize(reader));
    assert_ok(mnn_interpreter_update_constants(saved, reader));
    assert_ok(mnn_interpreter_save(saved, path));
    products(reader, wanted, MAX_VALUES);
    assert_ok(mnn_session_destroy(&reader));
    assert_ok(mnn_interpreter_destroy(&saved));
    assert_ok(mnn_interpreter_create_from_file(path, NULL, &saved));
    reader = open_session(saved);
    products(reader, got, MAX_VALUES);
    assert_memory_equal(got, wanted, count * sizeof *got);
    free(file_bytes);
    assert_ok(mnn_session_destroy(&reader));
    assert_ok(mnn_session_destroy(&writer));
    assert_ok(mnn_interpreter_destroy(&saved));
    assert_ok(mnn_interpreter_destroy(&model));
    unlink(path);
}

static void saving(void** state) {
    (void)state;
    check_saving("matmul__constant_right");
    check_saving("source__packed_constants");
}

static void saving_every_type(void** state) {
    (void)state;
    char path[] = "/tmp/mnn_constants_XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    mnn_interpreter_t *types = open_case("source__types"), *saved = NULL;
    mnn_session_t* session = open_session(types);
    double written[KINDS][VALUES];
    write_constants(session, 5, written);
    assert_ok(mnn_session_resize(session));
    assert_ok(mnn_interpreter_update_constants(types, session));
    assert_ok(mnn_interpreter_save(types, path));
    assert_ok(mnn_interpreter_create_from_file(path, NULL, &saved));
    mnn_session_t* reader = open_session(saved);
    assert_sums(reader, written);
    assert_ok(mnn_session_destroy(&reader));
    assert_ok(mnn_interpreter_destroy(&saved));

    /* The float does not fit the file's half. */
    const float large[VALUES] = {1e6f};
    assert_ok(mnn_tensor_write(constant_at(session, 0), large, sizeof large, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_resize(session));
    assert_ok(mnn_interpreter_update_constants(types, session));
    assert_fails(mnn_interpreter_save(types, path), MNN_ERROR_INPUT_DATA);
    assert_ok(mnn_interpreter_create_from_file(path, NULL, &saved)); /* as it was */
    reader = open_session(saved);
    assert_sums(reader, written);
    assert_ok(mnn_session_destroy(&reader));
    assert_ok(mnn_interpreter_destroy(&saved));
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&types));
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saving),
        cmocka_unit_test(saving_every_type),
    };
    return cmocka_run_group_tests_name("constants_saved", tests, NULL, NULL);
}
