/* The duration of bindings, runs where sizes depend on contents, and refused calls. */
#include "bound.h"
#include "guarded.h"

static const int32_t kOne[] = {1, 1, 8, 8}, kThree[] = {3, 1, 8, 8};

/* ---- How long a binding lasts ------------------------------------------------------------------------------------ */

static void resized(void** state) {
    (void)state;
    float images[3 * PIXELS], scores[3 * CLASSES], got[3 * CLASSES];
    for (uint32_t i = 0; i < 3; ++i) fill_pixels(images + i * PIXELS, PIXELS, 21 + i);
    assert_ok(bind_pixels(images));
    assert_ok(bind_scores(scores, sizeof wanted));
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_session_resize_input(session, input, kThree, 4));
    assert_fails(bind_pixels(images), MNN_ERROR_BAD_STATE);
    assert_fails(bind_scores(scores, sizeof wanted), MNN_ERROR_BAD_STATE);
    /* A shape that is set back before the resize has changed nothing. */
    assert_ok(mnn_session_resize_input(session, input, kOne, 4));
    assert_ok(mnn_session_resize(session));
    memset(scores, 0, sizeof scores);
    assert_ok(mnn_session_run(session));
    assert_memory_equal(scores, wanted, sizeof wanted);

    assert_ok(mnn_session_resize_input(session, input, kThree, 4));
    assert_ok(mnn_session_resize(session));
    memset(scores, 0, sizeof scores);
    assert_fails(mnn_session_run(session), MNN_ERROR_BAD_STATE);
    assert_non_null(strstr(mnn_last_error(), "image"));
    assert_fails(mnn_tensor_write(input, images, sizeof images, MNN_FORMAT_NCHW), MNN_ERROR_BAD_STATE);
    assert_fails(bind_pixels(images), MNN_ERROR_INPUT_DATA);
    assert_fails(mnn_session_run(session), MNN_ERROR_BAD_STATE);
    assert_ok(mnn_session_bind_input(session, input, images, sizeof images, MNN_FORMAT_NCHW));
    assert_fails(mnn_session_run(session), MNN_ERROR_BAD_STATE);
    assert_non_null(strstr(mnn_last_error(), "scores"));
    assert_fails(bind_scores(scores, sizeof scores - 1), MNN_ERROR_BUFFER_TOO_SMALL);
    assert_ok(bind_scores(NULL, 0));
    assert_ok(mnn_session_run(session));
    assert_true(scores[0] == 0);
    assert_ok(mnn_tensor_read(output, got, sizeof got, MNN_FORMAT_NCHW));
    assert_close(got, wanted, CLASSES, 1e-5f); /* the scores of a batch, whose convolutions may use another algorithm */
    assert_ok(bind_scores(scores, sizeof scores));
    assert_ok(mnn_session_run(session));
    assert_memory_equal(scores, got, sizeof got);
    /* Bound memory that a resize released is free for other tensors. */
    assert_ok(mnn_session_resize_input(session, input, kOne, 4));
    assert_ok(mnn_session_resize(session));
    assert_ok(bind_pixels(scores + CLASSES));
    assert_ok(bind_pixels(pixels));
    assert_ok(bind_scores(images, sizeof wanted));
    assert_ok(mnn_session_run(session));
    assert_memory_equal(images, wanted, sizeof wanted);
}

/* A resize that fails does not change the bindings. */
static void failed_resize(void** state) {
    (void)state;
    float scores[CLASSES];
    const int32_t flat[] = {64}, wide[] = {1, 3, 8, 8};
    assert_ok(bind_pixels(pixels));
    assert_ok(bind_scores(scores, sizeof scores));
    for (int i = 0; i < 2; ++i) {
        assert_ok(mnn_session_resize_input(session, input, i ? flat : wide, i ? 1 : 4));
        const mnn_status status = mnn_session_resize(session);
        if (status == MNN_OK) fail_msg("shape %d fits", i);
        assert_fails(mnn_session_run(session), status);
        assert_ok(mnn_session_resize_input(session, input, kOne, 4));
        assert_ok(mnn_session_resize(session));
        memset(scores, 0, sizeof scores);
        assert_ok(mnn_session_run(session));
        assert_memory_equal(scores, wanted, sizeof wanted);
        void* data = NULL;
        assert_ok(mnn_tensor_map(input, MNN_MAP_READ, &data));
        assert_ptr_equal(data, pixels);
        assert_ok(mnn_tensor_unmap(input));
    }
}

/* Memory is released when its owner requests it, even while no resize succeeds. */
static void released_without_a_plan(void** state) {
    (void)state;
    guarded_t image = guarded_take(sizeof pixels, GUARD_BEHIND);
    guarded_t scores = guarded_take(sizeof wanted, GUARD_BEHIND);
    const int32_t wide[] = {1, 3, 8, 8};
    float got[CLASSES];
    memcpy(image.data, pixels, sizeof pixels);
    assert_ok(bind_pixels(image.data));
    assert_ok(bind_scores(scores.data, sizeof wanted));
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_session_resize_input(session, input, wide, 4));
    if (mnn_session_resize(session) == MNN_OK) fail_msg("the shape fits");
    assert_ok(bind_pixels(NULL));
    assert_ok(bind_scores(NULL, 0));
    guarded_free(&image);
    guarded_free(&scores);
    assert_ok(mnn_session_resize_input(session, input, kOne, 4));
    assert_ok(mnn_session_resize(session));
    classify(session, pixels, 1, got);
    assert_memory_equal(got, wanted, sizeof wanted);
}

/* ---- Sizes that only a run knows --------------------------------------------------------------------------------- */

static void sized_by_contents(void** state) {
    (void)state;
    mnn_interpreter_t* select = open_case("onnx__nonzero_example");
    mnn_session_t* run = NULL;
    mnn_tensor_t *in = NULL, *places = NULL;
    assert_ok(mnn_session_create(select, NULL, &run));
    assert_ok(mnn_session_input(run, NULL, &in));
    assert_ok(mnn_session_output(run, NULL, &places));
    const int32_t dims[] = {3, 5};
    assert_ok(mnn_session_resize_input(run, in, dims, 2));
    assert_ok(mnn_session_resize(run));
    guarded_t values = guarded_take(15 * sizeof(int32_t), GUARD_BEHIND);
    int32_t* flags = (int32_t*)(void*)values.data;
    memset(flags, 0, 15 * sizeof(int32_t));
    flags[1] = flags[7] = 1;
    assert_ok(mnn_session_bind_input(run, in, flags, 15 * sizeof(int32_t), MNN_FORMAT_NCHW));
    guarded_t found = guarded_take(6 * sizeof(int32_t), GUARD_BEHIND);
    int32_t* at = (int32_t*)(void*)found.data;
    assert_ok(mnn_session_bind_output(run, places, at, 6 * sizeof(int32_t), MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(run));
    static const int32_t kTwo[] = {0, 1, 1, 2}; /* rows, then columns */
    assert_memory_equal(at, kTwo, sizeof kTwo);
    flags[14] = 1;
    assert_ok(mnn_session_run(run));
    static const int32_t kThreePlaces[] = {0, 1, 2, 1, 2, 4};
    assert_memory_equal(at, kThreePlaces, sizeof kThreePlaces);
    /* A fourth row does not fit: it is not written, and everything else can be read. */
    flags[4] = 1;
    memset(at, 0x77, 6 * sizeof(int32_t));
    assert_fails(mnn_session_run(run), MNN_ERROR_BUFFER_TOO_SMALL);
    assert_non_null(strstr(mnn_last_error(), "32 bytes"));
    size_t bytes = 0;
    int32_t four[8];
    assert_ok(mnn_tensor_byte_size(places, MNN_FORMAT_NCHW, &bytes));
    assert_int_equal(bytes, sizeof four);
    assert_ok(mnn_tensor_read(places, four, sizeof four, MNN_FORMAT_NCHW));
    static const int32_t kFour[] = {0, 0, 1, 2, 1, 4, 2, 4};
    assert_memory_equal(four, kFour, sizeof kFour);
    for (size_t i = 0; i < 6 * sizeof(int32_t); ++i) assert_int_equal(found.data[i], 0x77);
    memset(four, 0, sizeof four);
    assert_ok(mnn_session_bind_output(run, places, four, sizeof four, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(run));
    assert_memory_equal(four, kFour, sizeof kFour);
    /* There is no element at all. */
    memset(flags, 0, 15 * sizeof(int32_t));
    assert_ok(mnn_session_run(run));
    assert_ok(mnn_tensor_byte_size(places, MNN_FORMAT_NCHW, &bytes));
    assert_int_equal(bytes, 0);
    assert_ok(mnn_session_destroy(&run));
    assert_ok(mnn_interpreter_destroy(&select));
    guarded_free(&values);
    guarded_free(&found);
}

/* ---- Misuse ------------------------------------------------------------------------------------------------------ */

static void refused(void** state) {
    (void)state;
    float scores[CLASSES], got[CLASSES];
    unsigned char both[sizeof pixels + sizeof scores];
    void* data = UNTOUCHED_POINTER;
    mnn_session_t* other = open_session(net);
    assert_fails(mnn_session_bind_input(NULL, input, pixels, sizeof pixels, 0), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_session_bind_input(session, NULL, pixels, sizeof pixels, 0), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_session_bind_output(NULL, output, scores, sizeof scores, 0), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_session_bind_output(session, NULL, scores, sizeof scores, 0), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_session_bind_input(session, output, pixels, sizeof pixels, 0), MNN_ERROR_BAD_HANDLE);
    assert_fails(mnn_session_bind_output(session, input, scores, sizeof scores, 0), MNN_ERROR_BAD_HANDLE);
    assert_fails(mnn_session_bind_input(session, first_input(other), pixels, sizeof pixels, 0), MNN_ERROR_BAD_HANDLE);
    assert_fails(mnn_session_bind_output(session, first_output(other), scores, sizeof scores, 0), MNN_ERROR_BAD_HANDLE);
    assert_fails(mnn_session_bind_input(session, (mnn_tensor_t*)(void*)net, pixels, sizeof pixels, 0),
                 MNN_ERROR_BAD_HANDLE);
    assert_fails(mnn_session_bind_input(session, input, pixels, sizeof pixels, 3), MNN_ERROR_INVALID_VALUE);
    assert_fails(mnn_session_bind_output(session, output, scores, sizeof scores, -1), MNN_ERROR_INVALID_VALUE);
    assert_fails(mnn_session_bind_input(session, input, pixels, sizeof pixels - 1, 0), MNN_ERROR_INPUT_DATA);
    assert_fails(mnn_session_bind_input(session, input, pixels, sizeof pixels + 1, 0), MNN_ERROR_INPUT_DATA);
    assert_fails(mnn_session_bind_input(session, input, pixels, sizeof pixels, MNN_FORMAT_NC4HW4),
                 MNN_ERROR_INPUT_DATA);
    assert_fails(bind_scores(scores, sizeof scores - 1), MNN_ERROR_BUFFER_TOO_SMALL);
    assert_non_null(strstr(mnn_last_error(), "40 bytes"));
    assert_fails(bind_scores(scores, SIZE_MAX), MNN_ERROR_INVALID_VALUE);
    assert_fails(bind_pixels((void*)(UINTPTR_MAX - 15)), MNN_ERROR_INVALID_VALUE);
    assert_fails(bind_scores((void*)(UINTPTR_MAX - 15), sizeof scores), MNN_ERROR_INVALID_VALUE);

    /* The memories overlap: by one byte, completely, on either side. */
    assert_ok(bind_pixels(both));
    assert_fails(bind_scores(both + sizeof pixels - 1, sizeof scores), MNN_ERROR_INVALID_VALUE);
    assert_fails(bind_scores(both, sizeof both), MNN_ERROR_INVALID_VALUE);
    assert_ok(bind_scores(both + sizeof pixels, sizeof scores));
    assert_fails(bind_pixels(both + 1), MNN_ERROR_INVALID_VALUE);
    assert_fails(bind_pixels(both + sizeof scores), MNN_ERROR_INVALID_VALUE);
    /* The earlier bindings are still in effect. */
    memcpy(both, pixels, sizeof pixels);
    assert_ok(mnn_session_run(session));
    assert_memory_equal(both + sizeof pixels, wanted, sizeof wanted);
    assert_memory_equal(both, pixels, sizeof pixels);

    assert_fails(mnn_tensor_write(input, pixels, sizeof pixels, 0), MNN_ERROR_BAD_STATE);
    assert_fails(mnn_tensor_write_as(input, pixels, sizeof pixels, MNN_TYPE_FLOAT32, 0), MNN_ERROR_BAD_STATE);
    assert_fails(mnn_tensor_map(input, MNN_MAP_WRITE, &data), MNN_ERROR_BAD_STATE);
    assert_fails(mnn_tensor_map(input, MNN_MAP_READ | MNN_MAP_WRITE, &data), MNN_ERROR_BAD_STATE);
    assert_ptr_equal(data, UNTOUCHED_POINTER);
    assert_ok(mnn_tensor_map(input, MNN_MAP_READ, &data));
    assert_fails(bind_pixels(pixels), MNN_ERROR_BAD_STATE);
    assert_fails(bind_pixels(NULL), MNN_ERROR_BAD_STATE);
    assert_ok(mnn_tensor_unmap(input));
    assert_ok(mnn_tensor_map(output, MNN_MAP_READ, &data));
    assert_fails(bind_scores(scores, sizeof scores), MNN_ERROR_BAD_STATE);
    assert_ok(mnn_tensor_unmap(output));

    /* An output has no values between its binding and the run; another session is not affected. */
    assert_ok(bind_scores(scores, sizeof scores));
    assert_fails(mnn_tensor_read(output, got, sizeof got, 0), MNN_ERROR_BAD_STATE);
    assert_fails(mnn_tensor_map(output, MNN_MAP_READ, &data), MNN_ERROR_BAD_STATE);
    classify(other, pixels, 1, got);
    assert_memory_equal(got, wanted, sizeof wanted);
    assert_ok(mnn_session_destroy(&other));
    mnn_session_t* gone = open_session(net);
    mnn_session_t* const stale = gone;
    assert_ok(mnn_session_destroy(&gone));
    assert_fails(mnn_session_bind_input(stale, input, pixels, sizeof pixels, 0), MNN_ERROR_BAD_HANDLE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(resized, open_one, close_one),
        cmocka_unit_test_setup_teardown(failed_resize, open_one, close_one),
        cmocka_unit_test_setup_teardown(released_without_a_plan, open_one, close_one),
        cmocka_unit_test(sized_by_contents),
        cmocka_unit_test_setup_teardown(refused, open_one, close_one),
    };
    return cmocka_run_group_tests(tests, open_net, close_net);
}
