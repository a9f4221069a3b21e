/* mnn_c_onnx.h: options, results, handles, and refused calls. */
#include "checks.h"

static mnn_onnx_result_t* converted(const mnn_onnx_options_t* options) {
    mnn_onnx_result_t* result = NULL;
    assert_ok(mnn_onnx_convert_memory(small_model, sizeof small_model, options, &result));
    assert_non_null(result);
    return result;
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
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(conversions_can_be_watched_and_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
