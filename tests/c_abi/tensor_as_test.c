/* mnn_tensor_write_as() and mnn_tensor_read_as(): elements of the host's types. */
#include <math.h>

#include "digits_net.h"

static mnn_session_t* session;
static mnn_tensor_t *input, *output;

/* Writes equal elements of a type and returns the first float of the tensor. */
#define WRITE(c_type, type, ...)                                                             \
    do {                                                                                     \
        c_type values[PIXELS];                                                               \
        for (size_t i = 0; i < PIXELS; ++i) values[i] = (c_type)__VA_ARGS__;                 \
        assert_ok(mnn_tensor_write_as(input, values, sizeof values, type, MNN_FORMAT_NCHW)); \
        assert_ok(mnn_tensor_read(input, floats, sizeof floats, MNN_FORMAT_NCHW));           \
    } while (0)

static void every_type_becomes_float(void** state) {
    (void)state;
    float floats[PIXELS];
    WRITE(float, MNN_TYPE_FLOAT32, 1.5f);
    assert_true(floats[0] == 1.5f && floats[PIXELS - 1] == 1.5f);
    WRITE(double, MNN_TYPE_DOUBLE, 0.1);
    assert_true(floats[PIXELS - 1] == 0.1f);
    WRITE(double, MNN_TYPE_DOUBLE, NAN);
    assert_true(isnan(floats[0]));
    WRITE(double, MNN_TYPE_DOUBLE, -INFINITY);
    assert_true(floats[0] == -INFINITY);
    WRITE(int64_t, MNN_TYPE_INT64, -((int64_t)1 << 40));
    assert_true(floats[0] == -0x1p40f);
    WRITE(int32_t, MNN_TYPE_INT32, INT32_MIN);
    assert_true(floats[0] == -0x1p31f);
    WRITE(uint8_t, MNN_TYPE_UINT8, 200);
    assert_true(floats[0] == 200);
    WRITE(int8_t, MNN_TYPE_INT8, -100);
    assert_true(floats[0] == -100);
    WRITE(int16_t, MNN_TYPE_INT16, -30000);
    assert_true(floats[0] == -30000);
    WRITE(uint16_t, MNN_TYPE_UINT16, 60000);
    assert_true(floats[0] == 60000);
    WRITE(uint16_t, MNN_TYPE_FLOAT16, 0xbc00);
    assert_true(floats[0] == -1);
    WRITE(uint16_t, MNN_TYPE_BFLOAT16, 0x4040);
    assert_true(floats[0] == 3);
    WRITE(uint8_t, MNN_TYPE_BOOL, 7);
    assert_true(floats[0] == 1);
}

static void floats_become_every_type(void** state) {
    (void)state;
    float floats[PIXELS];
    for (size_t i = 0; i < PIXELS; ++i) floats[i] = (float)i - 3;
    assert_ok(mnn_tensor_write(input, floats, sizeof floats, MNN_FORMAT_NCHW));
    int64_t wide[PIXELS + 1];
    wide[PIXELS] = 77;
    assert_ok(mnn_tensor_read_as(input, wide, sizeof wide, MNN_TYPE_INT64, MNN_FORMAT_NCHW));
    assert_true(wide[0] == -3 && wide[PIXELS - 1] == PIXELS - 4 && wide[PIXELS] == 77);
    double doubles[PIXELS];
    assert_ok(mnn_tensor_read_as(input, doubles, sizeof doubles, MNN_TYPE_DOUBLE, MNN_FORMAT_NHWC));
    assert_true(doubles[1] == -2);
    bool truths[PIXELS];
    assert_ok(mnn_tensor_read_as(input, truths, sizeof truths, MNN_TYPE_BOOL, MNN_FORMAT_NCHW));
    assert_true(truths[0] && !truths[3] && truths[4]);
    uint16_t halves[PIXELS];
    assert_ok(mnn_tensor_read_as(input, halves, sizeof halves, MNN_TYPE_FLOAT16, MNN_FORMAT_NCHW));
    assert_int_equal(halves[4], 0x3c00);
    assert_ok(mnn_tensor_read_as(input, halves, sizeof halves, MNN_TYPE_BFLOAT16, MNN_FORMAT_NCHW));
    assert_int_equal(halves[4], 0x3f80);
    /* NC4HW4 has zeros between the elements. */
    int64_t packed[PIXELS * 4];
    assert_ok(mnn_tensor_read_as(input, packed, sizeof packed, MNN_TYPE_INT64, MNN_FORMAT_NC4HW4));
    assert_true(packed[4] == -2 && packed[5] == 0);
    assert_ok(mnn_tensor_write_as(input, packed, sizeof packed, MNN_TYPE_INT64, MNN_FORMAT_NC4HW4));
    assert_ok(mnn_tensor_read(input, doubles, PIXELS * sizeof(float), MNN_FORMAT_NCHW));
    assert_memory_equal(doubles, floats, sizeof floats);
}

static void values_that_do_not_fit_change_nothing(void** state) {
    (void)state;
    float floats[PIXELS], after[PIXELS];
    for (size_t i = 0; i < PIXELS; ++i) floats[i] = 300.0f;
    assert_ok(mnn_tensor_write(input, floats, sizeof floats, MNN_FORMAT_NCHW));
    double doubles[PIXELS] = {0};
    doubles[PIXELS - 1] = 1e39;
    assert_fails(mnn_tensor_write_as(input, doubles, sizeof doubles, MNN_TYPE_DOUBLE, MNN_FORMAT_NCHW),
                 MNN_ERROR_INPUT_DATA);
    assert_non_null(strstr(mnn_last_error(), "element 63"));
    assert_ok(mnn_tensor_read(input, after, sizeof after, MNN_FORMAT_NCHW));
    assert_memory_equal(after, floats, sizeof floats);
    uint8_t bytes[PIXELS];
    memset(bytes, 9, sizeof bytes);
    assert_fails(mnn_tensor_read_as(input, bytes, sizeof bytes, MNN_TYPE_UINT8, MNN_FORMAT_NCHW), MNN_ERROR_INPUT_DATA);
    assert_int_equal(bytes[0], 9);
    for (size_t i = 0; i < PIXELS; ++i) floats[i] = 0.5f;
    floats[0] = NAN;
    assert_ok(mnn_tensor_write(input, floats, sizeof floats, MNN_FORMAT_NCHW));
    int64_t wide[PIXELS];
    assert_fails(mnn_tensor_read_as(input, wide, sizeof wide, MNN_TYPE_INT64, MNN_FORMAT_NCHW), MNN_ERROR_INPUT_DATA);
    floats[0] = 0x1p63f; /* one above the largest */
    assert_ok(mnn_tensor_write(input, floats, sizeof floats, MNN_FORMAT_NCHW));
    assert_fails(mnn_tensor_read_as(input, wide, sizeof wide, MNN_TYPE_INT64, MNN_FORMAT_NCHW), MNN_ERROR_INPUT_DATA);
    uint16_t halves[PIXELS];
    floats[0] = 65520.0f; /* would round to infinity */
    assert_ok(mnn_tensor_write(input, floats, sizeof floats, MNN_FORMAT_NCHW));
    assert_fails(mnn_tensor_read_as(input, halves, sizeof halves, MNN_TYPE_FLOAT16, MNN_FORMAT_NCHW),
                 MNN_ERROR_INPUT_DATA);
    floats[0] = INFINITY;
    assert_ok(mnn_tensor_write(input, floats, sizeof floats, MNN_FORMAT_NCHW));
    assert_ok(mnn_tensor_read_as(input, halves, sizeof halves, MNN_TYPE_FLOAT16, MNN_FORMAT_NCHW));
    assert_int_equal(halves[0], 0x7c00);
}

static void wrong_arguments(void** state) {
    (void)state;
    int64_t wide[PIXELS] = {0};
    assert_fails(mnn_tensor_write_as(input, wide, sizeof wide, 0, MNN_FORMAT_NCHW), MNN_ERROR_INVALID_VALUE);
    assert_fails(mnn_tensor_write_as(input, wide, sizeof wide, MNN_TYPE_INT64, 3), MNN_ERROR_INVALID_VALUE);
    assert_fails(mnn_tensor_write_as(input, wide, sizeof wide - 1, MNN_TYPE_INT64, MNN_FORMAT_NCHW),
                 MNN_ERROR_INPUT_DATA);
    assert_fails(mnn_tensor_write_as(input, NULL, sizeof wide, MNN_TYPE_INT64, MNN_FORMAT_NCHW),
                 MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_tensor_write_as(output, wide, sizeof wide, MNN_TYPE_INT64, MNN_FORMAT_NCHW), MNN_ERROR_BAD_STATE);
    assert_fails(mnn_tensor_write_as(NULL, wide, sizeof wide, MNN_TYPE_INT64, MNN_FORMAT_NCHW),
                 MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_tensor_read_as(input, wide, sizeof wide - 1, MNN_TYPE_INT64, MNN_FORMAT_NCHW),
                 MNN_ERROR_BUFFER_TOO_SMALL);
    assert_fails(mnn_tensor_read_as(input, wide, sizeof wide, 99, MNN_FORMAT_NCHW), MNN_ERROR_INVALID_VALUE);
    assert_fails(mnn_tensor_read_as(output, wide, sizeof wide, MNN_TYPE_INT64, MNN_FORMAT_NCHW), MNN_ERROR_BAD_STATE);
}

static int open_all(void** state) {
    if (open_net(state)) return -1;
    session = open_session(net);
    input = first_input(session);
    output = first_output(session);
    return 0;
}

static int close_all(void** state) {
    return mnn_session_destroy(&session) == MNN_OK ? close_net(state) : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_becomes_float),
        cmocka_unit_test(floats_become_every_type),
        cmocka_unit_test(values_that_do_not_fit_change_nothing),
        cmocka_unit_test(wrong_arguments),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
