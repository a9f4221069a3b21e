/* mnn_interpreter_*: information about a loaded model. */
#include "support.h"

static void destroy(void** state) {
    (void)state;
    assert_ok(mnn_interpreter_destroy(NULL));
    mnn_interpreter_t* none = NULL;
    assert_ok(mnn_interpreter_destroy(&none));
    mnn_interpreter_t* net = open_digits();
    mnn_session_t* session = open_session(net);
    mnn_interpreter_t* wrong = (mnn_interpreter_t*)session;
    assert_fails(mnn_interpreter_destroy(&wrong), MNN_ERROR_BAD_HANDLE);
    assert_ptr_equal(wrong, session);
    mnn_session_t* other = (mnn_session_t*)net;
    assert_fails(mnn_session_destroy(&other), MNN_ERROR_BAD_HANDLE);
    assert_ptr_equal(other, net);
    assert_ok(mnn_interpreter_destroy(&net));
    assert_null(net);
    assert_ok(mnn_interpreter_destroy(&net));
    assert_ok(mnn_session_destroy(&session));
}

static void strings_of_the_model(void** state) {
    (void)state;
    mnn_interpreter_t* net = open_digits();
    const char *uuid = NULL, *version = NULL, *biz = NULL, *again = NULL;
    assert_ok(mnn_interpreter_uuid(net, &uuid));
    assert_int_equal(strlen(uuid), 36);
    assert_ok(mnn_interpreter_uuid(net, &again));
    assert_ptr_equal(uuid, again);
    assert_ok(mnn_interpreter_model_version(net, &version));
    assert_true(version[0] >= '0' && version[0] <= '9');
    assert_ok(mnn_interpreter_biz_code(net, &biz));
    assert_string_equal(biz, "demo");
    uint64_t parameters = 0;
    assert_ok(mnn_interpreter_parameter_count(net, &parameters));
    /* The layers have (9 + 1) * 16 + (144 + 1) * 32 + (512 + 1) * 10; a few constants of shapes come on top.
     */
    assert_in_range(parameters, 9930, 9930 + 100);
    assert_ok(mnn_interpreter_destroy(&net));
}

static void inputs_and_outputs(void** state) {
    (void)state;
    mnn_interpreter_t* net = open_digits();
    size_t count = 0;
    const char* name = NULL;
    assert_ok(mnn_interpreter_input_count(net, &count));
    assert_int_equal(count, 1);
    const mnn_declaration_t input = input_info_of(net, 0);
    assert_string_equal(input.name, "image");
    assert_int_equal(input.rank, 4);
    const int32_t wanted[] = {1, 1, 8, 8};
    assert_memory_equal(input.dims, wanted, sizeof wanted);
    assert_int_equal(input.type, MNN_TYPE_FLOAT32);
    assert_int_equal(input.format, MNN_FORMAT_NCHW);
    assert_ok(mnn_interpreter_output_count(net, &count));
    assert_int_equal(count, 1);
    assert_ok(mnn_interpreter_output_name(net, 0, &name));
    assert_string_equal(name, "scores");
    assert_ok(mnn_interpreter_destroy(&net));
}

static void operators(void** state) {
    (void)state;
    mnn_interpreter_t* net = open_digits();
    size_t count = 0, convolutions = 0, poolings = 0;
    assert_ok(mnn_interpreter_op_count(net, &count));
    assert_true(count >= 5);
    for (size_t i = 0; i < count; ++i) {
        const char *name = NULL, *type = NULL;
        bool supported = false;
        assert_ok(mnn_interpreter_op_name(net, i, &name));
        assert_ok(mnn_interpreter_op_type(net, i, &type));
        assert_ok(mnn_interpreter_op_supported(net, i, &supported));
        assert_non_null(name);
        assert_true(type && type[0]);
        assert_true(supported);
        size_t outputs = 0;
        assert_ok(mnn_interpreter_op_output_count(net, i, &outputs));
        assert_int_equal(outputs, 1);
        assert_ok(mnn_interpreter_op_output_name(net, i, 0, &name));
        assert_true(name && name[0]);
        name = UNTOUCHED_POINTER;
        assert_fails(mnn_interpreter_op_output_name(net, i, 1, &name), MNN_ERROR_BAD_INDEX);
        assert_ptr_equal(name, UNTOUCHED_POINTER);
        convolutions += strcmp(type, "Convolution") == 0;
        poolings += strcmp(type, "Pooling") == 0;
    }
    assert_int_equal(convolutions, 3); /* the fully connected layer is one, too */
    assert_int_equal(poolings, 1);
    assert_ok(mnn_interpreter_destroy(&net));
}

/* The tensors that operators produce can be saved in addition to the outputs. */
static void made_tensors_can_be_saved(void** state) {
    (void)state;
    mnn_interpreter_t* net = open_digits();
    enum { MAX_NAMES = 32 };
    const char* names[MAX_NAMES];
    size_t ops = 0, count = 0;
    assert_ok(mnn_interpreter_op_count(net, &ops));
    for (size_t i = 0; i < ops && count < MAX_NAMES; ++i)
        assert_ok(mnn_interpreter_op_output_name(net, i, 0, &names[count++]));
    mnn_schedule_config_t config;
    assert_ok(mnn_schedule_config_init(&config, sizeof config));
    config.save_tensors = names;
    config.save_tensor_count = count;
    mnn_session_t* session = NULL;
    assert_ok(mnn_session_create(net, &config, &session));
    for (size_t i = 0; i < count; ++i) {
        mnn_tensor_t* tensor = NULL;
        assert_ok(mnn_session_output(session, names[i], &tensor));
    }
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&net));
}

static void wrong_indexes_and_small_buffers(void** state) {
    (void)state;
    mnn_interpreter_t* net = open_digits();
    const size_t wrong[] = {1, 2, (size_t)INT32_MAX + 1, SIZE_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        const size_t at = wrong[i];
        const char* name = UNTOUCHED_POINTER;
        assert_fails(mnn_interpreter_output_name(net, at, &name), MNN_ERROR_BAD_INDEX);
        mnn_declaration_t info = {.struct_size = sizeof info};
        assert_fails(mnn_interpreter_input_info(net, at, &info), MNN_ERROR_BAD_INDEX);
        assert_fails(mnn_interpreter_output_info(net, at, &info), MNN_ERROR_BAD_INDEX);
        assert_ptr_equal(name, UNTOUCHED_POINTER);
        assert_null(info.name);
    }
    size_t ops = 0;
    assert_ok(mnn_interpreter_op_count(net, &ops));
    const size_t wrong_ops[] = {ops, ops + 1, SIZE_MAX};
    for (size_t i = 0; i < 3; ++i) {
        const char* name = UNTOUCHED_POINTER;
        unsigned char supported = 0x5a;
        assert_fails(mnn_interpreter_op_name(net, wrong_ops[i], &name), MNN_ERROR_BAD_INDEX);
        assert_fails(mnn_interpreter_op_type(net, wrong_ops[i], &name), MNN_ERROR_BAD_INDEX);
        assert_fails(mnn_interpreter_op_supported(net, wrong_ops[i], (bool*)&supported), MNN_ERROR_BAD_INDEX);
        size_t outputs = UNTOUCHED_SIZE;
        assert_fails(mnn_interpreter_op_output_count(net, wrong_ops[i], &outputs), MNN_ERROR_BAD_INDEX);
        assert_fails(mnn_interpreter_op_output_name(net, wrong_ops[i], 0, &name), MNN_ERROR_BAD_INDEX);
        assert_int_equal(outputs, UNTOUCHED_SIZE);
        assert_ptr_equal(name, UNTOUCHED_POINTER);
        assert_int_equal(supported, 0x5a);
    }
    assert_ok(mnn_interpreter_destroy(&net));
}

static void null_arguments(void** state) {
    (void)state;
    mnn_interpreter_t* net = open_digits();
    size_t rank = UNTOUCHED_SIZE;
#define NULL_OUT(call) assert_fails(call, MNN_ERROR_NULL_ARGUMENT)
    NULL_OUT(mnn_interpreter_uuid(net, NULL));
    NULL_OUT(mnn_interpreter_model_version(net, NULL));
    NULL_OUT(mnn_interpreter_biz_code(net, NULL));
    NULL_OUT(mnn_interpreter_input_count(net, NULL));
    NULL_OUT(mnn_interpreter_output_count(net, NULL));
    NULL_OUT(mnn_interpreter_output_name(net, 0, NULL));
    NULL_OUT(mnn_interpreter_input_info(net, 0, NULL));
    NULL_OUT(mnn_interpreter_output_info(net, 0, NULL));
    NULL_OUT(mnn_interpreter_op_count(net, NULL));
    NULL_OUT(mnn_interpreter_op_name(net, 0, NULL));
    NULL_OUT(mnn_interpreter_op_type(net, 0, NULL));
    NULL_OUT(mnn_interpreter_op_supported(net, 0, NULL));
    NULL_OUT(mnn_interpreter_op_output_count(net, 0, NULL));
    NULL_OUT(mnn_interpreter_op_output_name(net, 0, 0, NULL));
    NULL_OUT(mnn_interpreter_parameter_count(net, NULL));
    NULL_OUT(mnn_interpreter_report(net, "graph", NULL, 0, NULL));
    NULL_OUT(mnn_interpreter_report(net, NULL, NULL, 0, &rank));
#undef NULL_OUT
    assert_ok(mnn_interpreter_destroy(&net));
}

/* Every function is given NULL, a session and a tensor in place of an interpreter. */
static void wrong_handles(void** state) {
    (void)state;
    mnn_interpreter_t* net = open_digits();
    mnn_session_t* session = open_session(net);
    mnn_tensor_t* tensor = first_input(session);
    const mnn_interpreter_t* wrong[] = {NULL, (mnn_interpreter_t*)session, (mnn_interpreter_t*)tensor};
    for (size_t i = 0; i < 3; ++i) {
        const mnn_interpreter_t* h = wrong[i];
        const mnn_status wanted = h ? MNN_ERROR_BAD_HANDLE : MNN_ERROR_NULL_ARGUMENT;
        const char* text = UNTOUCHED_POINTER;
        size_t count = UNTOUCHED_SIZE;
        uint64_t parameters = 0x5a5a;
        unsigned char flag = 0x5a;
        mnn_session_t* made = UNTOUCHED_POINTER;
        assert_fails(mnn_interpreter_uuid(h, &text), wanted);
        assert_fails(mnn_interpreter_model_version(h, &text), wanted);
        assert_fails(mnn_interpreter_biz_code(h, &text), wanted);
        assert_fails(mnn_interpreter_input_count(h, &count), wanted);
        assert_fails(mnn_interpreter_output_count(h, &count), wanted);
        assert_fails(mnn_interpreter_output_name(h, 0, &text), wanted);
        mnn_declaration_t info = {.struct_size = sizeof info};
        assert_fails(mnn_interpreter_input_info(h, 0, &info), wanted);
        assert_fails(mnn_interpreter_output_info(h, 0, &info), wanted);
        assert_fails(mnn_interpreter_op_count(h, &count), wanted);
        assert_fails(mnn_interpreter_op_name(h, 0, &text), wanted);
        assert_fails(mnn_interpreter_op_type(h, 0, &text), wanted);
        assert_fails(mnn_interpreter_op_supported(h, 0, (bool*)&flag), wanted);
        assert_fails(mnn_interpreter_op_output_count(h, 0, &count), wanted);
        assert_fails(mnn_interpreter_op_output_name(h, 0, 0, &text), wanted);
        assert_fails(mnn_interpreter_parameter_count(h, &parameters), wanted);
        assert_fails(mnn_interpreter_report(h, "graph", NULL, 0, &count), wanted);
        assert_fails(mnn_session_create((mnn_interpreter_t*)(uintptr_t)h, NULL, &made), wanted);
        assert_ptr_equal(text, UNTOUCHED_POINTER);
        assert_int_equal(count, UNTOUCHED_SIZE);
        assert_int_equal(parameters, 0x5a5a);
        assert_int_equal(flag, 0x5a);
        assert_ptr_equal(made, UNTOUCHED_POINTER);
    }
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&net));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(destroy),
        cmocka_unit_test(strings_of_the_model),
        cmocka_unit_test(inputs_and_outputs),
        cmocka_unit_test(operators),
        cmocka_unit_test(made_tensors_can_be_saved),
        cmocka_unit_test(wrong_indexes_and_small_buffers),
        cmocka_unit_test(null_arguments),
        cmocka_unit_test(wrong_handles),
    };
    return cmocka_run_group_tests_name("interpreter", tests, NULL, NULL);
}
