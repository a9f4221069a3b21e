/* Sessions: look-ups, misuse, runs, and the order of destruction. */
#include "digits_net.h"

static void destroy_order(void** state) {
    (void)state;
    assert_ok(mnn_session_destroy(NULL));
    mnn_session_t* none = NULL;
    assert_ok(mnn_session_destroy(&none));
    float wanted[CLASSES], got[CLASSES], pixels[PIXELS];
    reference_scores(11, wanted);
    fill_pixels(pixels, PIXELS, 11);
    mnn_interpreter_t* mine = open_digits();
    mnn_session_t *first = open_session(mine), *second = open_session(mine);
    assert_ok(mnn_interpreter_destroy(&mine));
    assert_null(mine);
    classify(first, pixels, 1, got);
    assert_memory_equal(got, wanted, sizeof got);
    assert_ok(mnn_session_destroy(&first));
    assert_null(first);
    assert_ok(mnn_session_destroy(&first));
    memset(got, 0, sizeof got);
    const int32_t two[] = {2, 1, 8, 8}, one[] = {1, 1, 8, 8};
    assert_ok(mnn_session_resize_input(second, first_input(second), two, 4));
    assert_ok(mnn_session_resize(second));
    assert_ok(mnn_session_resize_input(second, first_input(second), one, 4));
    assert_ok(mnn_session_resize(second));
    classify(second, pixels, 1, got);
    assert_memory_equal(got, wanted, sizeof got);
    assert_ok(mnn_session_destroy(&second));
}

static void find_tensors(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    size_t count = 0;
    mnn_tensor_t *tensor = NULL, *same = NULL;
    assert_ok(mnn_session_input_count(session, &count));
    assert_int_equal(count, 1);
    assert_ok(mnn_session_input(session, "image", &tensor));
    assert_ok(mnn_session_input(session, NULL, &same));
    assert_ptr_equal(tensor, same);
    assert_ok(mnn_session_input_at(session, 0, &same));
    assert_ptr_equal(tensor, same);
    assert_ok(mnn_session_output_count(session, &count));
    assert_int_equal(count, 1);
    assert_ok(mnn_session_output(session, "scores", &tensor));
    assert_ok(mnn_session_output(session, NULL, &same));
    assert_ptr_equal(tensor, same);
    assert_ok(mnn_session_output_at(session, 0, &same));
    assert_ptr_equal(tensor, same);
    same = UNTOUCHED_POINTER;
    const char* wrong[] = {"", "imag", "images", "scores", "\xff\xfe"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i)
        assert_fails(mnn_session_input(session, wrong[i], &same), MNN_ERROR_NOT_FOUND);
    assert_fails(mnn_session_input(session, "nothing", &same), MNN_ERROR_NOT_FOUND);
    assert_non_null(strstr(mnn_last_error(), "nothing"));
    assert_non_null(strstr(mnn_last_error(), "image"));
    assert_fails(mnn_session_output(session, "image", &same), MNN_ERROR_NOT_FOUND);
    assert_non_null(strstr(mnn_last_error(), "scores"));
    /* The sentence itself is used as a name. */
    assert_fails(mnn_session_output(session, mnn_last_error(), &same), MNN_ERROR_NOT_FOUND);
    assert_fails(mnn_session_input_at(session, 1, &same), MNN_ERROR_BAD_INDEX);
    assert_fails(mnn_session_input_at(session, SIZE_MAX, &same), MNN_ERROR_BAD_INDEX);
    assert_fails(mnn_session_output_at(session, 1, &same), MNN_ERROR_BAD_INDEX);
    assert_fails(mnn_session_output_at(session, SIZE_MAX, &same), MNN_ERROR_BAD_INDEX);
    assert_ptr_equal(same, UNTOUCHED_POINTER);
    assert_ok(mnn_session_destroy(&session));
}

static void null_arguments(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    mnn_tensor_t* input = first_input(session);
    const int32_t dims[] = {1, 1, 8, 8};
    bool complete = false;
#define NULL_OUT(call) assert_fails(call, MNN_ERROR_NULL_ARGUMENT)
    NULL_OUT(mnn_session_create(net, NULL, NULL));
    NULL_OUT(mnn_session_input_count(session, NULL));
    NULL_OUT(mnn_session_input(session, "image", NULL));
    NULL_OUT(mnn_session_input_at(session, 0, NULL));
    NULL_OUT(mnn_session_output_count(session, NULL));
    NULL_OUT(mnn_session_output(session, "scores", NULL));
    NULL_OUT(mnn_session_output_at(session, 0, NULL));
    NULL_OUT(mnn_session_resize_input(session, NULL, dims, 4));
    NULL_OUT(mnn_session_resize_input(session, input, NULL, 4));
    NULL_OUT(mnn_session_needs_resize(session, NULL));
    NULL_OUT(mnn_session_info(session, NULL));
    NULL_OUT(mnn_session_statistics(session, NULL));
    NULL_OUT(mnn_session_flops(session, NULL, &complete));
    NULL_OUT(mnn_session_op_count(session, NULL));
    NULL_OUT(mnn_session_op_info(session, 0, NULL));
#undef NULL_OUT
    assert_ok(mnn_session_destroy(&session));
}

/* Every function is given NULL, an interpreter and a tensor in place of a session. */
static void wrong_handles(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    mnn_tensor_t* input = first_input(session);
    mnn_session_t* wrong[] = {NULL, (mnn_session_t*)net, (mnn_session_t*)input};
    for (size_t i = 0; i < 3; ++i) {
        mnn_session_t* h = wrong[i];
        const mnn_status wanted = h ? MNN_ERROR_BAD_HANDLE : MNN_ERROR_NULL_ARGUMENT;
        size_t count = UNTOUCHED_SIZE;
        mnn_tensor_t* tensor = UNTOUCHED_POINTER;
        unsigned char flag = 0x5a;
        double flops = -5;
        mnn_statistics_t memory = {.struct_size = sizeof memory, .arena_bytes = 77};
        mnn_op_info_t info = {.struct_size = sizeof info, .host_shape = 77};
        const int32_t dims[] = {1, 1, 8, 8};
        assert_fails(mnn_session_input_count(h, &count), wanted);
        assert_fails(mnn_session_input(h, NULL, &tensor), wanted);
        assert_fails(mnn_session_input_at(h, 0, &tensor), wanted);
        assert_fails(mnn_session_output_count(h, &count), wanted);
        assert_fails(mnn_session_output(h, NULL, &tensor), wanted);
        assert_fails(mnn_session_output_at(h, 0, &tensor), wanted);
        assert_fails(mnn_session_resize_input(h, input, dims, 4), wanted);
        assert_fails(mnn_session_needs_resize(h, (bool*)&flag), wanted);
        assert_fails(mnn_session_resize(h), wanted);
        assert_fails(mnn_session_run(h), wanted);
        assert_fails(mnn_session_run_with_options(h, NULL), wanted);
        assert_fails(mnn_session_resize_with_options(h, NULL), wanted);
        mnn_session_properties_t setup = {.struct_size = sizeof setup, .threads = 77};
        assert_fails(mnn_session_info(h, &setup), wanted);
        assert_int_equal(setup.threads, 77);
        assert_fails(mnn_session_statistics(h, &memory), wanted);
        assert_fails(mnn_session_flops(h, &flops, (bool*)&flag), wanted);
        assert_fails(mnn_session_op_count(h, &count), wanted);
        assert_fails(mnn_session_op_info(h, 0, &info), wanted);
        assert_int_equal(count, UNTOUCHED_SIZE);
        assert_ptr_equal(tensor, UNTOUCHED_POINTER);
        assert_int_equal(flag, 0x5a);
        assert_true(flops == -5);
        assert_int_equal(memory.arena_bytes, 77);
        assert_int_equal(info.host_shape, 77);
    }
    assert_ok(mnn_session_destroy(&session));
}

static void run_states(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    float pixels[PIXELS], wanted[CLASSES], got[CLASSES], back[PIXELS];
    reference_scores(16, wanted);
    fill_pixels(pixels, PIXELS, 16);
    assert_fails(mnn_tensor_read(first_output(session), got, sizeof got, MNN_FORMAT_NCHW), MNN_ERROR_BAD_STATE);
    classify(session, pixels, 1, got);
    assert_memory_equal(got, wanted, sizeof got);
    /* Inputs keep their contents: runs without a new write give the same. */
    for (int i = 0; i < 5; ++i) {
        assert_ok(mnn_session_run(session));
        assert_ok(mnn_tensor_read(first_output(session), got, sizeof got, MNN_FORMAT_NCHW));
        assert_memory_equal(got, wanted, sizeof got);
        assert_ok(mnn_tensor_read(first_input(session), back, sizeof back, MNN_FORMAT_NCHW));
        assert_memory_equal(back, pixels, sizeof back);
    }
    assert_ok(mnn_session_destroy(&session));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(destroy_order), cmocka_unit_test(find_tensors), cmocka_unit_test(null_arguments),
        cmocka_unit_test(wrong_handles), cmocka_unit_test(run_states),
    };
    return cmocka_run_group_tests_name("session", tests, open_net, close_net);
}
