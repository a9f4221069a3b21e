/* Constants that a session writes for itself and gives to the interpreter. */
#include "constants.h"
#include "process.h"

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
        assert_sums(other, before); /* its own constants */
        constants_of(other, now);
        assert_memory_equal(now[5], before[5], sizeof now[5]);
    }
    mnn_session_t* later = open_session(types);
    assert_sums(later, before); /* the interpreter's constants */
    assert_ok(mnn_session_destroy(&later));
    mnn_tensor_properties_t info = {.struct_size = sizeof info};
    assert_ok(mnn_tensor_info(constant_at(writer, 0), &info));
    assert_int_equal(info.kind, MNN_TENSOR_CONSTANT);
    assert_ok(mnn_session_destroy(&other));
    assert_ok(mnn_session_destroy(&writer));
    assert_ok(mnn_interpreter_destroy(&types));
}

/* Operands of products are packed once for all sessions: a session that changes them packs its own. */
static void prepared_weights(void** state) {
    (void)state;
    enum { MAX_VALUES = 1024 };
    static const char* const cases[] = {"matmul__constant_right", "matmul__constant_left"};
    for (size_t c = 0; c < 2; ++c) {
        static float base[MAX_VALUES], got[MAX_VALUES];
        mnn_interpreter_t* matmul = open_case(cases[c]);
        mnn_session_t *other = open_session(matmul), *writer = open_session(matmul);
        const size_t count = products(writer, base, MAX_VALUES);
        float factor = 1;
        for (int round = 0; round < 3; ++round) {
            scale_constants(writer, 2);
            factor *= 2;
            assert_ok(mnn_session_resize(writer));
            assert_int_equal(products(writer, got, MAX_VALUES), count);
            for (size_t i = 0; i < count; ++i)
                if (got[i] != factor * base[i])
                    fail_msg("%s: element %zu is %g, wanted %g", cases[c], i, (double)got[i],
                             (double)(factor * base[i]));
            products(other, got, MAX_VALUES);
            assert_memory_equal(got, base, count * sizeof *got);
        }
        mnn_session_t* later = open_session(matmul);
        products(later, got, MAX_VALUES);
        assert_memory_equal(got, base, count * sizeof *got);
        assert_ok(mnn_session_destroy(&later));

        /* The interpreter adopts them, for later sessions only. */
        assert_ok(mnn_interpreter_update_constants(matmul, writer));
        later = open_session(matmul);
        products(later, got, MAX_VALUES);
        for (size_t i = 0; i < count; ++i) assert_true(got[i] == factor * base[i]);
        products(other, got, MAX_VALUES);
        assert_memory_equal(got, base, count * sizeof *got);
        assert_ok(mnn_session_destroy(&other));
        assert_ok(mnn_session_destroy(&writer));
        assert_ok(mnn_interpreter_destroy(&matmul));
        products(later, got, MAX_VALUES); /* it works without all of them */
        for (size_t i = 0; i < count; ++i) assert_true(got[i] == factor * base[i]);
        assert_ok(mnn_session_destroy(&later));
    }
}

/* A constant that decides shapes. */
/* A GRU packs the weights of its candidate behind those of its gates: a session that changes only the candidate's packs
 * its own, too. */
static void joined_weights(void** state) {
    (void)state;
    enum { MAX_VALUES = 256 };
    float base[MAX_VALUES], got[2][MAX_VALUES];
    double first[MAX_VALUES], written[MAX_VALUES];
    size_t elements = 0;
    mnn_interpreter_t* gru = open_case("recurrent__gru_last");
    mnn_session_t* sessions[] = {open_session(gru), open_session(gru)};
    const size_t count = products(sessions[0], base, MAX_VALUES);
    mnn_tensor_t* weights[2];
    for (int i = 0; i < 2; ++i) assert_ok(mnn_session_constant(sessions[i], "t3", &weights[i]));
    read_doubles(weights[0], first, &elements);
    /* The factors of both sessions: other ones, the same ones, and those of the model. */
    const double factors[][2] = {{2, -1}, {-1, -1}, {1, 1}};
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 2; ++i) {
            for (size_t k = 0; k < elements; ++k) written[k] = factors[round][i] * first[k];
            assert_ok(
                mnn_tensor_write_as(weights[i], written, elements * sizeof *written, MNN_TYPE_DOUBLE, MNN_FORMAT_NCHW));
            assert_ok(mnn_session_resize(sessions[i]));
        }
        for (int i = 0; i < 2; ++i) assert_int_equal(products(sessions[i], got[i], MAX_VALUES), count);
        assert_int_equal(memcmp(got[0], got[1], count * sizeof *base) == 0, round > 0);
        assert_int_equal(memcmp(got[1], base, count * sizeof *base) == 0, round == 2);
    }
    for (int i = 0; i < 2; ++i) assert_ok(mnn_session_destroy(&sessions[i]));
    assert_ok(mnn_interpreter_destroy(&gru));
}

static void shapes_follow(void** state) {
    (void)state;
    mnn_interpreter_t* padding = open_case("padding__constant_rank4");
    mnn_session_t* session = open_session(padding);
    const int32_t pads[] = {0, 1, 0, 0, 0, 0, 0, 0}, wrong[] = {-100, -100, -100, -100, -100, -100, -100, -100};
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
    /* When a plan fails, the session waits until one succeeds. */
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

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* these heaps keep freed memory */
/* Weights that were prepared from earlier values are released, also where others of the same model stay. */
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
    assert_non_null(strstr(mnn_last_error(), "Const")); /* the sentence names operators that produce constants */
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
    assert_fails(mnn_session_bind_output(session, tensor, bytes, size, MNN_FORMAT_NCHW), MNN_ERROR_BAD_HANDLE);
    const int32_t dims[] = {1};
    assert_fails(mnn_session_resize_input(session, tensor, dims, 1), MNN_ERROR_BAD_HANDLE);
    bool needed = true;
    assert_ok(mnn_session_needs_resize(session, &needed));
    assert_false(needed);

    mnn_interpreter_t* same_file = open_digits();
    assert_fails(mnn_interpreter_update_constants(same_file, session), MNN_ERROR_INVALID_VALUE);
    assert_fails(mnn_interpreter_update_constants(NULL, session), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_interpreter_update_constants(net, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_ok(mnn_interpreter_update_constants(net, session)); /* no constant was written */
    assert_ok(mnn_interpreter_destroy(&same_file));
    assert_fails(mnn_interpreter_save(net, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_interpreter_save(net, "/nonexistent/folder/model.mnn"), MNN_ERROR_FILE_OPEN_FAILED);
    assert_fails(mnn_interpreter_save(NULL, "/tmp/x"), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_interpreter_model_bytes(net, NULL, 10, &size), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_interpreter_model_bytes(net, NULL, 0, NULL), MNN_ERROR_NULL_ARGUMENT);

    /* The scores stay the same, also after a constant was written with its present value. */
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
        cmocka_unit_test(joined_weights),
        cmocka_unit_test(shapes_follow),
        cmocka_unit_test(misuse),
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        cmocka_unit_test(writing_again_and_again),
#endif
    };
    return cmocka_run_group_tests_name("constants", tests, open_net, close_net);
}
