/* Resizing: shapes, refused shapes, and models with open extents. */
#include "digits_net.h"

static void assert_shape(const mnn_tensor_t* tensor, const int32_t* wanted, size_t wanted_rank) {
    int32_t dims[MNN_MAX_RANK];
    size_t rank = 0;
    assert_ok(mnn_tensor_shape(tensor, dims, MNN_MAX_RANK, &rank));
    assert_int_equal(rank, wanted_rank);
    assert_memory_equal(dims, wanted, rank * sizeof *dims);
}

static void inputs_are_zeros_until_they_are_written(void** state) {
    (void)state;
    float pixels[3 * PIXELS];
    const float zeros[3 * PIXELS] = {0};
    const int32_t large[] = {3, 1, 8, 8}, small[] = {1, 1, 8, 8};
    mnn_session_t* session = open_session(net);
    mnn_tensor_t* input = first_input(session);
    for (int round = 0; round < 3; ++round) {
        const size_t bytes = (round % 2 ? 3 : 1) * PIXELS * sizeof(float);
        assert_ok(mnn_session_resize_input(session, input, round % 2 ? large : small, 4));
        assert_ok(mnn_session_resize(session));
        assert_ok(mnn_tensor_read(input, pixels, bytes, MNN_FORMAT_NCHW));
        assert_memory_equal(pixels, zeros, bytes);
        fill_pixels(pixels, bytes / sizeof(float), 5);
        assert_ok(mnn_tensor_write(input, pixels, bytes, MNN_FORMAT_NCHW));
    }
    assert_ok(mnn_session_destroy(&session));
}

static void resize_there_and_back(void** state) {
    (void)state;
    enum { BATCH = 3 };
    float one[CLASSES], again[CLASSES], pixels[BATCH * PIXELS], many[BATCH * CLASSES];
    fill_pixels(pixels, BATCH * PIXELS, 12);
    mnn_session_t* session = open_session(net);
    mnn_tensor_t *input = first_input(session), *output = first_output(session);
    const int32_t small[] = {1, 1, 8, 8}, large[] = {BATCH, 1, 8, 8};
    bool needed = true;
    classify(session, pixels, 1, one);
    /* The shape is the present one: nothing is done, and the results stay. */
    assert_ok(mnn_session_resize_input(session, input, small, 4));
    assert_ok(mnn_session_needs_resize(session, &needed));
    assert_false(needed);
    assert_ok(mnn_session_resize(session));
    assert_ok(mnn_tensor_read(output, again, sizeof again, MNN_FORMAT_NCHW));
    assert_memory_equal(again, one, sizeof one);
    for (int round = 0; round < 3; ++round) {
        assert_ok(mnn_session_resize_input(session, input, large, 4));
        assert_ok(mnn_session_needs_resize(session, &needed));
        assert_true(needed);
        assert_shape(input, large, 4);
        /* Until the resize the session returns no information about its outputs. */
        size_t count = UNTOUCHED_SIZE, rank = UNTOUCHED_SIZE;
        int32_t dims[MNN_MAX_RANK] = {UNTOUCHED_INT};
        double flops = -5;
        mnn_op_info_t info = {.struct_size = sizeof info, .host_shape = 77};
        assert_fails(mnn_session_run(session), MNN_ERROR_BAD_STATE);
        assert_fails(mnn_tensor_write(input, pixels, sizeof pixels, MNN_FORMAT_NCHW), MNN_ERROR_BAD_STATE);
        assert_fails(mnn_tensor_read(output, again, sizeof again, MNN_FORMAT_NCHW), MNN_ERROR_BAD_STATE);
        assert_fails(mnn_tensor_read(input, many, sizeof many, MNN_FORMAT_NCHW), MNN_ERROR_BAD_STATE);
        assert_fails(mnn_tensor_shape(output, dims, MNN_MAX_RANK, &rank), MNN_ERROR_BAD_STATE);
        mnn_tensor_properties_t tensor = {.struct_size = sizeof tensor, .type = 77};
        assert_fails(mnn_tensor_info(output, &tensor), MNN_ERROR_BAD_STATE);
        assert_int_equal(tensor.type, 77);
        assert_fails(mnn_tensor_element_count(output, &count), MNN_ERROR_BAD_STATE);
        assert_fails(mnn_tensor_byte_size(output, MNN_FORMAT_NCHW, &count), MNN_ERROR_BAD_STATE);
        assert_fails(mnn_session_flops(session, &flops, NULL), MNN_ERROR_BAD_STATE);
        assert_fails(mnn_session_op_count(session, &count), MNN_ERROR_BAD_STATE);
        assert_fails(mnn_session_op_info(session, 0, &info), MNN_ERROR_BAD_STATE);
        assert_int_equal(count, UNTOUCHED_SIZE);
        assert_int_equal(rank, UNTOUCHED_SIZE);
        assert_int_equal(dims[0], UNTOUCHED_INT);
        assert_true(flops == -5);
        assert_int_equal(info.host_shape, 77);
        assert_memory_equal(again, one, sizeof one);
        assert_ok(mnn_session_resize(session));
        assert_ok(mnn_session_needs_resize(session, &needed));
        assert_false(needed);
        /* There was no run with this shape yet. */
        assert_fails(mnn_tensor_read(output, many, sizeof many, MNN_FORMAT_NCHW), MNN_ERROR_BAD_STATE);
        classify(session, pixels, BATCH, many);
        const int32_t scores[] = {BATCH, CLASSES};
        assert_shape(output, scores, 2);
        assert_close(many, one, CLASSES, 1e-5f);
        for (size_t i = 1; i < BATCH; ++i) { /* the other rows are those of their own images */
            mnn_session_t* single = open_session(net);
            classify(single, pixels + i * PIXELS, 1, again);
            assert_close(many + i * CLASSES, again, CLASSES, 1e-5f);
            assert_ok(mnn_session_destroy(&single));
        }
        assert_ok(mnn_session_resize_input(session, input, small, 4));
        assert_ok(mnn_session_resize(session));
        assert_ptr_equal(first_input(session), input);
        assert_ptr_equal(first_output(session), output);
        classify(session, pixels, 1, again);
        assert_memory_equal(again, one, sizeof one);
    }
    assert_ok(mnn_session_destroy(&session));
}

static void resize_misuse(void** state) {
    (void)state;
    mnn_session_t *session = open_session(net), *other = open_session(net);
    mnn_tensor_t* input = first_input(session);
    const int32_t good[] = {1, 1, 8, 8}, negative[] = {1, 1, -1, 8}, low[] = {INT32_MIN, 1, 8, 8};
    const int32_t huge[] = {INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX};
    const int32_t long_dims[MNN_MAX_RANK + 1] = {1, 1, 8, 8, 1, 1, 1, 1, 1, 1};
    bool needed = true;
    assert_fails(mnn_session_resize_input(session, first_input(other), good, 4), MNN_ERROR_BAD_HANDLE);
    assert_fails(mnn_session_resize_input(session, first_output(session), good, 4), MNN_ERROR_BAD_HANDLE);
    assert_fails(mnn_session_resize_input(session, (mnn_tensor_t*)session, good, 4), MNN_ERROR_BAD_HANDLE);
    assert_fails(mnn_session_resize_input(session, (mnn_tensor_t*)net, good, 4), MNN_ERROR_BAD_HANDLE);
    assert_fails(mnn_session_resize_input(session, input, negative, 4), MNN_ERROR_BAD_RANGE);
    assert_fails(mnn_session_resize_input(session, input, low, 4), MNN_ERROR_BAD_RANGE);
    assert_fails(mnn_session_resize_input(session, input, long_dims, MNN_MAX_RANK + 1), MNN_ERROR_BAD_RANGE);
    assert_fails(mnn_session_resize_input(session, input, good, SIZE_MAX), MNN_ERROR_BAD_RANGE);
    assert_fails(mnn_session_resize_input(session, input, huge, 4), MNN_ERROR_OVERFLOW);
    assert_ok(mnn_session_needs_resize(session, &needed));
    assert_false(needed);
    assert_shape(input, good, 4);
    float pixels[PIXELS], wanted[CLASSES], got[CLASSES];
    reference_scores(13, wanted);
    fill_pixels(pixels, PIXELS, 13);
    classify(session, pixels, 1, got);
    assert_memory_equal(got, wanted, sizeof got);
    assert_ok(mnn_session_destroy(&other));
    assert_ok(mnn_session_destroy(&session));
}

/* Shapes that the net refuses, or that are legal and odd: they give a code with a sentence, and a good shape works
 * afterwards. */
static void resize_to_odd_shapes(void** state) {
    (void)state;
    static const struct {
        size_t rank;
        int32_t dims[MNN_MAX_RANK];
    } odd[] = {
        {0, {0}},
        {1, {64}},
        {2, {8, 8}},
        {3, {1, 8, 8}},
        {4, {1, 2, 8, 8}},
        {4, {1, 1, 9, 8}},
        {4, {1, 1, 1, 1}},
        {4, {0, 1, 8, 8}},
        {4, {1, 0, 8, 8}},
        {4, {1, 1, 0, 8}},
        {4, {1, 1, 0, 0}},
        {5, {1, 1, 8, 8}},
        {4, {1, 3, 8, 8}},
        {4, {1, 1, 16, 16}},
        {9, {1, 1, 1, 1, 1, 1, 1, 1, 1}},
        {4, {7, 1, 8, 8}},
        {4, {1, 8, 8, 1}},
        {4, {1, 1, 2, 2}},
        {4, {1, 1, 100000, 100000}},
    };
    float pixels[PIXELS], wanted[CLASSES], got[CLASSES];
    const int32_t good[] = {1, 1, 8, 8};
    reference_scores(14, wanted);
    fill_pixels(pixels, PIXELS, 14);
    mnn_schedule_config_t config = default_config();
    config.max_memory_bytes = 64u << 20;
    mnn_session_t* session = NULL;
    assert_ok(mnn_session_create(net, &config, &session));
    mnn_tensor_t* input = first_input(session);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; ++i) {
        assert_ok(mnn_session_resize_input(session, input, odd[i].dims, odd[i].rank));
        mnn_status status = mnn_session_resize(session);
        if (status == MNN_OK) {
            size_t bytes = 0;
            assert_ok(mnn_tensor_byte_size(input, MNN_FORMAT_NCHW, &bytes));
            void* zeros = calloc(bytes + 1, 1);
            assert_non_null(zeros);
            assert_ok(mnn_tensor_write(input, zeros, bytes, MNN_FORMAT_NCHW));
            free(zeros);
            status = mnn_session_run(session);
        }
        if (status != MNN_OK) assert_true(mnn_last_error()[0] != '\0');
        if (status == MNN_ERROR_INTERNAL || status == MNN_ERROR_OUT_OF_MEMORY)
            fail_msg("odd shape %zu gives %s: %s", i, mnn_status_name(status), mnn_last_error());
        assert_ok(mnn_session_resize_input(session, input, good, 4));
        assert_ok(mnn_session_resize(session));
        classify(session, pixels, 1, got);
        assert_memory_equal(got, wanted, sizeof got);
    }
    assert_ok(mnn_session_destroy(&session));
}

/* A model with an open extent: every use needs a resize first. */
static void open_extents(void** state) {
    (void)state;
    size_t size = 0, number = UNTOUCHED_SIZE;
    unsigned char* bytes = open_model(2, &size);
    mnn_interpreter_t* open_net = NULL;
    assert_ok(mnn_interpreter_create_from_memory(bytes, size, NULL, &open_net));
    free(bytes);
    const int32_t declared[] = {1, 1, -1, 8}, good[] = {1, 1, 8, 8};
    const mnn_declaration_t info = input_info_of(open_net, 0);
    assert_int_equal(info.rank, 4);
    assert_memory_equal(info.dims, declared, sizeof declared);
    mnn_session_t* session = open_session(open_net);
    mnn_tensor_t* input = first_input(session);
    bool needed = false;
    assert_ok(mnn_session_needs_resize(session, &needed));
    assert_true(needed);
    assert_shape(input, declared, 4);
    assert_fails(mnn_tensor_element_count(input, &number), MNN_ERROR_BAD_STATE);
    assert_fails(mnn_tensor_byte_size(input, MNN_FORMAT_NCHW, &number), MNN_ERROR_BAD_STATE);
    assert_int_equal(number, UNTOUCHED_SIZE);
    assert_fails(mnn_session_run(session), MNN_ERROR_BAD_STATE);
    assert_non_null(strstr(mnn_last_error(), "still has the open shape"));
    assert_fails(mnn_session_resize(session), MNN_ERROR_BAD_STATE);
    assert_non_null(strstr(mnn_last_error(), "image"));
    assert_fails(mnn_session_run(session), MNN_ERROR_BAD_STATE);
    float pixels[PIXELS], wanted[CLASSES], got[CLASSES];
    reference_scores(15, wanted);
    fill_pixels(pixels, PIXELS, 15);
    assert_ok(mnn_session_resize_input(session, input, good, 4));
    assert_ok(mnn_session_resize(session));
    classify(session, pixels, 1, got);
    assert_memory_equal(got, wanted, sizeof got);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&open_net));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_are_zeros_until_they_are_written),
        cmocka_unit_test(resize_there_and_back),
        cmocka_unit_test(resize_misuse),
        cmocka_unit_test(resize_to_odd_shapes),
        cmocka_unit_test(open_extents),
    };
    return cmocka_run_group_tests_name("resize", tests, open_net, close_net);
}
