/* mnn_c_onnx.h: options, results, handles, and what they refuse. */
#include <mnn_c_onnx.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

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
    size_t size = 0, rank = 0;
    mnn_interpreter_t* net = NULL;
    const char* name = NULL;
    assert_ok(mnn_onnx_result_data(result, &data, &size));
    assert_ok(mnn_interpreter_create_from_memory(data, size, NULL, &net));
    assert_ok(mnn_interpreter_input_shape(net, 0, dims, MNN_MAX_RANK, &rank));
    assert_int_equal(rank, 2);
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
    assert_fails(mnn_onnx_convert_memory(small_model, sizeof small_model, &options, &result),
                 MNN_ERROR_NOT_FOUND, "'sequence'");
    const char* nothing[] = {"q"};
    options = defaults();
    options.outputs = nothing;
    options.output_count = 1;
    assert_fails(mnn_onnx_convert_memory(small_model, sizeof small_model, &options, &result),
                 MNN_ERROR_NOT_FOUND, "'q'");
}

static void options_are_checked(void** state) {
    (void)state;
    mnn_onnx_result_t* result = NULL;
    mnn_onnx_options_t options = defaults();
    options.weights = 9;
    assert_fails(mnn_onnx_convert_memory(small_model, sizeof small_model, &options, &result),
                 MNN_ERROR_INVALID_VALUE, "9");
    options.weights = MNN_ONNX_WEIGHTS_INT4;
    assert_fails(mnn_onnx_convert_memory(small_model, sizeof small_model, &options, &result),
                 MNN_ERROR_NOT_SUPPORTED, "int4");
    options = defaults();
    options.struct_size = 4;
    assert_fails(mnn_onnx_convert_memory(small_model, sizeof small_model, &options, &result),
                 MNN_ERROR_VERSION_MISMATCH, "4");
    options = defaults();
    options.shape_count = 1;
    assert_fails(mnn_onnx_convert_memory(small_model, sizeof small_model, &options, &result),
                 MNN_ERROR_NULL_ARGUMENT, "shapes");
    assert_fails(mnn_onnx_options_init(NULL, sizeof options), MNN_ERROR_NULL_ARGUMENT, "options");
    assert_fails(mnn_onnx_options_init(&options, 1), MNN_ERROR_VERSION_MISMATCH, "1");
    assert_fails(mnn_onnx_convert_memory(NULL, 4, NULL, &result), MNN_ERROR_NULL_ARGUMENT, "data");
    assert_fails(mnn_onnx_convert_memory(small_model, sizeof small_model, NULL, NULL),
                 MNN_ERROR_NULL_ARGUMENT, "out");
    assert_fails(mnn_onnx_convert_file(NULL, NULL, &result), MNN_ERROR_NULL_ARGUMENT, "path");
    assert_fails(mnn_onnx_convert_file("/no/such/file", NULL, &result), MNN_ERROR_FILE_NOT_EXIST,
                 "/no/such/file");
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
    assert_fails(mnn_onnx_result_problem(result, 0, &problem), MNN_ERROR_BAD_INDEX, "problem 0 of 0");
    assert_fails(mnn_onnx_result_note(result, 0, &note), MNN_ERROR_BAD_INDEX, "note 0 of 0");
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_have_a_net_and_a_report),
        cmocka_unit_test(options_fix_extents_and_choose_outputs),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(results_know_their_handles),
        cmocka_unit_test(problems_come_all_at_once),
        cmocka_unit_test(channels_are_folded_into_convolutions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
