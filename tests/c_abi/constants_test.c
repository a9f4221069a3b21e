/* Constants that a session writes for itself, gives to the interpreter and saves with the model. */
#include <unistd.h>

#include "digits_net.h"

enum { VALUES = 6, KINDS = 7 };

/* One constant of each element type: half, uint8, int8, int32, int64, float and a trainable one, each added to x. */
static const char* const kSums[KINDS] = {"sum_half",  "sum_uint8", "sum_int8",     "sum_int32",
                                         "sum_int64", "sum_float", "sum_trainable"};

static mnn_interpreter_t* open_case(const char* name) {
    char path[4096];
    mnn_interpreter_t* made = NULL;
    snprintf(path, sizeof path, MNN_C_CASES_FOLDER "/%s/model.mnn", name);
    assert_ok(mnn_interpreter_create_from_file(path, NULL, &made));
    return made;
}

static mnn_tensor_t* constant_at(mnn_session_t* session, size_t index) {
    const char* name = NULL;
    mnn_tensor_t *tensor = NULL, *again = NULL;
    assert_ok(mnn_session_constant_name(session, index, &name));
    assert_ok(mnn_session_constant(session, name, &tensor));
    assert_ok(mnn_session_constant(session, name, &again));
    assert_ptr_equal(tensor, again);
    const char* own = NULL;
    assert_ok(mnn_tensor_name(tensor, &own));
    assert_string_equal(own, name);
    return tensor;
}

static void read_doubles(const mnn_tensor_t* tensor, double* values, size_t* count) {
    assert_ok(mnn_tensor_element_count(tensor, count));
    assert_true(*count <= 64);
    assert_ok(mnn_tensor_read_as(tensor, values, *count * sizeof *values, MNN_TYPE_DOUBLE, MNN_FORMAT_NCHW));
}

/* Each output is x plus its constant, which are these: VALUES for each of the first, 2 for the last. */
static void assert_sums(mnn_session_t* session, double wanted[KINDS][VALUES]) {
    float x[VALUES];
    for (int i = 0; i < VALUES; ++i) x[i] = 0.37f * (float)i - 1;
    assert_ok(mnn_tensor_write(first_input(session), x, sizeof x, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
    for (int kind = 0; kind < KINDS; ++kind) {
        mnn_tensor_t* output = NULL;
        float sum[VALUES];
        assert_ok(mnn_session_output(session, kSums[kind], &output));
        assert_ok(mnn_tensor_read(output, sum, sizeof sum, MNN_FORMAT_NCHW));
        for (int i = 0; i < VALUES; ++i) {
            const float added = x[i] + (float)wanted[kind][kind == KINDS - 1 ? i % 2 : i];
            if (sum[i] != added)
                fail_msg("%s[%d] is %g, wanted %g", kSums[kind], i, (double)sum[i], (double)added);
        }
    }
}

static void constants_of(mnn_session_t* session, double values[KINDS][VALUES]) {
    size_t count = 0;
    assert_ok(mnn_session_constant_count(session, &count));
    assert_int_equal(count, KINDS);
    for (size_t kind = 0; kind < KINDS; ++kind) {
        read_doubles(constant_at(session, kind), values[kind], &count);
        assert_int_equal(count, kind == KINDS - 1 ? 2 : VALUES);
    }
}

static void write_constants(mnn_session_t* session, double first, double values[KINDS][VALUES]) {
    for (size_t kind = 0; kind < KINDS; ++kind) {
        const size_t count = kind == KINDS - 1 ? 2 : VALUES;
        for (size_t i = 0; i < count; ++i) values[kind][i] = first + (double)(kind * 7 + i);
        assert_ok(mnn_tensor_write_as(constant_at(session, kind), values[kind], count * sizeof(double),
                                      MNN_TYPE_DOUBLE, MNN_FORMAT_NCHW));
    }
}

static void every_type(void** state) {
    (void)state;
    mnn_interpreter_t* types = open_case("source__types");
    mnn_session_t *writer = open_session(types), *other = open_session(types);
    double before[KINDS][VALUES], written[KINDS][VALUES], now[KINDS][VALUES] = {{0}};
    constants_of(writer, before);
    assert_sums(writer, before);
    for (int round = 0; round < 2; ++round) {
        write_constants(writer, 3 + 20 * round, written);
        bool needed = false;
        assert_ok(mnn_session_needs_resize(writer, &needed));
        assert_true(needed);
        assert_fails(mnn_session_run(writer), MNN_ERROR_BAD_STATE);
        constants_of(writer, now); /* can be read at any time */
        assert_memory_equal(now[0], written[0], sizeof now[0]);
        assert_ok(mnn_session_resize(writer));
        assert_sums(writer, written);
        assert_sums(other, before); /* its own */
        constants_of(other, now);
        assert_memory_equal(now[5], before[5], sizeof now[5]);
    }
    mnn_session_t* later = open_session(types);
    assert_sums(later, before); /* the interpreter's */
    assert_ok(mnn_session_destroy(&later));
    mnn_tensor_properties_t info = {.struct_size = sizeof info};
    assert_ok(mnn_tensor_info(constant_at(writer, 0), &info));
    assert_int_equal(info.kind, MNN_TENSOR_CONSTANT);
    assert_ok(mnn_session_destroy(&other));
    assert_ok(mnn_session_destroy(&writer));
    assert_ok(mnn_interpreter_destroy(&types));
}

/* All outputs of the products, one after another. */
static size_t products(mnn_session_t* session, float* values, size_t capacity) {
    size_t inputs = 0, outputs = 0, filled = 0;
    assert_ok(mnn_session_input_count(session, &inputs));
    for (size_t i = 0; i < inputs; ++i) {
        mnn_tensor_t* input = NULL;
        float data[512];
        size_t count = 0;
        assert_ok(mnn_session_input_at(session, i, &input));
        assert_ok(mnn_tensor_element_count(input, &count));
        assert_true(count <= 512);
        fill_pixels(data, count, (uint32_t)i + 1);
        assert_ok(mnn_tensor_write(input, data, count * sizeof *data, MNN_FORMAT_NCHW));
    }
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_session_output_count(session, &outputs));
    for (size_t i = 0; i < outputs; ++i) {
        mnn_tensor_t* output = NULL;
        size_t count = 0;
        assert_ok(mnn_session_output_at(session, i, &output));
        assert_ok(mnn_tensor_element_count(output, &count));
        assert_true(filled + count <= capacity);
        assert_ok(mnn_tensor_read(output, values + filled, count * sizeof(float), MNN_FORMAT_NCHW));
        filled += count;
    }
    return filled;
}

static void scale_constants(mnn_session_t* session, float factor) {
    size_t count = 0, elements = 0;
    assert_ok(mnn_session_constant_count(session, &count));
    assert_true(count >= 6);
    for (size_t i = 0; i < count; ++i) {
        mnn_tensor_t* tensor = constant_at(session, i);
        double values[64];
        int32_t type = 0;
        assert_ok(mnn_tensor_type(tensor, &type));
        read_doubles(tensor, values, &elements);
        for (size_t k = 0; k < elements; ++k) values[k] *= (double)factor;
        assert_ok(
            mnn_tensor_write_as(tensor, values, elements * sizeof *values, MNN_TYPE_DOUBLE, MNN_FORMAT_NCHW));
    }
}

/* Operands of products are packed once for all sessions: a session that changes them packs its own. */
static void prepared_weights(void** state) {
    (void)state;
    enum { MOST = 1024 };
    static const char* const cases[] = {"matmul__constant_right", "matmul__constant_left"};
    for (size_t c = 0; c < 2; ++c) {
        static float base[MOST], got[MOST];
        mnn_interpreter_t* matmul = open_case(cases[c]);
        mnn_session_t *other = open_session(matmul), *writer = open_session(matmul);
        const size_t count = products(writer, base, MOST);
        float factor = 1;
        for (int round = 0; round < 3; ++round) {
            scale_constants(writer, 2);
            factor *= 2;
            assert_ok(mnn_session_resize(writer));
            assert_int_equal(products(writer, got, MOST), count);
            for (size_t i = 0; i < count; ++i)
                if (got[i] != factor * base[i])
                    fail_msg("%s: element %zu is %g, wanted %g", cases[c], i, (double)got[i],
                             (double)(factor * base[i]));
            products(other, got, MOST);
            assert_memory_equal(got, base, count * sizeof *got);
        }
        mnn_session_t* later = open_session(matmul);
        products(later, got, MOST);
        assert_memory_equal(got, base, count * sizeof *got);
        assert_ok(mnn_session_destroy(&later));

        /* The interpreter takes them over, for later sessions only. */
        assert_ok(mnn_interpreter_update_constants(matmul, writer));
        later = open_session(matmul);
        products(later, got, MOST);
        for (size_t i = 0; i < count; ++i) assert_true(got[i] == factor * base[i]);
        products(other, got, MOST);
        assert_memory_equal(got, base, count * sizeof *got);
        assert_ok(mnn_session_destroy(&other));
        assert_ok(mnn_session_destroy(&writer));
        assert_ok(mnn_interpreter_destroy(&matmul));
        products(later, got, MOST); /* goes on without all of them */
        for (size_t i = 0; i < count; ++i) assert_true(got[i] == factor * base[i]);
        assert_ok(mnn_session_destroy(&later));
    }
}

/* A constant that decides shapes. */
static void shapes_follow(void** state) {
    (void)state;
    mnn_interpreter_t* padding = open_case("padding__constant_rank4");
    mnn_session_t* session = open_session(padding);
    const int32_t pads[] = {0, 1, 0, 0, 0, 0, 0, 0},
                  wrong[] = {-100, -100, -100, -100, -100, -100, -100, -100};
    mnn_tensor_t *constant = constant_at(session, 0), *output = NULL;
    assert_ok(mnn_session_output(session, "axis0", &output));
    int32_t dims[MNN_MAX_RANK], old[sizeof pads / sizeof *pads];
    size_t rank = 0;
    assert_ok(mnn_tensor_shape(output, dims, MNN_MAX_RANK, &rank));
    assert_int_equal(dims[0], 6);
    assert_ok(mnn_tensor_read(constant, old, sizeof old, MNN_FORMAT_NCHW));
    assert_ok(mnn_tensor_write(constant, pads, sizeof pads, MNN_FORMAT_NCHW));
    assert_fails(mnn_tensor_shape(output, dims, MNN_MAX_RANK, &rank), MNN_ERROR_BAD_STATE);
    assert_ok(mnn_session_resize(session));
    assert_ok(mnn_tensor_shape(output, dims, MNN_MAX_RANK, &rank));
    assert_int_equal(dims[0], 4);
    assert_ok(mnn_session_run(session));
    /* A plan that fails: the session waits until there is one that does not. */
    assert_ok(mnn_tensor_write(constant, wrong, sizeof wrong, MNN_FORMAT_NCHW));
    for (int i = 0; i < 2; ++i) {
        const mnn_status failure = mnn_session_resize(session);
        assert_true(failure != MNN_OK && failure != MNN_ERROR_INTERNAL);
        assert_fails(mnn_session_run(session), failure);
        assert_fails(mnn_interpreter_update_constants(padding, session), MNN_ERROR_BAD_STATE);
    }
    assert_ok(mnn_tensor_write(constant, old, sizeof old, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_resize(session));
    assert_ok(mnn_tensor_shape(output, dims, MNN_MAX_RANK, &rank));
    assert_int_equal(dims[0], 6);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&padding));
}

static unsigned char* bytes_of(mnn_interpreter_t* model, size_t* size) {
    assert_ok(mnn_interpreter_model_bytes(model, NULL, 0, size));
    unsigned char* bytes = malloc(*size);
    assert_non_null(bytes);
    assert_fails(mnn_interpreter_model_bytes(model, bytes, *size - 1, size), MNN_ERROR_BUFFER_TOO_SMALL);
    assert_ok(mnn_interpreter_model_bytes(model, bytes, *size, size));
    return bytes;
}

/* What is saved gives the same, bit for bit; a model without changes is saved as it was. */
static void check_saving(const char* name) {
    enum { MOST = 1024 };
    static float wanted[MOST], got[MOST];
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
    const size_t count = products(writer, wanted, MOST);
    assert_ok(mnn_interpreter_update_constants(model, writer));
    assert_ok(mnn_interpreter_save(model, path));
    bytes = read_whole_file(path, &same);
    assert_int_equal(same, size);
    assert_memory_not_equal(bytes, file_bytes, size);
    free(bytes);
    assert_ok(mnn_interpreter_create_from_file(path, NULL, &saved));
    reader = open_session(saved);
    assert_int_equal(products(reader, got, MOST), count);
    assert_memory_equal(got, wanted, count * sizeof *got);

    /* Once more, into the file that is in use. */
    scale_constants(reader, 2);
    assert_ok(mnn_session_resize(reader));
    assert_ok(mnn_interpreter_update_constants(saved, reader));
    assert_ok(mnn_interpreter_save(saved, path));
    products(reader, wanted, MOST);
    assert_ok(mnn_session_destroy(&reader));
    assert_ok(mnn_interpreter_destroy(&saved));
    assert_ok(mnn_interpreter_create_from_file(path, NULL, &saved));
    reader = open_session(saved);
    products(reader, got, MOST);
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

    /* A float that the file's half cannot hold. */
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

#ifndef __SANITIZE_ADDRESS__ /* whose heap keeps what is freed */
static size_t resident_bytes(void) {
    size_t total = 0, resident = 0;
    FILE* statm = fopen("/proc/self/statm", "r");
    assert_non_null(statm);
    assert_int_equal(fscanf(statm, "%zu %zu", &total, &resident), 2);
    fclose(statm);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* Weights that were prepared from values of before go, also where others of the same model stay. */
static void writing_again_and_again(void** state) {
    (void)state;
    mnn_interpreter_t* matmul = open_case("matmul__constant_right");
    mnn_session_t *other = open_session(matmul), *writer = open_session(matmul);
    size_t settled = 0;
    for (int round = 0; round < 3000; ++round) {
        scale_constants(writer, round % 2 ? 0.5f : 2);
        assert_ok(mnn_session_resize(writer));
        if (round == 500) settled = resident_bytes();
    }
    assert_true(resident_bytes() < settled + (1 << 20)); /* it was 5 MB */
    assert_ok(mnn_session_destroy(&other));
    assert_ok(mnn_session_destroy(&writer));
    assert_ok(mnn_interpreter_destroy(&matmul));
}
#endif

static void misuse(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    mnn_tensor_t* tensor = UNTOUCHED_POINTER;
    const char *name = NULL, *none = UNTOUCHED_POINTER;
    size_t count = 0;
    assert_ok(mnn_session_constant_count(session, &count));
    assert_int_equal(count, 5);
    assert_fails(mnn_session_constant_name(session, count, &none), MNN_ERROR_BAD_INDEX);
    assert_fails(mnn_session_constant_name(session, 0, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_session_constant(session, "nothing", &tensor), MNN_ERROR_NOT_FOUND);
    assert_fails(mnn_session_constant(session, "scores", &tensor), MNN_ERROR_NOT_FOUND);
    assert_non_null(strstr(mnn_last_error(), "Const")); /* which operators make some */
    assert_fails(mnn_session_constant(session, NULL, &tensor), MNN_ERROR_NULL_ARGUMENT);
    assert_ok(mnn_session_constant_name(session, 0, &name));
    assert_fails(mnn_session_constant(session, name, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_session_constant(NULL, name, &tensor), MNN_ERROR_NULL_ARGUMENT);
    assert_ptr_equal(tensor, UNTOUCHED_POINTER);
    assert_ptr_equal(none, UNTOUCHED_POINTER);

    tensor = constant_at(session, 0);
    unsigned char bytes[4096];
    size_t size = 0;
    void* data = UNTOUCHED_POINTER;
    assert_ok(mnn_tensor_byte_size(tensor, MNN_FORMAT_NCHW, &size));
    assert_true(size < sizeof bytes);
    assert_ok(mnn_tensor_read(tensor, bytes, size, MNN_FORMAT_NCHW));
    assert_fails(mnn_tensor_write(tensor, bytes, size + 4, MNN_FORMAT_NCHW), MNN_ERROR_INPUT_DATA);
    assert_fails(mnn_tensor_write(tensor, NULL, size, MNN_FORMAT_NCHW), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_tensor_read(tensor, bytes, size - 1, MNN_FORMAT_NCHW), MNN_ERROR_BUFFER_TOO_SMALL);
    assert_fails(mnn_tensor_map(tensor, MNN_MAP_READ, &data), MNN_ERROR_BAD_STATE);
    assert_fails(mnn_tensor_unmap(tensor), MNN_ERROR_BAD_STATE);
    assert_fails(mnn_session_bind_input(session, tensor, bytes, size, MNN_FORMAT_NCHW), MNN_ERROR_BAD_HANDLE);
    assert_fails(mnn_session_bind_output(session, tensor, bytes, size, MNN_FORMAT_NCHW),
                 MNN_ERROR_BAD_HANDLE);
    const int32_t dims[] = {1};
    assert_fails(mnn_session_resize_input(session, tensor, dims, 1), MNN_ERROR_BAD_HANDLE);
    bool needed = true;
    assert_ok(mnn_session_needs_resize(session, &needed));
    assert_false(needed);

    mnn_interpreter_t* same_file = open_digits();
    assert_fails(mnn_interpreter_update_constants(same_file, session), MNN_ERROR_INVALID_VALUE);
    assert_fails(mnn_interpreter_update_constants(NULL, session), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_interpreter_update_constants(net, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_ok(mnn_interpreter_update_constants(net, session)); /* of nothing */
    assert_ok(mnn_interpreter_destroy(&same_file));
    assert_fails(mnn_interpreter_save(net, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_interpreter_save(net, "/nonexistent/folder/model.mnn"), MNN_ERROR_FILE_OPEN_FAILED);
    assert_fails(mnn_interpreter_save(NULL, "/tmp/x"), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_interpreter_model_bytes(net, NULL, 10, &size), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_interpreter_model_bytes(net, NULL, 0, NULL), MNN_ERROR_NULL_ARGUMENT);

    /* The scores stay, also after a constant was written with what it held. */
    float pixels[PIXELS], wanted[CLASSES], got[CLASSES];
    reference_scores(8, wanted);
    fill_pixels(pixels, PIXELS, 8);
    classify(session, pixels, 1, got);
    assert_memory_equal(got, wanted, sizeof got);
    assert_ok(mnn_tensor_byte_size(tensor, MNN_FORMAT_NCHW, &size));
    assert_ok(mnn_tensor_write(tensor, bytes, size, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_resize(session));
    classify(session, pixels, 1, got);
    assert_memory_equal(got, wanted, sizeof got);
    assert_ok(mnn_session_destroy(&session));
    assert_fails(mnn_tensor_read(tensor, bytes, size, MNN_FORMAT_NCHW), MNN_ERROR_BAD_HANDLE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type),
        cmocka_unit_test(prepared_weights),
        cmocka_unit_test(shapes_follow),
        cmocka_unit_test(saving),
        cmocka_unit_test(saving_every_type),
        cmocka_unit_test(misuse),
#ifndef __SANITIZE_ADDRESS__
        cmocka_unit_test(writing_again_and_again),
#endif
    };
    return cmocka_run_group_tests_name("constants", tests, open_net, close_net);
}
