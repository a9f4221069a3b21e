/* Models of the cases whose constants a session writes, their results, and the constants as numbers. */
#ifndef MNN_C_TESTS_CONSTANTS_H
#define MNN_C_TESTS_CONSTANTS_H

#include "digits_net.h"

enum { VALUES = 6, KINDS = 7 };

/* One constant of each element type: half, uint8, int8, int32, int64, float and a trainable one, each added to x. */
static const char* const kSums[KINDS] = {"sum_half",  "sum_uint8", "sum_int8",     "sum_int32",
                                         "sum_int64", "sum_float", "sum_trainable"};

static inline mnn_tensor_t* constant_at(mnn_session_t* session, size_t index) {
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

static inline void read_doubles(const mnn_tensor_t* tensor, double* values, size_t* count) {
    assert_ok(mnn_tensor_element_count(tensor, count));
    assert_true(*count <= 64);
    assert_ok(mnn_tensor_read_as(tensor, values, *count * sizeof *values, MNN_TYPE_DOUBLE, MNN_FORMAT_NCHW));
}

/* Each output is x plus its constant, which are these: VALUES for each of the first, 2 for the last. */
static inline void assert_sums(mnn_session_t* session, double wanted[KINDS][VALUES]) {
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
            if (sum[i] != added) fail_msg("%s[%d] is %g, wanted %g", kSums[kind], i, (double)sum[i], (double)added);
        }
    }
}

static inline void constants_of(mnn_session_t* session, double values[KINDS][VALUES]) {
    size_t count = 0;
    assert_ok(mnn_session_constant_count(session, &count));
    assert_int_equal(count, KINDS);
    for (size_t kind = 0; kind < KINDS; ++kind) {
        read_doubles(constant_at(session, kind), values[kind], &count);
        assert_int_equal(count, kind == KINDS - 1 ? 2 : VALUES);
    }
}

static inline void write_constants(mnn_session_t* session, double first, double values[KINDS][VALUES]) {
    for (size_t kind = 0; kind < KINDS; ++kind) {
        const size_t count = kind == KINDS - 1 ? 2 : VALUES;
        for (size_t i = 0; i < count; ++i) values[kind][i] = first + (double)(kind * 7 + i);
        assert_ok(mnn_tensor_write_as(constant_at(session, kind), values[kind], count * sizeof(double), MNN_TYPE_DOUBLE,
                                      MNN_FORMAT_NCHW));
    }
}

/* All outputs of the products, one after another. */
static inline size_t products(mnn_session_t* session, float* values, size_t capacity) {
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

static inline void scale_constants(mnn_session_t* session, float factor) {
    size_t count = 0, elements = 0;
    assert_ok(mnn_session_constant_count(session, &count));
    assert_true(count >= 6);
    for (size_t i = 0; i < count; ++i) {
        mnn_tensor_t* tensor = constant_at(session, i);
        double values[64];
        read_doubles(tensor, values, &elements);
        for (size_t k = 0; k < elements; ++k) values[k] *= (double)factor;
        assert_ok(mnn_tensor_write_as(tensor, values, elements * sizeof *values, MNN_TYPE_DOUBLE, MNN_FORMAT_NCHW));
    }
}

#endif
