/* mnn_tensor_*: descriptions, contents, and wrong arguments. */
#include "digits_net.h"

static void describe(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    mnn_tensor_t *input = first_input(session), *output = first_output(session);
    const char* name = NULL;
    int32_t dims[MNN_MAX_RANK];
    size_t rank = 0, count = 0, bytes = 0;
    assert_ok(mnn_tensor_name(input, &name));
    assert_string_equal(name, "image");
    assert_ok(mnn_tensor_name(output, &name));
    assert_string_equal(name, "scores");
    assert_ok(mnn_tensor_shape(input, NULL, 0, &rank));
    assert_int_equal(rank, 4);
    assert_ok(mnn_tensor_shape(output, dims, 2, &rank)); /* known before a run */
    assert_int_equal(rank, 2);
    assert_int_equal(dims[0], 1);
    assert_int_equal(dims[1], CLASSES);
    assert_int_equal(tensor_info_of(input).type, MNN_TYPE_FLOAT32);
    assert_int_equal(tensor_info_of(output).type, MNN_TYPE_FLOAT32);
    assert_int_equal(tensor_info_of(input).format, MNN_FORMAT_NCHW);
    assert_in_range(tensor_info_of(output).format, MNN_FORMAT_NCHW, MNN_FORMAT_NC4HW4);
    assert_ok(mnn_tensor_element_count(input, &count));
    assert_int_equal(count, PIXELS);
    assert_ok(mnn_tensor_element_count(output, &count));
    assert_int_equal(count, CLASSES);
    assert_ok(mnn_tensor_byte_size(input, MNN_FORMAT_NCHW, &bytes));
    assert_int_equal(bytes, PIXELS * 4);
    assert_ok(mnn_tensor_byte_size(input, MNN_FORMAT_NHWC, &bytes));
    assert_int_equal(bytes, PIXELS * 4);
    assert_ok(mnn_tensor_byte_size(input, MNN_FORMAT_NC4HW4, &bytes));
    assert_int_equal(bytes, PIXELS * 4 * 4);
    /* Below rank 3 all formats are the same. */
    for (int32_t format = MNN_FORMAT_NCHW; format <= MNN_FORMAT_NC4HW4; ++format) {
        assert_ok(mnn_tensor_byte_size(output, format, &bytes));
        assert_int_equal(bytes, CLASSES * 4);
    }
    assert_ok(mnn_session_destroy(&session));
}

/* A batch of none: no bytes are copied in either direction, and NULL is accepted for them. */
static void empty_batch(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    mnn_tensor_t* input = first_input(session);
    const int32_t none[] = {0, 1, 8, 8};
    assert_ok(mnn_session_resize_input(session, input, none, 4));
    assert_ok(mnn_session_resize(session));
    size_t size = UNTOUCHED_SIZE;
    assert_ok(mnn_tensor_byte_size(input, MNN_FORMAT_NC4HW4, &size));
    assert_int_equal(size, 0);
    assert_ok(mnn_tensor_write(input, NULL, 0, MNN_FORMAT_NCHW));
    assert_ok(mnn_tensor_read(input, NULL, 0, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
    int32_t dims[2] = {UNTOUCHED_INT, UNTOUCHED_INT};
    assert_ok(mnn_tensor_shape(first_output(session), dims, 2, &size));
    assert_int_equal(size, 2);
    assert_int_equal(dims[0], 0);
    assert_int_equal(dims[1], CLASSES);
    assert_ok(mnn_tensor_element_count(first_output(session), &size));
    assert_int_equal(size, 0);
    assert_ok(mnn_tensor_read(first_output(session), NULL, 0, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_destroy(&session));
}

/* The net recognises held-out images beside the model. */
static void digits_are_recognized(void** state) {
    (void)state;
    enum { IMAGES = 540 };
    char path[4096];
    size_t images_size = 0, labels_size = 0;
    const char* slash = strrchr(MNN_C_DIGITS_MODEL, '/');
    const int folder = slash ? (int)(slash - MNN_C_DIGITS_MODEL + 1) : 0;
    snprintf(path, sizeof path, "%.*stest_images.bin", folder, MNN_C_DIGITS_MODEL);
    unsigned char* images = read_whole_file(path, &images_size);
    snprintf(path, sizeof path, "%.*stest_labels.bin", folder, MNN_C_DIGITS_MODEL);
    unsigned char* labels = read_whole_file(path, &labels_size);
    assert_int_equal(images_size, IMAGES * PIXELS);
    assert_int_equal(labels_size, IMAGES);
    mnn_session_t* session = open_session(net);
    size_t right = 0;
    for (size_t i = 0; i < IMAGES; ++i) {
        float pixels[PIXELS], scores[CLASSES];
        for (size_t k = 0; k < PIXELS; ++k) pixels[k] = (float)images[i * PIXELS + k] / 16.0f;
        classify(session, pixels, 1, scores);
        size_t best = 0;
        for (size_t k = 1; k < CLASSES; ++k)
            if (scores[k] > scores[best]) best = k;
        right += best == labels[i];
    }
    free(images);
    free(labels);
    assert_in_range(right, IMAGES * 97 / 100, IMAGES);
    assert_ok(mnn_session_destroy(&session));
}

static void write_misuse(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    mnn_tensor_t *input = first_input(session), *output = first_output(session);
    float pixels[PIXELS * 4 + 4], other[PIXELS * 4 + 4] = {0}, got[PIXELS];
    fill_pixels(pixels, PIXELS, 22);
    assert_ok(mnn_tensor_write(input, pixels, PIXELS * 4, MNN_FORMAT_NCHW));
    const size_t wrong[] = {0, 1, PIXELS * 4 - 1, PIXELS * 4 + 1, PIXELS * 4 - 4, PIXELS * 16, SIZE_MAX, 1u << 31};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i)
        for (int32_t format = MNN_FORMAT_NCHW; format <= MNN_FORMAT_NHWC; ++format)
            assert_fails(mnn_tensor_write(input, other, wrong[i], format), MNN_ERROR_INPUT_DATA);
    assert_fails(mnn_tensor_write(input, other, PIXELS * 4, MNN_FORMAT_NC4HW4), MNN_ERROR_INPUT_DATA);
    assert_non_null(strstr(mnn_last_error(), "image"));
    assert_fails(mnn_tensor_write(input, NULL, PIXELS * 4, MNN_FORMAT_NCHW), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_tensor_write(input, NULL, 0, MNN_FORMAT_NCHW), MNN_ERROR_INPUT_DATA);
    assert_fails(mnn_tensor_write(output, other, CLASSES * 4, MNN_FORMAT_NCHW), MNN_ERROR_BAD_STATE);
    const int32_t formats[] = {-1, 3, 4, INT32_MIN, INT32_MAX};
    size_t bytes = UNTOUCHED_SIZE;
    for (size_t i = 0; i < 5; ++i) {
        assert_fails(mnn_tensor_write(input, other, PIXELS * 4, formats[i]), MNN_ERROR_INVALID_VALUE);
        assert_fails(mnn_tensor_byte_size(input, formats[i], &bytes), MNN_ERROR_INVALID_VALUE);
    }
    assert_int_equal(bytes, UNTOUCHED_SIZE);
    assert_ok(mnn_tensor_read(input, got, sizeof got, MNN_FORMAT_NCHW));
    assert_memory_equal(got, pixels, sizeof got);
    assert_ok(mnn_session_destroy(&session));
}

static void read_misuse(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    mnn_tensor_t *input = first_input(session), *output = first_output(session);
    unsigned char buffer[PIXELS * 4 * 4];
    memset(buffer, 0x5a, sizeof buffer);
    assert_fails(mnn_tensor_read(output, buffer, sizeof buffer, MNN_FORMAT_NCHW), MNN_ERROR_BAD_STATE);
    float pixels[PIXELS], scores[CLASSES];
    fill_pixels(pixels, PIXELS, 23);
    classify(session, pixels, 1, scores);
    const size_t small[] = {0, 1, CLASSES * 4 - 1};
    for (size_t i = 0; i < 3; ++i)
        for (int32_t format = MNN_FORMAT_NCHW; format <= MNN_FORMAT_NC4HW4; ++format)
            assert_fails(mnn_tensor_read(output, buffer, small[i], format), MNN_ERROR_BUFFER_TOO_SMALL);
    assert_fails(mnn_tensor_read(input, buffer, PIXELS * 4 * 4 - 1, MNN_FORMAT_NC4HW4), MNN_ERROR_BUFFER_TOO_SMALL);
    assert_fails(mnn_tensor_read(output, NULL, 0, MNN_FORMAT_NCHW), MNN_ERROR_BUFFER_TOO_SMALL);
    assert_fails(mnn_tensor_read(output, NULL, CLASSES * 4, MNN_FORMAT_NCHW), MNN_ERROR_NULL_ARGUMENT);
    const int32_t formats[] = {-1, 3, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < 4; ++i)
        assert_fails(mnn_tensor_read(output, buffer, sizeof buffer, formats[i]), MNN_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < sizeof buffer; ++i) assert_int_equal(buffer[i], 0x5a);
    for (size_t capacity = 1; capacity < 4; ++capacity) {
        int32_t dims[4] = {UNTOUCHED_INT, UNTOUCHED_INT, UNTOUCHED_INT, UNTOUCHED_INT};
        size_t rank = UNTOUCHED_SIZE;
        assert_fails(mnn_tensor_shape(input, dims, capacity, &rank), MNN_ERROR_BUFFER_TOO_SMALL);
        assert_int_equal(rank, 4);
        for (size_t i = 0; i < 4; ++i) assert_int_equal(dims[i], UNTOUCHED_INT);
    }
    assert_ok(mnn_session_destroy(&session));
}

static void null_arguments(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    mnn_tensor_t* input = first_input(session);
    int32_t dims[MNN_MAX_RANK];
    size_t rank = UNTOUCHED_SIZE;
    assert_fails(mnn_tensor_name(input, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_tensor_shape(input, dims, MNN_MAX_RANK, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_tensor_shape(input, NULL, MNN_MAX_RANK, &rank), MNN_ERROR_NULL_ARGUMENT);
    assert_int_equal(rank, UNTOUCHED_SIZE);
    assert_fails(mnn_tensor_info(input, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_tensor_element_count(input, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_tensor_byte_size(input, MNN_FORMAT_NCHW, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_ok(mnn_session_destroy(&session));
}

/* Every function is given NULL, an interpreter and a session in place of a tensor. */
static void wrong_handles(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    mnn_tensor_t* wrong[] = {NULL, (mnn_tensor_t*)net, (mnn_tensor_t*)session};
    for (size_t i = 0; i < 3; ++i) {
        mnn_tensor_t* h = wrong[i];
        const mnn_status wanted = h ? MNN_ERROR_BAD_HANDLE : MNN_ERROR_NULL_ARGUMENT;
        const char* name = UNTOUCHED_POINTER;
        int32_t dims[MNN_MAX_RANK] = {UNTOUCHED_INT};
        size_t size = UNTOUCHED_SIZE;
        float values[PIXELS] = {-5};
        assert_fails(mnn_tensor_name(h, &name), wanted);
        assert_fails(mnn_tensor_shape(h, dims, MNN_MAX_RANK, &size), wanted);
        mnn_tensor_properties_t info = {.struct_size = sizeof info, .type = 77};
        assert_fails(mnn_tensor_info(h, &info), wanted);
        assert_int_equal(info.type, 77);
        assert_fails(mnn_tensor_element_count(h, &size), wanted);
        assert_fails(mnn_tensor_byte_size(h, MNN_FORMAT_NCHW, &size), wanted);
        assert_fails(mnn_tensor_write(h, values, sizeof values, MNN_FORMAT_NCHW), wanted);
        assert_fails(mnn_tensor_read(h, values, sizeof values, MNN_FORMAT_NCHW), wanted);
        assert_ptr_equal(name, UNTOUCHED_POINTER);
        assert_int_equal(dims[0], UNTOUCHED_INT);
        assert_int_equal(size, UNTOUCHED_SIZE);
        assert_true(values[0] == -5);
    }
    assert_ok(mnn_session_destroy(&session));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(describe),      cmocka_unit_test(empty_batch), cmocka_unit_test(digits_are_recognized),
        cmocka_unit_test(write_misuse),  cmocka_unit_test(read_misuse), cmocka_unit_test(null_arguments),
        cmocka_unit_test(wrong_handles),
    };
    return cmocka_run_group_tests_name("tensor", tests, open_net, close_net);
}
