/* The places of tensors, the meaning of their extents, and their text. */
#include "digits_net.h"

#define IMAGE_FORMAT "NCHW"
#define NHWC_CASE "convolution__nhwc_relu6"

static void inputs_and_outputs(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    mnn_tensor_properties_t info = tensor_info_of(first_input(session));
    assert_int_equal(info.kind, MNN_TENSOR_INPUT);
    assert_int_equal(info.forward_type, MNN_FORWARD_CPU);
    assert_int_equal(info.type, MNN_TYPE_FLOAT32);
    assert_int_equal(info.channel_block, 1);
    assert_int_equal(info.used, 1);
    assert_int_equal(info.format, MNN_FORMAT_NCHW);
    info = tensor_info_of(first_output(session));
    assert_int_equal(info.kind, MNN_TENSOR_OUTPUT);
    const int32_t two[] = {2, 1, 8, 8};
    assert_ok(mnn_session_resize_input(session, first_input(session), two, 4));
    assert_fails(mnn_tensor_info(first_output(session), &info), MNN_ERROR_BAD_STATE);
    assert_int_equal(tensor_info_of(first_input(session)).kind, MNN_TENSOR_INPUT);
    assert_ok(mnn_session_destroy(&session));
}

struct shown {
    int packed, row_major;
};

static int32_t look(void* user_data, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors, size_t count) {
    (void)op;
    struct shown* shown = user_data;
    for (size_t i = 0; i < count; ++i) {
        mnn_tensor_properties_t info = {.struct_size = sizeof info};
        if (mnn_tensor_info(tensors[i], &info) != MNN_OK || info.kind != MNN_TENSOR_SHOWN) return MNN_OP_STOP;
        shown->packed += info.channel_block > 1;
        shown->row_major += info.channel_block == 1;
    }
    return MNN_OP_RUN;
}

/* Convolutions keep their tensors in blocks of channels; inputs and outputs are row-major. */
static void shown_tensors(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    struct shown shown = {0, 0};
    assert_ok(run_watched(session, look, look, &shown));
    assert_true(shown.packed > 0 && shown.row_major > 0);
    assert_ok(mnn_session_destroy(&session));
}

static void unused_inputs(void** state) {
    (void)state;
    mnn_interpreter_t* other = open_case("matmul__constant_right");
    mnn_schedule_config_t config = default_config();
    const char* one[] = {"odd"};
    config.outputs = one;
    config.output_count = 1;
    mnn_session_t *all = open_session(other), *part = NULL;
    assert_ok(mnn_session_create(other, &config, &part));
    size_t count = 0, used = 0;
    assert_ok(mnn_session_input_count(part, &count));
    assert_int_equal(count, 10);
    for (size_t i = 0; i < count; ++i) {
        mnn_tensor_t* tensor = NULL;
        assert_ok(mnn_session_input_at(all, i, &tensor));
        assert_int_equal(tensor_info_of(tensor).used, 1);
        assert_ok(mnn_session_input_at(part, i, &tensor));
        used += (size_t)tensor_info_of(tensor).used;
        if (i == 0) assert_int_equal(tensor_info_of(tensor).used, 1); /* "odd" is computed from the first one */
    }
    assert_int_equal(used, 1);
    assert_ok(mnn_session_destroy(&part));
    assert_ok(mnn_session_destroy(&all));
    assert_ok(mnn_interpreter_destroy(&other));
}

static void meaning_of_extents(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    mnn_tensor_t* input = first_input(session);
    int32_t nchw[4] = {0}, dims[MNN_MAX_RANK];
    size_t rank = 0;
    const int32_t wanted[] = {3, 1, 8, 8};
    assert_ok(mnn_session_resize_input(session, input, wanted, 4));
    assert_ok(mnn_tensor_nchw(input, nchw));
    assert_memory_equal(nchw, wanted, sizeof wanted);
    assert_ok(mnn_session_resize(session));
    assert_ok(mnn_tensor_shape(input, dims, MNN_MAX_RANK, &rank));
    assert_memory_equal(dims, wanted, sizeof wanted);
    assert_fails(mnn_tensor_nchw(first_output(session), nchw), MNN_ERROR_BAD_STATE); /* of rank 2 */
    assert_memory_equal(nchw, wanted, sizeof wanted);
    assert_fails(mnn_tensor_nchw(input, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_tensor_nchw(NULL, nchw), MNN_ERROR_NULL_ARGUMENT);
    assert_ok(mnn_session_destroy(&session));
}

/* In a model whose input is NHWC the channel is the last extent. */
static void channels_last(void** state) {
    (void)state;
    size_t size = 0;
    unsigned char* bytes = read_whole_file(MNN_C_CASES_FOLDER "/" NHWC_CASE "/model.mnn", &size);
    assert_non_null(bytes);
    mnn_interpreter_t* other = NULL;
    assert_ok(mnn_interpreter_create_from_memory(bytes, size, NULL, &other));
    free(bytes);
    mnn_session_t* session = open_session(other);
    mnn_tensor_t* input = first_input(session);
    assert_int_equal(tensor_info_of(input).format, MNN_FORMAT_NHWC);
    int32_t nchw[4], dims[MNN_MAX_RANK];
    size_t rank = 0;
    assert_ok(mnn_tensor_shape(input, dims, MNN_MAX_RANK, &rank));
    assert_int_equal(rank, 4);
    assert_ok(mnn_tensor_nchw(input, nchw));
    const int32_t wanted[] = {dims[0], dims[3], dims[1], dims[2]};
    assert_memory_equal(nchw, wanted, sizeof wanted);
    ++dims[0];
    assert_ok(mnn_session_resize_input(session, input, dims, 4));
    assert_ok(mnn_tensor_nchw(input, nchw));
    assert_int_equal(nchw[0], dims[0]);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&other));
}

static void assert_prints(const mnn_tensor_t* tensor, size_t edge, const char* wanted) {
    char text[4096];
    size_t needed = 0;
    memset(text, 0x5a, sizeof text);
    assert_ok(mnn_tensor_print(tensor, edge, NULL, 0, &needed));
    assert_int_equal(needed, strlen(wanted) + 1);
    assert_fails(mnn_tensor_print(tensor, edge, text, needed - 1, &needed), MNN_ERROR_BUFFER_TOO_SMALL);
    assert_int_equal((unsigned char)text[0], 0x5a);
    assert_ok(mnn_tensor_print(tensor, edge, text, needed, &needed));
    assert_string_equal(text, wanted);
    assert_int_equal((unsigned char)text[needed], 0x5a);
}

static void printing(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    mnn_tensor_t* input = first_input(session);
    float values[PIXELS];
    for (int i = 0; i < PIXELS; ++i) values[i] = (float)i / 4 - 1;
    assert_ok(mnn_tensor_write(input, values, sizeof values, MNN_FORMAT_NCHW));
    assert_prints(input, 2,
                  "image float32 [1, 1, 8, 8] " IMAGE_FORMAT
                  "\n"
                  "[[[[   -1 -0.75 ...   0.5  0.75]\n"
                  "   [    1  1.25 ...   2.5  2.75]\n"
                  "   ...\n"
                  "   [   11 11.25 ...  12.5 12.75]\n"
                  "   [   13 13.25 ...  14.5 14.75]]]]\n");
    assert_prints(input, 1,
                  "image float32 [1, 1, 8, 8] " IMAGE_FORMAT
                  "\n"
                  "[[[[   -1 ...  0.75]\n"
                  "   ...\n"
                  "   [   13 ... 14.75]]]]\n");
    /* The text has every number once. */
    char text[4096];
    size_t needed = 0;
    assert_ok(mnn_tensor_print(input, 0, text, sizeof text, &needed));
    assert_null(strstr(text, "..."));
    assert_non_null(strstr(text, "[    3  3.25   3.5  3.75     4  4.25   4.5  4.75]"));
    assert_ok(mnn_tensor_print(input, SIZE_MAX, text, sizeof text, &needed));
    assert_null(strstr(text, "..."));
    assert_fails(mnn_tensor_print(first_output(session), 0, text, sizeof text, &needed), MNN_ERROR_BAD_STATE);
    assert_fails(mnn_tensor_print(input, 0, NULL, 10, &needed), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_tensor_print(input, 0, text, sizeof text, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_tensor_print(NULL, 0, text, sizeof text, &needed), MNN_ERROR_NULL_ARGUMENT);
    const int32_t none[] = {0, 1, 8, 8}, two[] = {2, 1, 2, 1};
    assert_ok(mnn_session_resize_input(session, input, two, 4));
    assert_fails(mnn_tensor_print(input, 0, text, sizeof text, &needed), MNN_ERROR_BAD_STATE);
    assert_ok(mnn_session_resize_input(session, input, none, 4));
    assert_ok(mnn_session_resize(session));
    assert_prints(input, 0, "image float32 [0, 1, 8, 8] " IMAGE_FORMAT "\n[]\n");
    assert_ok(mnn_session_destroy(&session));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_and_outputs), cmocka_unit_test(shown_tensors), cmocka_unit_test(unused_inputs),
        cmocka_unit_test(meaning_of_extents), cmocka_unit_test(channels_last), cmocka_unit_test(printing),
    };
    return cmocka_run_group_tests_name("tensor info", tests, open_net, close_net);
}
