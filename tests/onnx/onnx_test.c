/* mnn_c_onnx.h: options, results, handles, and refused calls. */
#include <mnn_c_onnx.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* x [batch, 4] -> Relu -> h -> Neg -> y, opset 18; made by tests/tool/onnx_file.py. */
#include "small_model.h"

#define assert_ok(call) assert_int_equal((call), MNN_OK)

static void assert_fails(mnn_status status, mnn_status wanted, const char* word) {
    if (status != wanted || !strstr(mnn_onnx_last_error(), word))
        fail_msg("status %d for %d: %s", status, wanted, mnn_onnx_last_error());
}

static mnn_onnx_result_t* converted(const mnn_onnx_options_t* options) {
    mnn_onnx_result_t* result = NULL;
    assert_ok(mnn_onnx_convert_memory(small_model, sizeof small_model, options, &result));
    assert_non_null(result);
    return result;
}

static mnn_onnx_options_t defaults(void) {
    mnn_onnx_options_t options;
    assert_ok(mnn_onnx_options_init(&options, sizeof options));
    return options;
}

static void dims_of(const mnn_onnx_result_t* result, const char* output, int32_t dims[MNN_MAX_RANK]) {
    const void* data = NULL;
    size_t size = 0;
    mnn_interpreter_t* net = NULL;
    mnn_declaration_t input = {.struct_size = sizeof input};
    const char* name = NULL;
    assert_ok(mnn_onnx_result_data(result, &data, &size));
    assert_ok(mnn_interpreter_create_from_memory(data, size, NULL, &net));
    assert_ok(mnn_interpreter_input_info(net, 0, &input));
    assert_int_equal(input.rank, 2);
    memcpy(dims, input.dims, sizeof input.dims);
    assert_ok(mnn_interpreter_output_name(net, 0, &name));
    assert_string_equal(name, output);
    mnn_interpreter_destroy(&net);
}

static void results_have_a_net_and_a_report(void** state) {
    (void)state;
    mnn_onnx_result_t* result = converted(NULL);
    mnn_onnx_report_t report = {.struct_size = sizeof report};
    int32_t dims[MNN_MAX_RANK];
    assert_ok(mnn_onnx_result_report(result, &report));
    assert_int_equal(report.nodes, 2);
    assert_int_equal(report.operators, 3);
    assert_int_equal(report.problems, 0);
    dims_of(result, "y", dims);
    assert_int_equal(dims[0], -1);
    assert_int_equal(dims[1], 4);
    assert_ok(mnn_onnx_result_destroy(&result));
    assert_null(result);
    assert_ok(mnn_onnx_result_destroy(&result));
    assert_ok(mnn_onnx_result_destroy(NULL));
}

static void options_fix_extents_and_choose_outputs(void** state) {
    (void)state;
    const int32_t shape[] = {5, 4}, other[] = {5, 3}, one[] = {5};
    const mnn_onnx_shape_t shapes[] = {{"x", shape, 2}};
    const mnn_onnx_extent_t extents[] = {{"batch", 7}};
    const char* outputs[] = {"h"};
    int32_t dims[MNN_MAX_RANK];
    mnn_onnx_options_t options = defaults();
    options.shapes = shapes;
    options.shape_count = 1;
    mnn_onnx_result_t* result = converted(&options);
    dims_of(result, "y", dims);
    assert_int_equal(dims[0], 5);
    mnn_onnx_result_destroy(&result);

    options = defaults();
    options.extents = extents;
    options.extent_count = 1;
    options.outputs = outputs;
    options.output_count = 1;
    result = converted(&options);
    dims_of(result, "h", dims);
    assert_int_equal(dims[0], 7);
    mnn_onnx_result_destroy(&result);

    const mnn_onnx_shape_t wrong[] = {{"z", shape, 2}, {"x", other, 2}, {"x", one, 1}};
    const mnn_status statuses[] = {MNN_ERROR_NOT_FOUND, MNN_ERROR_INVALID_VALUE, MNN_ERROR_INVALID_VALUE};
    const char* words[] = {"no input 'z'", "has 4 elements, not 3", "has rank 2, the given shape has rank 1"};
    for (size_t i = 0; i < 3; i++) {
        options = defaults();
        options.shapes = &wrong[i];
        options.shape_count = 1;
        assert_fails(mnn_onnx_convert_memory(small_model, sizeof small_model, &options, &result), statuses[i],
                     words[i]);
        assert_null(result);
    }
    const mnn_onnx_extent_t no_such[] = {{"sequence", 7}};
    options = defaults();
    options.extents = no_such;
    options.extent_count = 1;
    assert_fails(mnn_onnx_convert_memory(small_model, sizeof small_model, &options, &result), MNN_ERROR_NOT_FOUND,
                 "'sequence'");
    const char* nothing[] = {"q"};
    options = defaults();
    options.outputs = nothing;
    options.output_count = 1;
    assert_fails(mnn_onnx_convert_memory(small_model, sizeof small_model, &options, &result), MNN_ERROR_NOT_FOUND,
                 "'q'");
}

static void options_are_checked(void** state) {
    (void)state;
    mnn_onnx_result_t* result = NULL;
    mnn_onnx_options_t options = defaults();
    options.weights = 9;
    assert_fails(mnn_onnx_convert_memory(small_model, sizeof small_model, &options, &result), MNN_ERROR_INVALID_VALUE,
                 "9");
    options.weights = MNN_ONNX_WEIGHTS_FLOAT16;
    options.weight_block = 32;
    assert_fails(mnn_onnx_convert_memory(small_model, sizeof small_model, &options, &result), MNN_ERROR_INVALID_VALUE,
                 "only weights of int8 and int4 have blocks");
    options.weights = MNN_ONNX_WEIGHTS_INT4;
    options.weight_block = 24;
    assert_fails(mnn_onnx_convert_memory(small_model, sizeof small_model, &options, &result), MNN_ERROR_INVALID_VALUE,
                 "weight_block is 24, which is no multiple of 16");
    options = defaults();
    options.weights_beside = 2;
    assert_fails(mnn_onnx_convert_memory(small_model, sizeof small_model, &options, &result), MNN_ERROR_INVALID_VALUE,
                 "weights_beside is 2");
    options = defaults();
    options.follow_links = -1;
    assert_fails(mnn_onnx_convert_memory(small_model, sizeof small_model, &options, &result), MNN_ERROR_INVALID_VALUE,
                 "follow_links is -1");
    options = defaults();
    options.struct_size = 4;
    assert_fails(mnn_onnx_convert_memory(small_model, sizeof small_model, &options, &result),
                 MNN_ERROR_VERSION_MISMATCH, "4");
    options = defaults();
    options.shape_count = 1;
    assert_fails(mnn_onnx_convert_memory(small_model, sizeof small_model, &options, &result), MNN_ERROR_NULL_ARGUMENT,
                 "shapes");
    assert_fails(mnn_onnx_options_init(NULL, sizeof options), MNN_ERROR_NULL_ARGUMENT, "options");
    assert_fails(mnn_onnx_options_init(&options, 1), MNN_ERROR_VERSION_MISMATCH, "1");
    assert_fails(mnn_onnx_convert_memory(NULL, 4, NULL, &result), MNN_ERROR_NULL_ARGUMENT, "data");
    assert_fails(mnn_onnx_convert_memory(small_model, sizeof small_model, NULL, NULL), MNN_ERROR_NULL_ARGUMENT, "out");
    assert_fails(mnn_onnx_convert_file(NULL, NULL, &result), MNN_ERROR_NULL_ARGUMENT, "path");
    assert_fails(mnn_onnx_convert_file("/no/such/file", NULL, &result), MNN_ERROR_FILE_NOT_EXIST, "/no/such/file");
    assert_fails(mnn_onnx_convert_file("/", NULL, &result), MNN_ERROR_FILE_OPEN_FAILED, "no file");
    assert_null(result);
}

static void results_know_their_handles(void** state) {
    (void)state;
    mnn_onnx_result_t* result = converted(NULL);
    mnn_onnx_result_t* kept = result;
    mnn_onnx_report_t report = {.struct_size = sizeof report};
    mnn_onnx_problem_t problem = {.struct_size = sizeof problem};
    const void* data = NULL;
    const char* note = NULL;
    size_t size = 0;
    assert_fails(mnn_onnx_result_problem(result, 0, &problem), MNN_ERROR_BAD_INDEX, "no problem 0");
    assert_fails(mnn_onnx_result_note(result, 0, &note), MNN_ERROR_BAD_INDEX, "no note 0");
    report.struct_size = 3;
    assert_fails(mnn_onnx_result_report(result, &report), MNN_ERROR_VERSION_MISMATCH, "3");
    assert_fails(mnn_onnx_result_save(result, "/no/such/folder/net.mnn"), MNN_ERROR_FILE_WRITE_FAILED,
                 "/no/such/folder");
    assert_ok(mnn_onnx_result_destroy(&result));
    assert_fails(mnn_onnx_result_data(kept, &data, &size), MNN_ERROR_BAD_HANDLE, "destroyed");
    assert_fails(mnn_onnx_result_destroy(&kept), MNN_ERROR_BAD_HANDLE, "destroyed");
    assert_fails(mnn_onnx_result_data(NULL, &data, &size), MNN_ERROR_NULL_ARGUMENT, "result");
}

static void problems_come_all_at_once(void** state) {
    (void)state;
    mnn_onnx_result_t* result = NULL;
    mnn_onnx_report_t report = {.struct_size = sizeof report};
    mnn_onnx_problem_t problem = {.struct_size = sizeof problem};
    const void* data = NULL;
    size_t size = 0;
    assert_ok(mnn_onnx_convert_memory(lacking_model, sizeof lacking_model, NULL, &result));
    assert_ok(mnn_onnx_result_report(result, &report));
    assert_int_equal(report.problems, 2);
    assert_ok(mnn_onnx_result_problem(result, 0, &problem));
    assert_string_equal(problem.op_type, "NoSuchOperator");
    assert_string_equal(problem.node, "node_h");
    assert_int_equal(problem.opset, 18);
    assert_int_equal(problem.status, MNN_ERROR_NOT_SUPPORTED);
    assert_ok(mnn_onnx_result_problem(result, 1, &problem));
    assert_string_equal(problem.op_type, "NorThisOne");
    assert_fails(mnn_onnx_result_data(result, &data, &size), MNN_ERROR_NOT_SUPPORTED, "2 nodes");
    assert_fails(mnn_onnx_result_save(result, "net.mnn"), MNN_ERROR_NOT_SUPPORTED, "NoSuchOperator");
    mnn_onnx_result_destroy(&result);
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

/* Converts heads_model with these outputs and options and checks their values. */
struct heads {
    size_t file, beside; /* bytes */
    int copies;          /* of the floats of the weights, in the file */
    uint64_t prepared;   /* bytes of prepared weights */
};

static struct heads heads_of(const char* const* outputs, size_t count, int32_t weights, int32_t weights_beside) {
    mnn_onnx_options_t options = defaults();
    options.outputs = outputs;
    options.output_count = count;
    options.weights = weights;
    options.weights_beside = weights_beside;
    struct heads heads = {0};
    mnn_onnx_result_t* result = NULL;
    const void *data = NULL, *beside = NULL;
    mnn_interpreter_options_t loading;
    mnn_interpreter_t* net = NULL;
    mnn_session_t* session = NULL;
    mnn_tensor_t *in = NULL, *out = NULL;
    mnn_statistics_t statistics = {.struct_size = sizeof statistics};
    const float tolerance = weights == MNN_ONNX_WEIGHTS_INT4 ? 5.0f : weights == MNN_ONNX_WEIGHTS_INT8 ? 0.3f : 1e-4f;
    float matrix[32 * 64], ones[64 * 64], values[32 * 64];
    for (int i = 0; i < 32 * 64; i++) matrix[i] = (float)((i * 37) % 101 - 50) / 64;
    for (int i = 0; i < 64 * 64; i++) ones[i] = 1;
    assert_ok(mnn_onnx_convert_memory(heads_model, sizeof heads_model, &options, &result));
    assert_ok(mnn_onnx_result_data(result, &data, &heads.file));
    assert_ok(mnn_onnx_result_weights(result, &beside, &heads.beside));
    for (size_t at = 0; at + sizeof matrix <= heads.file; at += 4)
        heads.copies += memcmp((const char*)data + at, matrix, sizeof matrix) == 0;

    assert_ok(mnn_interpreter_options_init(&loading, sizeof loading));
    loading.external_weight_data = beside;
    loading.external_weight_size = heads.beside;
    assert_ok(mnn_interpreter_create_from_memory(data, heads.file, &loading, &net));
    assert_ok(mnn_session_create(net, NULL, &session));
    assert_ok(mnn_session_input(session, NULL, &in));
    assert_ok(mnn_tensor_write(in, ones, sizeof ones, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
    for (size_t k = 0; k < count; k++) {
        const int pixels = strcmp(outputs[k], "small") == 0 ? 16 : 64, bias = strcmp(outputs[k], "other") == 0 ? 32 : 0;
        assert_ok(mnn_session_output(session, outputs[k], &out));
        assert_ok(mnn_tensor_read(out, values, (size_t)pixels * 32 * sizeof(float), MNN_FORMAT_NCHW));
        for (int channel = 0; channel < 32; channel++) {
            float sum = (float)(channel + bias);
            for (int i = 0; i < 64; i++) sum += matrix[channel * 64 + i];
            for (int i = 0; i < pixels; i++) assert_float_equal(values[channel * pixels + i], sum, tolerance);
        }
    }
    assert_ok(mnn_session_statistics(session, &statistics));
    heads.prepared = statistics.weight_bytes;
    mnn_session_destroy(&session);
    mnn_interpreter_destroy(&net);
    mnn_onnx_result_destroy(&result);
    return heads;
}

static void layers_with_the_same_weights_share_them(void** state) {
    (void)state;
    const char* outputs[] = {"large", "small", "other"};
    const struct {
        int32_t weights, beside;
        size_t bytes; /* of the weights */
    } forms[] = {{MNN_ONNX_WEIGHTS_FLOAT32, 0, 8192}, {MNN_ONNX_WEIGHTS_FLOAT16, 0, 4096},
                 {MNN_ONNX_WEIGHTS_INT8, 0, 2048},    {MNN_ONNX_WEIGHTS_INT4, 0, 1024},
                 {MNN_ONNX_WEIGHTS_FLOAT32, 1, 8192}, {MNN_ONNX_WEIGHTS_FLOAT16, 1, 4096}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const struct heads one = heads_of(outputs, 1, forms[i].weights, forms[i].beside),
                           two = heads_of(outputs, 2, forms[i].weights, forms[i].beside),
                           three = heads_of(outputs, 3, forms[i].weights, forms[i].beside);
        const size_t bytes = forms[i].bytes, small = one.file + one.beside, both = two.file + two.beside;
        const int copies = forms[i].weights == MNN_ONNX_WEIGHTS_FLOAT32 && !forms[i].beside;
        assert_int_equal(one.copies, copies);
        assert_int_equal(two.copies, copies);
        assert_int_equal(three.copies, copies * 2);
        assert_true(one.beside == 0 || one.beside >= bytes);
        assert_int_equal(one.beside != 0, forms[i].beside);
        assert_int_equal(two.beside, one.beside);
        assert_true(small >= bytes && both < small + bytes / 2 + 512);
        assert_true(three.file + three.beside >= both + bytes);
        assert_true(one.prepared >= bytes);
        assert_int_equal(two.prepared, one.prepared);
        assert_true(three.prepared >= one.prepared + bytes);
    }
}

/* Checks the types of the operators that a model is converted to. */
static void expect_operators(const void* model, size_t bytes, const char* const* types, size_t wanted) {
    mnn_onnx_result_t* result = NULL;
    const void* data = NULL;
    size_t size = 0, count = 0;
    mnn_interpreter_t* net = NULL;
    assert_ok(mnn_onnx_convert_memory(model, bytes, NULL, &result));
    assert_ok(mnn_onnx_result_data(result, &data, &size));
    assert_ok(mnn_interpreter_create_from_memory(data, size, NULL, &net));
    assert_ok(mnn_interpreter_op_count(net, &count));
    for (size_t i = 0; i < count; i++) {
        const char* type = NULL;
        assert_ok(mnn_interpreter_op_type(net, i, &type));
        if (i >= wanted || strcmp(type, types[i]) != 0) fail_msg("operator %zu is %s", i, type);
    }
    assert_int_equal(count, wanted);
    mnn_interpreter_destroy(&net);
    mnn_onnx_result_destroy(&result);
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

/* Computes the product of ones with the matrix of matrix_model. */
static void products(mnn_interpreter_t* net, float sums[32]) {
    mnn_session_t* session = NULL;
    mnn_tensor_t *in = NULL, *out = NULL;
    const int32_t dims[] = {1, 64};
    float ones[64];
    for (int i = 0; i < 64; i++) ones[i] = 1;
    mnn_schedule_config_t config;
    assert_ok(mnn_schedule_config_init(&config, sizeof config));
    config.defer_planning = 1;
    assert_ok(mnn_session_create(net, &config, &session));
    assert_ok(mnn_session_input(session, NULL, &in));
    assert_ok(mnn_session_resize_input(session, in, dims, 2));
    assert_ok(mnn_session_resize(session));
    assert_ok(mnn_session_output(session, NULL, &out));
    assert_ok(mnn_tensor_write(in, ones, sizeof ones, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_tensor_read(out, sums, 32 * sizeof(float), MNN_FORMAT_NCHW));
    mnn_session_destroy(&session);
}

static float element(int i) {
    return (float)((i * 37) % 101 - 50) / 64;
}

static void assert_products(mnn_interpreter_t* net, float step) {
    float sums[32];
    products(net, sums);
    for (int n = 0; n < 32; n++) {
        float wanted = 0;
        for (int k = 0; k < 64; k++) wanted += element(k * 32 + n);
        assert_float_equal(sums[n], wanted, 64 * step + 1e-4f);
    }
}

static void weights_have_the_wanted_form(void** state) {
    (void)state;
    /* With int4 a step is 100/64/15: a weight differs by at most half of it. */
    const struct {
        int32_t weights, block;
        size_t most_bytes;
        float step;
    } forms[] = {{MNN_ONNX_WEIGHTS_FLOAT32, 0, 9200, 0},
                 {MNN_ONNX_WEIGHTS_FLOAT16, 0, 5100, 1e-3f},
                 {MNN_ONNX_WEIGHTS_INT8, 0, 3700, 0.5f / 255 * 1.6f},
                 {MNN_ONNX_WEIGHTS_INT8, 16, 4500, 0.5f / 255 * 1.6f},
                 {MNN_ONNX_WEIGHTS_INT4, 0, 2400, 0.5f / 15 * 1.6f},
                 {MNN_ONNX_WEIGHTS_INT4, 32, 2700, 0.5f / 15 * 1.6f}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        for (int32_t beside = 0; beside < 2; beside++) {
            mnn_onnx_options_t options = defaults();
            options.weights = forms[i].weights;
            options.weight_block = forms[i].block;
            options.weights_beside = beside;
            mnn_onnx_result_t* result = NULL;
            assert_ok(mnn_onnx_convert_memory(matrix_model, sizeof matrix_model, &options, &result));
            const void *data = NULL, *weights = NULL;
            size_t size = 0, weight_size = 0;
            assert_ok(mnn_onnx_result_data(result, &data, &size));
            assert_ok(mnn_onnx_result_weights(result, &weights, &weight_size));
            /* Codes of 4 bits are small enough to stay in the model. */
            assert_int_equal(weight_size > 0, beside && forms[i].weights != MNN_ONNX_WEIGHTS_INT4 &&
                                                  forms[i].weights != MNN_ONNX_WEIGHTS_INT8);
            assert_int_equal(weights != NULL, weight_size > 0);
            if (!beside && size > forms[i].most_bytes) fail_msg("form %zu has %zu bytes", i, size);
            if (weight_size) assert_true(size < 2000);
            mnn_interpreter_options_t loading;
            assert_ok(mnn_interpreter_options_init(&loading, sizeof loading));
            loading.external_weight_data = weights;
            loading.external_weight_size = weight_size;
            mnn_interpreter_t* net = NULL;
            assert_ok(mnn_interpreter_create_from_memory(data, size, &loading, &net));
            assert_products(net, forms[i].step);
            mnn_interpreter_destroy(&net);
            mnn_onnx_result_destroy(&result);
        }
}

static void weights_beside_are_saved_and_found(void** state) {
    (void)state;
    mnn_onnx_options_t options = defaults();
    options.weights_beside = 1;
    mnn_onnx_result_t* result = NULL;
    assert_ok(mnn_onnx_convert_memory(matrix_model, sizeof matrix_model, &options, &result));
    assert_ok(mnn_onnx_result_save(result, "onnx_test_beside.mnn"));
    mnn_onnx_result_destroy(&result);
    mnn_interpreter_t* net = NULL;
    assert_ok(mnn_interpreter_create_from_file("onnx_test_beside.mnn", NULL, &net));
    assert_products(net, 0);
    mnn_interpreter_destroy(&net);
    assert_int_equal(remove("onnx_test_beside.mnn.weight"), 0);
    assert_int_equal(remove("onnx_test_beside.mnn"), 0);
}

/* Caches of hubs have links in place of files. */
static void links_are_followed_where_it_is_asked_for(void** state) {
    (void)state;
    char folder[] = "onnx_test_XXXXXX", model[64], data[64], link[64];
    float matrix[64 * 32];
    for (int i = 0; i < 64 * 32; i++) matrix[i] = element(i);
    assert_non_null(mkdtemp(folder));
    snprintf(model, sizeof model, "%s/net.onnx", folder);
    snprintf(data, sizeof data, "%s.blob", folder);
    snprintf(link, sizeof link, "%s/data", folder);
    FILE* file = fopen(data, "wb");
    assert_int_equal(fwrite(matrix, 1, sizeof matrix, file), sizeof matrix);
    assert_int_equal(fclose(file), 0);
    file = fopen(model, "wb");
    assert_int_equal(fwrite(apart_model, 1, sizeof apart_model, file), sizeof apart_model);
    assert_int_equal(fclose(file), 0);
    char target[80];
    snprintf(target, sizeof target, "../%s", data);
    assert_int_equal(symlink(target, link), 0);
    mnn_onnx_result_t* result = NULL;
    mnn_onnx_options_t options = defaults();
    assert_fails(mnn_onnx_convert_file(model, &options, &result), MNN_ERROR_BAD_FORMAT, "follow_links");
    options.follow_links = 1;
    assert_ok(mnn_onnx_convert_file(model, &options, &result));
    const void* bytes = NULL;
    size_t size = 0;
    assert_ok(mnn_onnx_result_data(result, &bytes, &size));
    mnn_interpreter_t* net = NULL;
    assert_ok(mnn_interpreter_create_from_memory(bytes, size, NULL, &net));
    assert_products(net, 0);
    mnn_interpreter_destroy(&net);
    mnn_onnx_result_destroy(&result);
    /* The same model in memory, whose folder is an option. */
    options.data_folder = folder;
    assert_ok(mnn_onnx_convert_memory(apart_model, sizeof apart_model, &options, &result));
    mnn_onnx_result_destroy(&result);
    assert_int_equal(unlink(link) + unlink(model) + unlink(data) + rmdir(folder), 0);
}

static void chains_become_single_operators(void** state) {
    (void)state;
    mnn_onnx_result_t* result = NULL;
    const void* data = NULL;
    size_t size = 0, count = 0;
    mnn_interpreter_t* net = NULL;
    float got[32], values[32], mean = 0, square = 0;
    /* The product has the form of the official converter: a convolution of 1x1 between two Reshapes. */
    const char* types[] = {"Input", "Reshape", "Convolution", "Reshape", "UnaryOp", "LayerNorm"};
    assert_ok(mnn_onnx_convert_memory(chain_model, sizeof chain_model, NULL, &result));
    assert_ok(mnn_onnx_result_data(result, &data, &size));
    assert_ok(mnn_interpreter_create_from_memory(data, size, NULL, &net));
    assert_ok(mnn_interpreter_op_count(net, &count));
    for (size_t i = 0; i < count; i++) {
        const char* type = NULL;
        assert_ok(mnn_interpreter_op_type(net, i, &type));
        if (i >= 6 || strcmp(type, types[i]) != 0) fail_msg("operator %zu is %s", i, type);
    }
    assert_int_equal(count, 6);
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
    mnn_onnx_result_destroy(&result);
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
    mnn_onnx_result_t* result = NULL;
    const void* data = NULL;
    size_t size = 0;
    mnn_interpreter_t* net = NULL;
    mnn_session_t* session = NULL;
    mnn_tensor_t *in = NULL, *out = NULL;
    mnn_schedule_config_t config;
    assert_ok(mnn_schedule_config_init(&config, sizeof config));
    config.save_tensors = names;
    config.save_tensor_count = 4;
    assert_ok(mnn_onnx_convert_memory(parts_model, sizeof parts_model, NULL, &result));
    assert_ok(mnn_onnx_result_data(result, &data, &size));
    assert_ok(mnn_interpreter_create_from_memory(data, size, NULL, &net));
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
    mnn_onnx_result_destroy(&result);
}

/* A shape that the model computes is no free one, though a single extent of it is not known while converting. */
static void computed_shapes_are_compared(void** state) {
    (void)state;
    const int32_t fits[] = {6, 1, 8}, others[] = {3, 1, 8};
    mnn_onnx_result_t* result = NULL;
    const void* data = NULL;
    size_t size = 0;
    mnn_interpreter_t* net = NULL;
    mnn_session_t* session = NULL;
    mnn_tensor_t* in = NULL;
    mnn_schedule_config_t config;
    assert_ok(mnn_schedule_config_init(&config, sizeof config));
    config.defer_planning = 1;
    assert_ok(mnn_onnx_convert_memory(six_model, sizeof six_model, NULL, &result));
    assert_ok(mnn_onnx_result_data(result, &data, &size));
    assert_ok(mnn_interpreter_create_from_memory(data, size, NULL, &net));
    assert_ok(mnn_session_create(net, &config, &session));
    assert_ok(mnn_session_input(session, NULL, &in));
    assert_ok(mnn_session_resize_input(session, in, fits, 3));
    assert_ok(mnn_session_resize(session));
    assert_ok(mnn_session_resize_input(session, in, others, 3));
    assert_int_equal(mnn_session_resize(session), MNN_ERROR_COMPUTE_SIZE);
    assert_non_null(strstr(mnn_last_error(), "3x1x8 cannot become 6x2x4"));
    mnn_session_destroy(&session);
    mnn_interpreter_destroy(&net);
    mnn_onnx_result_destroy(&result);
}

static void memory_is_bounded(void** state) {
    (void)state;
    mnn_onnx_result_t* result = NULL;
    mnn_onnx_options_t options = defaults();
    options.max_memory_bytes = 65536 + 64;
    assert_ok(mnn_onnx_convert_memory(grown_model, sizeof grown_model, &options, &result));
    mnn_onnx_result_destroy(&result);
    options.max_memory_bytes = 65000;
    assert_fails(mnn_onnx_convert_memory(grown_model, sizeof grown_model, &options, &result), MNN_ERROR_LIMIT_EXCEEDED,
                 "65000 bytes");
    assert_null(result);
}

struct watched {
    uint64_t calls, done, total, stop_at;
};

static int32_t watch(void* user_data, uint64_t done, uint64_t total) {
    struct watched* watched = user_data;
    watched->calls++;
    watched->done = done;
    watched->total = total;
    return watched->calls == watched->stop_at;
}

static void conversions_can_be_watched_and_ended(void** state) {
    (void)state;
    mnn_onnx_result_t* result = NULL;
    struct watched watched = {0};
    mnn_onnx_options_t options = defaults();
    options.progress = watch;
    options.progress_user_data = &watched;
    assert_ok(mnn_onnx_convert_memory(small_model, sizeof small_model, &options, &result));
    mnn_onnx_result_destroy(&result);
    assert_int_equal(watched.calls, 2);
    assert_int_equal(watched.done, 2);
    assert_int_equal(watched.total, 2);
    watched = (struct watched){.stop_at = 2};
    assert_fails(mnn_onnx_convert_memory(small_model, sizeof small_model, &options, &result), MNN_ERROR_CALLBACK_STOP,
                 "after 2 nodes");
    options = defaults();
    assert_ok(mnn_cancel_create(&options.cancel));
    assert_ok(mnn_onnx_convert_memory(small_model, sizeof small_model, &options, &result));
    mnn_onnx_result_destroy(&result);
    assert_ok(mnn_cancel_trigger(options.cancel));
    assert_fails(mnn_onnx_convert_memory(small_model, sizeof small_model, &options, &result), MNN_ERROR_CANCELLED,
                 "cancel");
    assert_null(result);
    assert_ok(mnn_cancel_destroy(&options.cancel));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_have_a_net_and_a_report),
        cmocka_unit_test(options_fix_extents_and_choose_outputs),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(results_know_their_handles),
        cmocka_unit_test(problems_come_all_at_once),
        cmocka_unit_test(channels_are_folded_into_convolutions),
        cmocka_unit_test(layers_take_what_lies_behind_them),
        cmocka_unit_test(ones_and_zeros_cost_nothing),
        cmocka_unit_test(layers_with_the_same_weights_share_them),
        cmocka_unit_test(weights_have_the_wanted_form),
        cmocka_unit_test(weights_beside_are_saved_and_found),
        cmocka_unit_test(links_are_followed_where_it_is_asked_for),
        cmocka_unit_test(chains_become_single_operators),
        cmocka_unit_test(added_branches_become_one_convolution),
        cmocka_unit_test(quantised_layers_compute_with_codes),
        cmocka_unit_test(values_keep_their_names),
        cmocka_unit_test(computed_shapes_are_compared),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(conversions_can_be_watched_and_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
