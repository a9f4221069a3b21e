/* The operators that the nodes of a model become, and the values that they compute. */
#include "checks.h"

#include <math.h>

/* Returns the net that a model is converted to; the caller destroys it. */
static mnn_interpreter_t* net_of(const void* model, size_t bytes) {
    mnn_onnx_result_t* result = NULL;
    const void* data = NULL;
    size_t size = 0;
    mnn_interpreter_t* net = NULL;
    assert_ok(mnn_onnx_convert_memory(model, bytes, NULL, &result));
    assert_ok(mnn_onnx_result_data(result, &data, &size));
    assert_ok(mnn_interpreter_create_from_memory(data, size, NULL, &net));
    mnn_onnx_result_destroy(&result);
    return net;
}

/* Checks the types of a net's operators. */
static void expect_types(mnn_interpreter_t* net, const char* const* types, size_t wanted) {
    size_t count = 0;
    assert_ok(mnn_interpreter_op_count(net, &count));
    for (size_t i = 0; i < count; i++) {
        const char* type = NULL;
        assert_ok(mnn_interpreter_op_type(net, i, &type));
        if (i >= wanted || strcmp(type, types[i]) != 0) fail_msg("operator %zu is %s", i, type);
    }
    assert_int_equal(count, wanted);
}

static void channels_are_folded_into_convolutions(void** state) {
    (void)state;
    mnn_onnx_result_t* result = NULL;
    mnn_onnx_report_t report = {.struct_size = sizeof report};
    const void* data = NULL;
    size_t size = 0;
    mnn_interpreter_t* net = NULL;
    mnn_session_t* session = NULL;
    mnn_tensor_t *in = NULL, *out = NULL;
    float values[16], results[32];
    assert_ok(mnn_onnx_convert_memory(folded_model, sizeof folded_model, NULL, &result));
    assert_ok(mnn_onnx_result_report(result, &report));
    assert_int_equal(report.nodes, 3);
    assert_ok(mnn_onnx_result_data(result, &data, &size));
    assert_ok(mnn_interpreter_create_from_memory(data, size, NULL, &net));
    assert_ok(mnn_interpreter_op_count(net, &size));
    assert_int_equal(size, 2); /* Input and Convolution */
    assert_ok(mnn_session_create(net, NULL, &session));
    assert_ok(mnn_session_input(session, NULL, &in));
    assert_ok(mnn_session_output(session, NULL, &out));
    for (int i = 0; i < 16; i++) values[i] = (float)i;
    assert_ok(mnn_tensor_write(in, values, sizeof values, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_tensor_read(out, results, sizeof results, MNN_FORMAT_NCHW));
    for (int i = 0; i < 16; i++) {
        assert_float_equal(results[i], (2.0f * values[i] - 1) * 4 + 6 + 8, 1e-3f);
        assert_float_equal(results[16 + i], (3.0f * values[i] - 2) / 2 * 5 + 7 + 9, 1e-3f);
    }
    mnn_session_destroy(&session);
    mnn_interpreter_destroy(&net);
    mnn_onnx_result_destroy(&result);
}

static void expect_operators(const void* model, size_t bytes, const char* const* types, size_t wanted) {
    mnn_interpreter_t* net = net_of(model, bytes);
    expect_types(net, types, wanted);
    mnn_interpreter_destroy(&net);
}

static void layers_take_what_lies_behind_them(void** state) {
    (void)state;
    const char* volume[] = {"Input", "Convolution3D"};
    const char* transposed[] = {"Input", "Deconvolution"};
    const char* layer[] = {"Input", "Reshape", "Convolution", "Reshape"};
    expect_operators(volume_model, sizeof volume_model, volume, 2);
    expect_operators(transposed_model, sizeof transposed_model, transposed, 2);
    const char* norm[] = {"Input", "LayerNorm"};
    expect_operators(rms_model, sizeof rms_model, norm, 2);
    expect_operators(layer_model, sizeof layer_model, layer, 4);
}

static void added_branches_become_one_convolution(void** state) {
    (void)state;
    const char* one[] = {"Input", "Convolution"};
    const char* both[] = {"Input", "Convolution", "Convolution", "BinaryOp"};
    expect_operators(branches_model, sizeof branches_model, one, 2);
    expect_operators(lines_model, sizeof lines_model, both, 4);
}

static void ones_and_zeros_cost_nothing(void** state) {
    (void)state;
    const char* types[] = {"Input", "Reshape", "LayerNorm", "Reshape", "Const", "BinaryOp"};
    expect_operators(norm_model, sizeof norm_model, types, 4);
    expect_operators(shifted_norm_model, sizeof shifted_norm_model, types, 6);
}

static void chains_become_single_operators(void** state) {
    (void)state;
    float got[32], values[32], mean = 0, square = 0;
    /* The product has the form of the official converter: a convolution of 1x1 between two Reshapes. */
    const char* types[] = {"Input", "Reshape", "Convolution", "Reshape", "UnaryOp", "LayerNorm"};
    mnn_interpreter_t* net = net_of(chain_model, sizeof chain_model);
    expect_types(net, types, 6);
    products(net, got);
    for (int n = 0; n < 32; n++) {
        float sum = (float)n / 8;
        for (int k = 0; k < 64; k++) sum += element(k * 32 + n);
        values[n] = 0.5f * sum * (1 + erff(sum / sqrtf(2)));
        mean += values[n] / 32;
    }
    for (int n = 0; n < 32; n++) square += (values[n] - mean) * (values[n] - mean) / 32;
    for (int n = 0; n < 32; n++)
        assert_float_equal(got[n], (values[n] - mean) / sqrtf(square + 1e-5f) * (float)n / 8 + (float)n / 8, 1e-3f);
    mnn_interpreter_destroy(&net);
}

/* The session computes with codes, and the report says so. */
static void quantised_layers_compute_with_codes(void** state) {
    (void)state;
    mnn_onnx_result_t* result = NULL;
    const void* data = NULL;
    const char* note = NULL;
    size_t size = 0, count = 0, coded = 0;
    mnn_interpreter_t* net = NULL;
    mnn_session_t* session = NULL;
    mnn_tensor_t *in = NULL, *out = NULL;
    const float values[] = {0.6f, -3, 7.2f, 200};
    float got[8];
    assert_ok(mnn_onnx_convert_memory(coded_model, sizeof coded_model, NULL, &result));
    assert_ok(mnn_onnx_result_note(result, 0, &note));
    assert_non_null(strstr(note, "1 layers have the codes"));
    assert_ok(mnn_onnx_result_data(result, &data, &size));
    assert_ok(mnn_interpreter_create_from_memory(data, size, NULL, &net));
    assert_ok(mnn_session_create(net, NULL, &session));
    assert_ok(mnn_session_op_count(session, &count));
    for (size_t i = 0; i < count; i++) {
        mnn_op_info_t op = {.struct_size = sizeof op};
        assert_ok(mnn_session_op_info(session, i, &op));
        coded += strcmp(op.type_name, "ConvInt8") == 0 || strcmp(op.type_name, "Pooling") == 0;
        if (strcmp(op.type_name, "Convolution") == 0) fail_msg("a convolution of floats");
    }
    assert_int_equal(coded, 2);
    assert_ok(mnn_session_input(session, NULL, &in));
    assert_ok(mnn_session_output(session, NULL, &out));
    assert_ok(mnn_tensor_write(in, values, sizeof values, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_tensor_read(out, got, sizeof got, MNN_FORMAT_NCHW));
    /* Codes of x: round(x / 0.5) + 2, limited to 127: 3, -4, 16, 127, which represent 0.5, -3, 7, 62.5. */
    const float wanted[] = {0.5f, -2, 5, 47, -1, 7.5f, -17.5f, -65};
    for (int i = 0; i < 8; i++) assert_float_equal(got[i], wanted[i], 0.5f);
    mnn_session_destroy(&session);
    mnn_interpreter_destroy(&net);
    mnn_onnx_result_destroy(&result);
}

/* A tensor of the net that has a name of the file holds the value of that name. */
static void values_keep_their_names(void** state) {
    (void)state;
    const char* names[] = {"h", "s", "p", "q"};
    const float values[] = {-3, -1, 0, 1, 2, 3};
    const float wanted[4][6] = {{-3, -1, 0, 1, 2, 3}, {0, 0.3f, 0.5f, 0.7f, 0.9f, 1}, {0, 0.3f, 0.5f}, {0.7f, 0.9f, 1}};
    mnn_session_t* session = NULL;
    mnn_tensor_t *in = NULL, *out = NULL;
    mnn_schedule_config_t config;
    assert_ok(mnn_schedule_config_init(&config, sizeof config));
    config.save_tensors = names;
    config.save_tensor_count = 4;
    mnn_interpreter_t* net = net_of(parts_model, sizeof parts_model);
    assert_ok(mnn_session_create(net, &config, &session));
    assert_ok(mnn_session_input(session, NULL, &in));
    assert_ok(mnn_tensor_write(in, values, sizeof values, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
    for (size_t i = 0; i < 4; i++) {
        float got[6] = {0};
        assert_ok(mnn_session_output(session, names[i], &out));
        assert_ok(mnn_tensor_read(out, got, sizeof got, MNN_FORMAT_NCHW));
        for (size_t k = 0; k < 6; k++) assert_float_equal(got[k], wanted[i][k], 1e-6f);
    }
    mnn_session_destroy(&session);
    mnn_interpreter_destroy(&net);
}

/* A shape that the model computes is no free one, though a single extent of it is not known while converting. */
static void computed_shapes_are_compared(void** state) {
    (void)state;
    const int32_t fits[] = {6, 1, 8}, others[] = {3, 1, 8};
    mnn_session_t* session = NULL;
    mnn_tensor_t* in = NULL;
    mnn_schedule_config_t config;
    assert_ok(mnn_schedule_config_init(&config, sizeof config));
    config.defer_planning = 1;
    mnn_interpreter_t* net = net_of(six_model, sizeof six_model);
    assert_ok(mnn_session_create(net, &config, &session));
    assert_ok(mnn_session_input(session, NULL, &in));
    assert_ok(mnn_session_resize_input(session, in, fits, 3));
    assert_ok(mnn_session_resize(session));
    assert_ok(mnn_session_resize_input(session, in, others, 3));
    assert_int_equal(mnn_session_resize(session), MNN_ERROR_COMPUTE_SIZE);
    assert_non_null(strstr(mnn_last_error(), "3x1x8 cannot become 6x2x4"));
    mnn_session_destroy(&session);
    mnn_interpreter_destroy(&net);
}

/* A branch that is read in vain, because the other one has no form, is not written beside what takes its place. */
static void branches_that_are_left_out_leave_nothing(void** state) {
    (void)state;
    mnn_onnx_result_t* result = NULL;
    const void* data = NULL;
    size_t size = 0;
    assert_ok(mnn_onnx_convert_memory(guarded_model, sizeof guarded_model, NULL, &result));
    assert_ok(mnn_onnx_result_data(result, &data, &size));
    if (size < 8192 || size > 8192 + 2048) fail_msg("a net with one table of 8192 bytes has %zu bytes", size);
    mnn_onnx_result_destroy(&result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(channels_are_folded_into_convolutions),
        cmocka_unit_test(layers_take_what_lies_behind_them),
        cmocka_unit_test(ones_and_zeros_cost_nothing),
        cmocka_unit_test(chains_become_single_operators),
        cmocka_unit_test(added_branches_become_one_convolution),
        cmocka_unit_test(quantised_layers_compute_with_codes),
        cmocka_unit_test(values_keep_their_names),
        cmocka_unit_test(computed_shapes_are_compared),
        cmocka_unit_test(branches_that_are_left_out_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
