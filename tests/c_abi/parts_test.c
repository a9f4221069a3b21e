/* Parts of nets: with inputs in the middle, or chosen by operators. Whole nets are cut in cut_models_test. */
#include "net_files.h"
#include "net_parts.h"

static void fed_in_the_middle(void** state) {
    (void)state;
    enum { BATCH = 3 };
    float wanted[BATCH * CLASSES], got[BATCH * CLASSES], pixels[BATCH * PIXELS], pooled[BATCH * POOLED];
    mnn_session_t* whole = batch_session(BATCH);
    fill_pixels(pixels, BATCH * PIXELS, 5);
    classify(whole, pixels, BATCH, wanted);
    assert_ok(mnn_session_destroy(&whole));
    pooled_of(pixels, BATCH, pooled);

    mnn_schedule_config_t config = by_names(kM, 1, NULL, 0);
    mnn_session_t* session = NULL;
    int32_t dims[MNN_MAX_RANK];
    size_t count = 0, rank = 0, ops = 0;
    assert_ok(mnn_session_create(net, &config, &session));
    assert_ok(mnn_session_input_count(session, &count));
    assert_int_equal(count, 2);
    assert_input(session, 0, "m", 1);
    assert_input(session, 1, "image", 0);
    /* The input has the size that the net computes for one image, so the session is ready. */
    assert_ok(mnn_tensor_shape(first_input(session), dims, MNN_MAX_RANK, &rank));
    assert_int_equal(rank, 4);
    assert_memory_equal(dims, ((int32_t[]){1, 32, 4, 4}), 4 * sizeof *dims);
    assert_ok(mnn_tensor_write(first_input(session), pooled, POOLED * sizeof(float), MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
    assert_output(session, "scores", wanted, CLASSES);
    assert_ok(mnn_session_op_count(session, &ops));
    for (size_t i = 0; i < ops; ++i) {
        mnn_op_info_t info = {.struct_size = sizeof info};
        assert_ok(mnn_session_op_info(session, i, &info));
        assert_string_not_equal(info.name, "c1");
        assert_string_not_equal(info.name, "c2");
    }
    dims[0] = BATCH;
    assert_ok(mnn_session_resize_input(session, first_input(session), dims, 4));
    assert_ok(mnn_session_resize(session));
    assert_ok(mnn_tensor_write(first_input(session), pooled, sizeof pooled, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_tensor_read(first_output(session), got, sizeof got, MNN_FORMAT_NCHW));
    assert_memory_equal(got, wanted, sizeof got);
    /* The net's operators decide which shapes fit. */
    dims[1] = 31;
    assert_ok(mnn_session_resize_input(session, first_input(session), dims, 4));
    assert_true(mnn_session_resize(session) != MNN_OK);
    assert_ok(mnn_session_destroy(&session));
}

static void inside_names(void** state) {
    (void)state;
    float pixels[PIXELS], pooled[POOLED], r1[16 * 64];
    fill_pixels(pixels, PIXELS, 9);
    pooled_of(pixels, 1, pooled);
    mnn_schedule_config_t config = by_names(NULL, 0, kR1, 1);
    mnn_session_t* session = NULL;
    size_t count = 0;
    assert_ok(mnn_session_create(net, &config, &session));
    assert_ok(mnn_tensor_write(first_input(session), pixels, sizeof pixels, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_tensor_element_count(first_output(session), &count));
    assert_true(count <= sizeof r1 / sizeof *r1);
    assert_ok(mnn_tensor_read(first_output(session), r1, count * sizeof(float), MNN_FORMAT_NCHW));
    assert_ok(mnn_session_destroy(&session));
    /* The part lies between two tensors; the model's own output is not in it. */
    config = by_names(kR1, 1, kM, 1);
    assert_ok(mnn_session_create(net, &config, &session));
    assert_ok(mnn_tensor_write(first_input(session), r1, count * sizeof(float), MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
    assert_output(session, "m", pooled, POOLED);
    assert_ok(mnn_session_destroy(&session));
    /* The same part by operators, with the tensor between saved. */
    static const char* const behind[] = {"c2", "m"};
    static const char* const between[] = {"r2"};
    config = by_operators(behind, 2);
    config.save_tensors = between;
    config.save_tensor_count = 1;
    assert_ok(mnn_session_create(net, &config, &session));
    assert_input(session, 0, "r1", 1);
    assert_input(session, 1, "image", 0);
    assert_ok(mnn_tensor_write(first_input(session), r1, count * sizeof(float), MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
    assert_output(session, "m", pooled, POOLED);
    size_t outputs = 0;
    mnn_tensor_t* saved = NULL;
    assert_ok(mnn_session_output_count(session, &outputs));
    assert_int_equal(outputs, 2);
    assert_ok(mnn_session_output(session, "r2", &saved));
    assert_ok(mnn_session_destroy(&session));
    /* A tensor that is not read by the part stays an input, unused. */
    const char* late[] = {"f", "image"};
    config = by_names(late, 2, kR1, 1);
    assert_ok(mnn_session_create(net, &config, &session));
    assert_input(session, 0, "f", 0);
    assert_input(session, 1, "image", 1);
    assert_ok(mnn_session_destroy(&session));
}

/* An operator outside of the part that does not fit the tensor it reads leaves the shape of its result open. */
static void misfit_before_the_part(void** state) {
    (void)state;
    static const char *const m = "m", *const y = "y";
    const float x[] = {-1, 2}, wanted[] = {0, 2};
    const int32_t dims[] = {1, 2, 1, 1};
    mnn_interpreter_t* miscounted = open_net_of("miscounted");
    mnn_schedule_config_t config = by_names(NULL, 0, &y, 1);
    mnn_session_t* session = NULL;
    assert_fails(mnn_session_create(miscounted, &config, &session), MNN_ERROR_BAD_WEIGHTS);
    config = by_names(&m, 1, &y, 1);
    assert_ok(mnn_session_create(miscounted, &config, &session));
    assert_ok(mnn_session_resize_input(session, first_input(session), dims, 4));
    assert_ok(mnn_session_resize(session));
    assert_ok(mnn_tensor_write(first_input(session), x, sizeof x, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
    assert_output(session, y, wanted, 2);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&miscounted));
}

/* With an open height no tensor after the first convolution has a shape. */
static void shape_not_known(void** state) {
    (void)state;
    size_t size = 0, rank = 0;
    unsigned char* bytes = open_model(2, &size);
    mnn_interpreter_t* open = NULL;
    mnn_session_t* session = NULL;
    mnn_schedule_config_t config = by_names(kM, 1, NULL, 0);
    int32_t dims[MNN_MAX_RANK];
    bool needed = false;
    assert_ok(mnn_interpreter_create_from_memory(bytes, size, NULL, &open));
    assert_ok(mnn_session_create(open, &config, &session));
    assert_ok(mnn_tensor_shape(first_input(session), dims, MNN_MAX_RANK, &rank));
    assert_int_equal(rank, 1);
    assert_int_equal(dims[0], -1);
    assert_ok(mnn_session_needs_resize(session, &needed));
    assert_true(needed);
    assert_fails(mnn_session_run(session), MNN_ERROR_BAD_STATE);
    assert_fails(mnn_session_resize(session), MNN_ERROR_BAD_STATE);
    assert_non_null(strstr(mnn_last_error(), "'m'"));
    /* The open input of the model needs no shape, because it is not read. */
    assert_ok(mnn_session_resize_input(session, first_input(session), (int32_t[]){1, 32, 4, 4}, 4));
    assert_ok(mnn_session_resize(session));
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&open));
    free(bytes);
}

static void wrong_names(void** state) {
    (void)state;
    static const char* const unknown[] = {"m", "no such tensor"};
    static const char* const no_operator[] = {"c1", "no such operator"};
    static const char* const with_null[] = {"m", NULL};
    static const char* const constant[] = {"Const28"};
    mnn_schedule_config_t config = by_names(unknown, 2, NULL, 0);
    assert_refused(&config, MNN_ERROR_NOT_FOUND);
    assert_non_null(strstr(mnn_last_error(), "no such tensor"));
    config = by_operators(no_operator, 2);
    assert_refused(&config, MNN_ERROR_NOT_FOUND);
    assert_non_null(strstr(mnn_last_error(), "no such operator"));
    config = by_names(with_null, 2, NULL, 0);
    assert_refused(&config, MNN_ERROR_NULL_ARGUMENT);
    config = by_names(NULL, 1, NULL, 0);
    assert_refused(&config, MNN_ERROR_NULL_ARGUMENT);
    config = by_operators(NULL, 1);
    assert_refused(&config, MNN_ERROR_NULL_ARGUMENT);
    config = by_names(constant, 1, NULL, 0);
    assert_refused(&config, MNN_ERROR_INVALID_VALUE);
    assert_non_null(strstr(mnn_last_error(), "Const28"));
    /* There is nothing to compute. */
    config = by_names(kM, 1, kM, 1);
    assert_refused(&config, MNN_ERROR_BAD_FORMAT);
    config = by_operators(constant, 1);
    assert_refused(&config, MNN_ERROR_BAD_FORMAT);
    /* A list of operators determines its own beginning and end. */
    config = by_operators(kConvolutions, 2);
    config.outputs = kM;
    config.output_count = 1;
    assert_refused(&config, MNN_ERROR_INVALID_VALUE);
    config = by_operators(kConvolutions, 2);
    config.inputs = kR1;
    config.input_count = 1;
    assert_refused(&config, MNN_ERROR_INVALID_VALUE);
    config = by_operators(kConvolutions, 2);
    config.save_tensors = kM;
    config.save_tensor_count = 1;
    assert_refused(&config, MNN_ERROR_INVALID_VALUE);
    assert_non_null(strstr(mnn_last_error(), "'m'"));
}

/* One of the three outputs of an operator is an input: the operator runs for the others and does not write that one. */
static void one_output_of_several_fed(void** state) {
    (void)state;
    mnn_interpreter_t* split = open_case("concat__split");
    static const char* const names[] = {"even_0", "even_1", "even_2"};
    mnn_schedule_config_t config = by_names(NULL, 0, names, 3);
    float wanted[2][256], fed[256], got[256];
    for (int with = 0; with < 2; ++with) {
        mnn_session_t* session = NULL;
        size_t inputs = 0, count = 0;
        config.inputs = with ? names : NULL;
        config.input_count = with ? 1 : 0;
        assert_ok(mnn_session_create(split, &config, &session));
        assert_ok(mnn_session_input_count(session, &inputs));
        for (size_t i = 0; i < inputs; ++i) {
            mnn_tensor_t* input = NULL;
            float values[1024];
            assert_ok(mnn_session_input_at(session, i, &input));
            assert_ok(mnn_tensor_element_count(input, &count));
            assert_true(count <= 1024);
            fill_pixels(values, count, (uint32_t)count);
            const int32_t type = tensor_info_of(input).type;
            if (type == MNN_TYPE_FLOAT32)
                assert_ok(mnn_tensor_write(input, values, count * sizeof(float), MNN_FORMAT_NCHW));
        }
        if (with) {
            assert_ok(mnn_tensor_element_count(first_input(session), &count));
            assert_true(count > 0 && count <= 256);
            for (size_t i = 0; i < count; ++i) fed[i] = -7 - (float)i;
            assert_ok(mnn_tensor_write(first_input(session), fed, count * sizeof(float), MNN_FORMAT_NCHW));
        }
        assert_ok(mnn_session_run(session));
        assert_ok(mnn_session_run(session));
        if (with) assert_output(session, names[0], fed, count);
        for (size_t k = 1; k < 3; ++k) {
            mnn_tensor_t* output = NULL;
            assert_ok(mnn_session_output(session, names[k], &output));
            assert_ok(mnn_tensor_element_count(output, &count));
            assert_true(count > 0 && count <= 256);
            assert_ok(mnn_tensor_read(output, with ? got : wanted[k - 1], count * sizeof(float), MNN_FORMAT_NCHW));
            if (with) assert_memory_equal(got, wanted[k - 1], count * sizeof(float));
        }
        assert_ok(mnn_session_destroy(&session));
    }
    assert_ok(mnn_interpreter_destroy(&split));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fed_in_the_middle),
        cmocka_unit_test(inside_names),
        cmocka_unit_test(misfit_before_the_part),
        cmocka_unit_test(shape_not_known),
        cmocka_unit_test(wrong_names),
        cmocka_unit_test(one_output_of_several_fed),
    };
    return cmocka_run_group_tests_name("parts", tests, open_net, close_net);
}
