/* The tensors that a session has as outputs: `outputs` and `save_tensors` of its configuration. */
#include "digits_net.h"

static void output_names(void** state) {
    (void)state;
    mnn_schedule_config_t config = default_config();
    const char* unknown[] = {"scores", "no such tensor"};
    const char* with_null[] = {"scores", NULL};
    config.outputs = unknown;
    config.output_count = 2;
    assert_refused(&config, MNN_ERROR_NOT_FOUND);
    assert_non_null(strstr(mnn_last_error(), "no such tensor"));
    config.outputs = with_null;
    assert_refused(&config, MNN_ERROR_NULL_ARGUMENT);
    config.outputs = NULL;
    assert_refused(&config, MNN_ERROR_NULL_ARGUMENT);
    config = default_config();
    config.save_tensors = unknown;
    config.save_tensor_count = 2;
    assert_refused(&config, MNN_ERROR_NOT_FOUND);
    config.save_tensors = with_null;
    assert_refused(&config, MNN_ERROR_NULL_ARGUMENT);
    config.save_tensors = NULL;
    assert_refused(&config, MNN_ERROR_NULL_ARGUMENT);
}

static void save_tensors(void** state) {
    (void)state;
    float wanted[CLASSES], got[CLASSES], pixels[PIXELS], pooled[32 * 4 * 4], alone[32 * 4 * 4];
    reference_scores(10, wanted);
    fill_pixels(pixels, PIXELS, 10);
    /* "m" is the pooling's result, 32 planes of 4x4 behind a relu; "image" is the input itself. */
    const char* names[] = {"m", "image"};
    mnn_schedule_config_t config = default_config();
    config.save_tensors = names;
    config.save_tensor_count = 2;
    mnn_session_t* session = NULL;
    assert_ok(mnn_session_create(net, &config, &session));
    size_t count = 0, rank = 0, elements = 0;
    assert_ok(mnn_session_output_count(session, &count));
    assert_int_equal(count, 3);
    const char* order[] = {"scores", "m", "image"};
    for (size_t i = 0; i < 3; ++i) {
        mnn_tensor_t *at = NULL, *named = NULL;
        const char* name = NULL;
        assert_ok(mnn_session_output_at(session, i, &at));
        assert_ok(mnn_tensor_name(at, &name));
        assert_string_equal(name, order[i]);
        assert_ok(mnn_session_output(session, order[i], &named));
        assert_ptr_equal(at, named);
    }
    classify(session, pixels, 1, got);
    assert_memory_equal(got, wanted, sizeof got);
    mnn_tensor_t* saved = NULL;
    int32_t dims[MNN_MAX_RANK];
    assert_ok(mnn_session_output(session, "m", &saved));
    assert_ok(mnn_tensor_shape(saved, dims, MNN_MAX_RANK, &rank));
    assert_int_equal(rank, 4);
    assert_ok(mnn_tensor_element_count(saved, &elements));
    assert_int_equal(elements, 512);
    assert_ok(mnn_tensor_read(saved, pooled, sizeof pooled, MNN_FORMAT_NCHW));
    size_t positive = 0;
    for (size_t i = 0; i < 512; ++i) {
        assert_true(pooled[i] >= 0);
        positive += pooled[i] > 0;
    }
    assert_true(positive > 50);
    float image[PIXELS];
    assert_ok(mnn_session_output(session, "image", &saved));
    assert_ok(mnn_tensor_read(saved, image, sizeof image, MNN_FORMAT_NCHW));
    assert_memory_equal(image, pixels, sizeof image);
    assert_ok(mnn_session_destroy(&session));
    /* It is the only output now; the operators after it are not computed. */
    config = default_config();
    config.outputs = names;
    config.output_count = 1;
    assert_ok(mnn_session_create(net, &config, &session));
    assert_ok(mnn_session_output_count(session, &count));
    assert_int_equal(count, 1);
    assert_fails(mnn_session_output(session, "scores", &saved), MNN_ERROR_NOT_FOUND);
    assert_ok(mnn_tensor_write(first_input(session), pixels, sizeof pixels, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_tensor_read(first_output(session), alone, sizeof alone, MNN_FORMAT_NCHW));
    assert_memory_equal(alone, pooled, sizeof alone);
    assert_ok(mnn_session_destroy(&session));
    /* A name that already is an output is not added again. */
    const char* twice[] = {"scores", "scores"};
    config.outputs = twice;
    config.output_count = 2;
    config.save_tensors = twice;
    config.save_tensor_count = 2;
    assert_ok(mnn_session_create(net, &config, &session));
    assert_ok(mnn_session_output_count(session, &count));
    assert_int_equal(count, 1);
    assert_ok(mnn_session_destroy(&session));
}

/* Every tensor that an operator of the file produces can be saved. */
static void save_any_tensor(void** state) {
    (void)state;
    const char* names[] = {"Concat29",
                           "Const28",
                           "SliceTf27",
                           "Unsqueeze26",
                           "BinaryOp22",
                           "Rank20",
                           "Shape17",
                           "ConvertTensor16",
                           "scores__matmul_converted",
                           "Reshape14",
                           "Concat13",
                           "f",
                           "r1",
                           "r2",
                           "image___tr4c1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        mnn_schedule_config_t config = default_config();
        config.save_tensors = &names[i];
        config.save_tensor_count = 1;
        mnn_session_t* session = NULL;
        assert_ok(mnn_session_create(net, &config, &session));
        float pixels[PIXELS] = {0}, scores[CLASSES], values[4096];
        mnn_tensor_t* saved = NULL;
        classify(session, pixels, 1, scores);
        assert_ok(mnn_session_output(session, names[i], &saved));
        assert_ok(mnn_tensor_read(saved, values, sizeof values, MNN_FORMAT_NCHW));
        assert_ok(mnn_session_destroy(&session));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_names),
        cmocka_unit_test(save_tensors),
        cmocka_unit_test(save_any_tensor),
    };
    return cmocka_run_group_tests_name("outputs", tests, open_net, close_net);
}
