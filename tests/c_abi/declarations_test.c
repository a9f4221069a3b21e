/* mnn_interpreter_input_info() and mnn_interpreter_output_info(): the declarations of a model before a session exists.
   */
#include "digits_net.h"

static mnn_interpreter_t* declared;

static int open_declared(void** state) {
    if (mnn_interpreter_create_from_file(MNN_C_NETS_FOLDER "/declared.mnn", NULL, &declared) != MNN_OK) return -1;
    return open_net(state);
}

static int close_declared(void** state) {
    return mnn_interpreter_destroy(&declared) == MNN_OK ? close_net(state) : -1;
}

struct wanted {
    const char* name;
    int32_t declared_type, type, format, rank, dims[4];
};

typedef mnn_status (*info_function)(const mnn_interpreter_t*, size_t, mnn_declaration_t*);

static void assert_declares(const mnn_interpreter_t* model, info_function function, size_t index,
                            struct wanted wanted) {
    mnn_declaration_t info = {.struct_size = sizeof info};
    assert_ok(function(model, index, &info));
    assert_int_equal(info.struct_size, sizeof info);
    if (strcmp(info.name, wanted.name) != 0) fail_msg("%s, wanted %s", info.name, wanted.name);
    bool same = info.declared_type == wanted.declared_type && info.type == wanted.type &&
                info.format == wanted.format && info.rank == wanted.rank;
    for (int32_t axis = 0; same && axis < wanted.rank; ++axis) same = info.dims[axis] == wanted.dims[axis];
    if (!same)
        fail_msg("%s: declared %d, type %d, format %d, rank %d (%d, %d, %d, %d)", info.name, info.declared_type,
                 info.type, info.format, info.rank, info.dims[0], info.dims[1], info.dims[2], info.dims[3]);
}

static void inputs_as_declared(void** state) {
    (void)state;
    const struct wanted inputs[] = {
        {"wide", MNN_TYPE_INT64, MNN_TYPE_INT32, MNN_FORMAT_NCHW, 2, {-1, 4}},
        {"flag", MNN_TYPE_BOOL, MNN_TYPE_INT32, MNN_FORMAT_NCHW, 0, {0}},
        {"real", MNN_TYPE_DOUBLE, MNN_TYPE_FLOAT32, MNN_FORMAT_NHWC, 4, {2, -1, -1, 3}},
        {"codes", MNN_TYPE_UINT8, MNN_TYPE_UINT8, MNN_FORMAT_NCHW, 1, {6}},
        {"target", MNN_TYPE_INT32, MNN_TYPE_INT32, MNN_FORMAT_NCHW, 1, {2}},
        {"sized", MNN_TYPE_FLOAT32, MNN_TYPE_FLOAT32, MNN_FORMAT_NCHW, 1, {-1}},
    };
    size_t count = 0;
    assert_ok(mnn_interpreter_input_count(declared, &count));
    assert_int_equal(count, 6);
    for (size_t i = 0; i < count; ++i) {
        assert_declares(declared, mnn_interpreter_input_info, i, inputs[i]);
    }
}

static void outputs_where_they_are_known(void** state) {
    (void)state;
    const struct wanted outputs[] = {
        {"doubled", 0, MNN_TYPE_INT32, MNN_FORMAT_NCHW, 2, {-1, 4}},
        {"narrow", MNN_TYPE_BOOL, MNN_TYPE_INT32, MNN_FORMAT_NCHW, 1, {6}},
        {"folded", 0, MNN_TYPE_UINT8, MNN_FORMAT_NCHW, 2, {3, 2}},
        {"extents", 0, MNN_TYPE_INT32, MNN_FORMAT_NHWC, 1, {4}},
        {"computed", 0, MNN_TYPE_FLOAT32, MNN_FORMAT_NHWC, 4, {2, -1, -1, 3}}, /* from the values of `extents` */
        {"chosen", 0, MNN_TYPE_FLOAT32, MNN_FORMAT_NHWC, 4, {2, -1, -1, 3}},
        {"read", 0, MNN_TYPE_INT32, MNN_FORMAT_NCHW, 0, {0}},
        {"pattern", MNN_TYPE_INT32, MNN_TYPE_INT32, MNN_FORMAT_NCHW, 1, {2}},
        {"asked", 0, 0, -1, -1, {0}}, /* its shape is the contents of an input */
        /* Possible with one of the sizes that are tried: for others nothing is known. */
        {"fitting", 0, MNN_TYPE_FLOAT32, MNN_FORMAT_NCHW, 2, {-1, -1}},
    };
    size_t count = 0;
    assert_ok(mnn_interpreter_output_count(declared, &count));
    assert_int_equal(count, sizeof outputs / sizeof *outputs);
    for (int again = 0; again < 2; ++again)
        for (size_t i = 0; i < count; ++i) assert_declares(declared, mnn_interpreter_output_info, i, outputs[i]);
}

/* A convolution net, complete and with open extents; its session has the declared outputs. */
static void outputs_of_a_net(void** state) {
    (void)state;
    assert_declares(net, mnn_interpreter_input_info, 0,
                    (struct wanted){"image", MNN_TYPE_FLOAT32, MNN_TYPE_FLOAT32, MNN_FORMAT_NCHW, 4, {1, 1, 8, 8}});
    assert_declares(net, mnn_interpreter_output_info, 0,
                    (struct wanted){"scores", 0, MNN_TYPE_FLOAT32, MNN_FORMAT_NCHW, 2, {1, CLASSES}});
    size_t size = 0;
    unsigned char* bytes = open_model(0, &size);
    mnn_interpreter_t* batches = NULL;
    assert_ok(mnn_interpreter_create_from_memory(bytes, size, NULL, &batches));
    free(bytes);
    assert_declares(batches, mnn_interpreter_output_info, 0,
                    (struct wanted){"scores", 0, MNN_TYPE_FLOAT32, MNN_FORMAT_NCHW, 2, {-1, CLASSES}});
    assert_ok(mnn_interpreter_destroy(&batches));
    mnn_session_t* session = open_session(net);
    int32_t dims[MNN_MAX_RANK];
    size_t rank = 0;
    const int32_t type = tensor_info_of(first_output(session)).type;
    assert_ok(mnn_tensor_shape(first_output(session), dims, MNN_MAX_RANK, &rank));
    assert_true(type == MNN_TYPE_FLOAT32 && rank == 2 && dims[0] == 1 && dims[1] == CLASSES);
    assert_ok(mnn_session_destroy(&session));
}

/* A session has the declared type and shape of every output that was known. */
static void sessions_agree(void** state) {
    (void)state;
    mnn_schedule_config_t config = default_config();
    config.defer_planning = 1;
    mnn_session_t* session = NULL;
    assert_ok(mnn_session_create(declared, &config, &session));
    const int32_t wide[] = {3, 4}, real[] = {2, 5, 7, 3}, sized[] = {64};
    mnn_tensor_t* tensor = NULL;
    assert_ok(mnn_session_input(session, "wide", &tensor));
    assert_ok(mnn_session_resize_input(session, tensor, wide, 2));
    assert_ok(mnn_session_input(session, "real", &tensor));
    assert_ok(mnn_session_resize_input(session, tensor, real, 4));
    assert_ok(mnn_session_input(session, "sized", &tensor));
    assert_ok(mnn_session_resize_input(session, tensor, sized, 1));
    assert_ok(mnn_session_resize(session));
    const int32_t target[] = {2, 3};
    assert_ok(mnn_session_input(session, "target", &tensor));
    assert_ok(mnn_tensor_write(tensor, target, sizeof target, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
    for (size_t i = 0; i < 10; ++i) {
        mnn_declaration_t info = {.struct_size = sizeof info};
        assert_ok(mnn_interpreter_output_info(declared, i, &info));
        int32_t dims[MNN_MAX_RANK];
        size_t rank = 0;
        assert_ok(mnn_session_output(session, info.name, &tensor));
        const mnn_tensor_properties_t made = tensor_info_of(tensor);
        assert_ok(mnn_tensor_shape(tensor, dims, MNN_MAX_RANK, &rank));
        if (info.rank < 0) continue;
        assert_int_equal(info.type, made.type);
        assert_int_equal(info.format, made.format);
        assert_int_equal(info.rank, rank);
        for (size_t axis = 0; axis < rank; ++axis)
            if (info.dims[axis] >= 0) assert_int_equal(info.dims[axis], dims[axis]);
    }
    assert_ok(mnn_session_destroy(&session));
}

static void wrong_arguments(void** state) {
    (void)state;
    const info_function functions[] = {mnn_interpreter_input_info, mnn_interpreter_output_info};
    for (size_t k = 0; k < 2; ++k) {
        mnn_declaration_t info;
        memset(&info, 0x5a, sizeof info);
        const mnn_declaration_t before = info;
        assert_fails(functions[k](declared, 0, &info), MNN_ERROR_VERSION_MISMATCH); /* a huge size */
        assert_memory_equal(&info, &before, sizeof info);
        info.struct_size = sizeof info - 1;
        assert_fails(functions[k](declared, 0, &info), MNN_ERROR_VERSION_MISMATCH);
        info.struct_size = sizeof info;
        assert_fails(functions[k](declared, 10, &info), MNN_ERROR_BAD_INDEX);
        assert_fails(functions[k](declared, SIZE_MAX, &info), MNN_ERROR_BAD_INDEX);
        assert_fails(functions[k](NULL, 0, &info), MNN_ERROR_NULL_ARGUMENT);
        assert_fails(functions[k](declared, 0, NULL), MNN_ERROR_NULL_ARGUMENT);
        assert_memory_equal((char*)&info + sizeof(size_t), (const char*)&before + sizeof(size_t),
                            sizeof info - sizeof(size_t));
        struct {
            mnn_declaration_t info;
            unsigned char later[16];
        } longer;
        memset(&longer, 0x5a, sizeof longer);
        longer.info.struct_size = sizeof longer;
        assert_ok(functions[k](declared, 0, &longer.info));
        assert_int_equal(longer.info.struct_size, sizeof longer);
        for (size_t i = 0; i < sizeof longer.later; ++i) assert_int_equal(longer.later[i], 0x5a);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_as_declared), cmocka_unit_test(outputs_where_they_are_known),
        cmocka_unit_test(outputs_of_a_net),   cmocka_unit_test(sessions_agree),
        cmocka_unit_test(wrong_arguments),
    };
    return cmocka_run_group_tests_name("declarations", tests, open_declared, close_declared);
}
