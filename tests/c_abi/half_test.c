/* Tensors that a model declares as half: two bytes for each element outside, floats inside. */
#include <math.h>

#include "support.h"

enum { CHANNELS = 5, PLANE = 6, COUNT = CHANNELS * PLANE };

static const float kFactor = 1.5f;

static mnn_interpreter_t* net;
static mnn_session_t* session;
static mnn_tensor_t *x, *factor, *product, *cast, *sum;

static mnn_tensor_t* output(const char* name) {
    mnn_tensor_t* tensor = NULL;
    assert_ok(mnn_session_output(session, name, &tensor));
    return tensor;
}

static int open_all(void** state) {
    (void)state;
    if (mnn_interpreter_create_from_file(MNN_C_NETS_FOLDER "/halves.mnn", NULL, &net) != MNN_OK) return -1;
    session = open_session(net);
    assert_ok(mnn_session_input(session, "x", &x));
    assert_ok(mnn_session_input(session, "factor", &factor));
    product = output("product");
    cast = output("cast");
    sum = output("sum");
    assert_ok(mnn_tensor_write(factor, &kFactor, sizeof kFactor, MNN_FORMAT_NCHW));
    return 0;
}

static int close_all(void** state) {
    (void)state;
    assert_ok(mnn_session_destroy(&session));
    return mnn_interpreter_destroy(&net) == MNN_OK ? 0 : -1;
}

/* Returns the half of k/4, which is exact: the bits of a positive number without its sign bit. */
static uint16_t half_of(float value) {
    if (value == 0) return 0;
    int exponent = 0;
    const float fraction = frexpf(fabsf(value), &exponent);
    return (uint16_t)((value < 0 ? 0x8000 : 0) | (exponent + 14) << 10 | ((int)ldexpf(fraction, 11) - 1024));
}

static float value_of(size_t i) {
    return (float)i * 0.25f - 3;
}

static void fill(uint16_t* halves) {
    for (size_t i = 0; i < COUNT; ++i) halves[i] = half_of(value_of(i));
}

/* Returns the place of element i of N x C x plane in a format. */
static size_t place(size_t i, int32_t format) {
    const size_t c = i / PLANE, s = i % PLANE;
    if (format == MNN_FORMAT_NHWC) return s * CHANNELS + c;
    if (format == MNN_FORMAT_NC4HW4) return (c / 4 * PLANE + s) * 4 + c % 4;
    return i;
}

static size_t elements_in(int32_t format) {
    return format == MNN_FORMAT_NC4HW4 ? (size_t)8 * PLANE : COUNT;
}

static void types_and_sizes(void** state) {
    (void)state;
    const struct {
        mnn_tensor_t* tensor;
        int32_t type;
    } all[] = {{x, MNN_TYPE_FLOAT16},
               {factor, MNN_TYPE_FLOAT32},
               {product, MNN_TYPE_FLOAT32},
               {cast, MNN_TYPE_FLOAT16},
               {sum, MNN_TYPE_FLOAT16}};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        size_t bytes = 0;
        const int32_t type = tensor_info_of(all[i].tensor).type;
        assert_int_equal(type, all[i].type);
        if (all[i].tensor == factor) continue;
        const size_t element = type == MNN_TYPE_FLOAT16 ? 2 : 4;
        for (int32_t format = 0; format < 3; ++format) {
            assert_ok(mnn_tensor_byte_size(all[i].tensor, format, &bytes));
            assert_int_equal(bytes, elements_in(format) * element);
        }
    }
    mnn_declaration_t info = {.struct_size = sizeof info};
    assert_ok(mnn_interpreter_input_info(net, 0, &info));
    assert_true(info.declared_type == MNN_TYPE_FLOAT16 && info.type == MNN_TYPE_FLOAT16);
    const int32_t types[] = {MNN_TYPE_FLOAT32, MNN_TYPE_FLOAT16, MNN_TYPE_FLOAT16};
    const int32_t declared[] = {0, MNN_TYPE_FLOAT16, MNN_TYPE_FLOAT16};
    for (size_t i = 0; i < 3; ++i) {
        assert_ok(mnn_interpreter_output_info(net, i, &info));
        assert_int_equal(info.type, types[i]);
        assert_int_equal(info.declared_type, declared[i]);
    }
}

static void written_and_read_in_every_format(void** state) {
    (void)state;
    uint16_t halves[COUNT];
    fill(halves);
    for (int32_t format = 0; format < 3; ++format) {
        uint16_t given[8 * PLANE] = {0}, got[8 * PLANE + 1];
        const size_t count = elements_in(format);
        for (size_t i = 0; i < COUNT; ++i) given[place(i, format)] = halves[i];
        assert_ok(mnn_tensor_write(x, given, count * 2, format));
        assert_ok(mnn_session_run(session));
        memset(got, 0x5a, sizeof got);
        assert_ok(mnn_tensor_read(x, got, sizeof got, format));
        assert_memory_equal(got, given, count * 2);
        assert_int_equal(got[count], 0x5a5a);
        assert_ok(mnn_tensor_read(cast, got, count * 2, format));
        for (size_t i = 0; i < COUNT; ++i) assert_int_equal(got[place(i, format)], half_of(value_of(i) * kFactor));
        assert_ok(mnn_tensor_read(sum, got, count * 2, format));
        for (size_t i = 0; i < COUNT; ++i) assert_int_equal(got[place(i, format)], half_of(value_of(i) * kFactor * 2));
        float floats[COUNT];
        assert_ok(mnn_tensor_read(product, floats, sizeof floats, MNN_FORMAT_NCHW));
        for (size_t i = 0; i < COUNT; ++i) assert_true(floats[i] == value_of(i) * kFactor);
        assert_fails(mnn_tensor_write(x, given, count * 4, format), MNN_ERROR_INPUT_DATA);
        assert_fails(mnn_tensor_read(cast, got, count * 2 - 1, format), MNN_ERROR_BUFFER_TOO_SMALL);
    }
}

static void other_types_are_converted(void** state) {
    (void)state;
    float floats[COUNT];
    for (size_t i = 0; i < COUNT; ++i) floats[i] = value_of(i);
    assert_ok(mnn_tensor_write_as(x, floats, sizeof floats, MNN_TYPE_FLOAT32, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
    double doubles[COUNT];
    assert_ok(mnn_tensor_read_as(sum, doubles, sizeof doubles, MNN_TYPE_DOUBLE, MNN_FORMAT_NCHW));
    for (size_t i = 0; i < COUNT; ++i) assert_true(doubles[i] == (double)(value_of(i) * kFactor * 2));
    char text[4096];
    size_t needed = 0;
    assert_ok(mnn_tensor_print(sum, 0, text, sizeof text, &needed));
    assert_non_null(strstr(text, "sum float16 [1, 5, 3, 2] NCHW"));
}

static void mapped(void** state) {
    (void)state;
    void* data = NULL;
    assert_ok(mnn_tensor_map(x, MNN_MAP_WRITE, &data));
    fill(data);
    assert_ok(mnn_tensor_unmap(x));
    assert_ok(mnn_tensor_map(x, MNN_MAP_READ | MNN_MAP_WRITE, &data));
    uint16_t halves[COUNT];
    fill(halves);
    assert_memory_equal(data, halves, sizeof halves);
    ((uint16_t*)data)[7] = half_of(10);
    assert_ok(mnn_tensor_unmap(x));
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_tensor_map(cast, MNN_MAP_READ, &data));
    for (size_t i = 0; i < COUNT; ++i)
        assert_int_equal(((uint16_t*)data)[i], half_of((i == 7 ? 10 : value_of(i)) * kFactor));
    assert_ok(mnn_tensor_unmap(cast));
}

/* Tests each format, at odd addresses, too. */
static void bound(void** state) {
    (void)state;
    for (int32_t format = 0; format < 3; ++format)
        for (size_t shift = 0; shift < 2; ++shift) {
            const size_t count = elements_in(format);
            unsigned char in[8 * PLANE * 2 + 1] = {0}, out[8 * PLANE * 2 + 3];
            memset(out, 0x5a, sizeof out);
            for (size_t i = 0; i < COUNT; ++i) {
                const uint16_t half = half_of(value_of(i));
                memcpy(in + shift + 2 * place(i, format), &half, sizeof half);
            }
            assert_fails(mnn_session_bind_input(session, x, in + shift, count * 4, format), MNN_ERROR_INPUT_DATA);
            assert_fails(mnn_session_bind_output(session, sum, out + shift, count * 2 - 1, format),
                         MNN_ERROR_BUFFER_TOO_SMALL);
            assert_ok(mnn_session_bind_input(session, x, in + shift, count * 2, format));
            assert_ok(mnn_session_bind_output(session, sum, out + shift, count * 2, format));
            assert_ok(mnn_session_run(session));
            uint16_t got[8 * PLANE], read[8 * PLANE];
            memcpy(got, out + shift, count * 2);
            for (size_t i = 0; i < COUNT; ++i)
                assert_int_equal(got[place(i, format)], half_of(value_of(i) * kFactor * 2));
            assert_int_equal(out[shift + count * 2], 0x5a);
            assert_ok(mnn_tensor_read(sum, read, count * 2, format));
            assert_memory_equal(read, got, count * 2);
            float floats[COUNT];
            assert_ok(mnn_tensor_read_as(x, floats, sizeof floats, MNN_TYPE_FLOAT32, MNN_FORMAT_NCHW));
            for (size_t i = 0; i < COUNT; ++i) assert_true(floats[i] == value_of(i));
            assert_ok(mnn_session_bind_output(session, sum, NULL, 0, 0));
            assert_ok(mnn_session_bind_input(session, x, NULL, 0, 0));
        }
}

/* Values beyond the largest half cannot be read as halves, but as floats. */
static void values_that_half_cannot_hold(void** state) {
    (void)state;
    uint16_t halves[COUNT], got[COUNT];
    fill(halves);
    halves[11] = half_of(32768);
    assert_ok(mnn_tensor_write(x, halves, sizeof halves, MNN_FORMAT_NCHW));
    memset(got, 0x5a, sizeof got);
    assert_ok(mnn_session_bind_output(session, sum, got, sizeof got, MNN_FORMAT_NCHW));
    assert_fails(mnn_session_run(session), MNN_ERROR_INPUT_DATA);
    assert_non_null(strstr(mnn_last_error(), "'sum'"));
    for (size_t i = 0; i < COUNT; ++i) assert_int_equal(got[i], 0x5a5a);
    float floats[COUNT];
    assert_ok(mnn_tensor_read_as(sum, floats, sizeof floats, MNN_TYPE_FLOAT32, MNN_FORMAT_NCHW));
    assert_true(floats[11] == 98304);
    void* data = UNTOUCHED_POINTER;
    assert_fails(mnn_tensor_read(sum, got, sizeof got, MNN_FORMAT_NCHW), MNN_ERROR_INPUT_DATA);
    assert_fails(mnn_tensor_map(sum, MNN_MAP_READ, &data), MNN_ERROR_INPUT_DATA);
    assert_ptr_equal(data, UNTOUCHED_POINTER);
    assert_ok(mnn_tensor_read(cast, got, sizeof got, MNN_FORMAT_NCHW)); /* 49152 fits */
    assert_int_equal(got[11], half_of(49152));
    halves[11] = 0x7c00; /* infinity is a half */
    assert_ok(mnn_tensor_write(x, halves, sizeof halves, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_tensor_read(sum, got, sizeof got, MNN_FORMAT_NCHW));
    assert_int_equal(got[11], 0x7c00);
    assert_ok(mnn_session_bind_output(session, sum, NULL, 0, 0));
}

/* A resize changes the bytes of both, like those of every bound tensor. */
static void resized(void** state) {
    (void)state;
    uint16_t in[2 * COUNT], out[2 * COUNT];
    fill(in);
    fill(in + COUNT);
    assert_ok(mnn_session_bind_input(session, x, in, COUNT * 2, MNN_FORMAT_NCHW));
    const int32_t two[] = {2, 5, 3, 2}, one[] = {1, 5, 3, 2};
    assert_ok(mnn_session_resize_input(session, x, two, 4));
    assert_ok(mnn_session_resize(session));
    assert_fails(mnn_session_run(session), MNN_ERROR_BAD_STATE);
    assert_ok(mnn_session_bind_input(session, x, in, sizeof in, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_bind_output(session, cast, out, sizeof out, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
    for (size_t i = 0; i < 2 * COUNT; ++i) assert_int_equal(out[i], half_of(value_of(i % COUNT) * kFactor));
    assert_ok(mnn_session_bind_input(session, x, NULL, 0, 0));
    assert_ok(mnn_session_bind_output(session, cast, NULL, 0, 0));
    assert_ok(mnn_session_resize_input(session, x, one, 4));
    assert_ok(mnn_session_resize(session));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_and_sizes),
        cmocka_unit_test(written_and_read_in_every_format),
        cmocka_unit_test(other_types_are_converted),
        cmocka_unit_test(mapped),
        cmocka_unit_test(bound),
        cmocka_unit_test(values_that_half_cannot_hold),
        cmocka_unit_test(resized),
    };
    return cmocka_run_group_tests_name("half", tests, open_all, close_all);
}
