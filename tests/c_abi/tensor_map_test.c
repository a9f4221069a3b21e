/* mnn_tensor_map() and mnn_tensor_unmap(), also after a resize. */
#include "digits_net.h"

static void mapping(void** state) {
    (void)state;
    mnn_session_t* session = batch_session(2);
    mnn_tensor_t *input = first_input(session), *output = first_output(session);
    float pixels[2 * PIXELS], wanted[2 * CLASSES], copied[2 * CLASSES];
    fill_pixels(pixels, 2 * PIXELS, 77);
    classify(session, pixels, 2, wanted);

    void* data = NULL;
    assert_ok(mnn_tensor_map(input, MNN_MAP_WRITE, &data));
    assert_non_null(data);
    for (size_t i = 0; i < 2 * PIXELS; ++i) ((float*)data)[i] = 1.0f - pixels[i];
    assert_fails(mnn_tensor_map(input, MNN_MAP_READ, &data), MNN_ERROR_BAD_STATE);
    assert_ok(mnn_tensor_unmap(input));
    assert_fails(mnn_tensor_unmap(input), MNN_ERROR_BAD_STATE);
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_tensor_read(output, copied, sizeof copied, MNN_FORMAT_NCHW));
    assert_memory_not_equal(copied, wanted, sizeof wanted);

    assert_ok(mnn_tensor_map(input, MNN_MAP_READ | MNN_MAP_WRITE, &data));
    for (size_t i = 0; i < 2 * PIXELS; ++i) {
        assert_true(((float*)data)[i] == 1.0f - pixels[i]);
        ((float*)data)[i] = pixels[i];
    }
    assert_ok(mnn_tensor_unmap(input));
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_tensor_map(output, MNN_MAP_READ, &data));
    assert_memory_equal(data, wanted, sizeof wanted);
    assert_ok(mnn_tensor_unmap(output));

    data = UNTOUCHED_POINTER;
    assert_fails(mnn_tensor_map(output, MNN_MAP_WRITE, &data), MNN_ERROR_BAD_STATE);
    assert_fails(mnn_tensor_map(input, 0, &data), MNN_ERROR_INVALID_VALUE);
    assert_fails(mnn_tensor_map(input, 4, &data), MNN_ERROR_INVALID_VALUE);
    assert_fails(mnn_tensor_map(input, MNN_MAP_READ, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_tensor_map(NULL, MNN_MAP_READ, &data), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_tensor_unmap(NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_ptr_equal(data, UNTOUCHED_POINTER);
    assert_ok(mnn_session_destroy(&session));

    session = open_session(net);
    assert_fails(mnn_tensor_map(first_output(session), MNN_MAP_READ, &data), MNN_ERROR_BAD_STATE);
    assert_ok(mnn_session_destroy(&session));
}

/* Every tensor of the net, in any storage, has the same elements mapped and copied. */
static void mapped_like_read(void** state) {
    (void)state;
    mnn_schedule_config_t config;
    assert_ok(mnn_schedule_config_init(&config, sizeof config));
    size_t ops = 0;
    assert_ok(mnn_interpreter_op_count(net, &ops));
    for (size_t i = 0; i < ops; ++i) {
        size_t outputs = 0;
        const char* name = NULL;
        assert_ok(mnn_interpreter_op_output_count(net, i, &outputs));
        if (outputs == 0) continue;
        assert_ok(mnn_interpreter_op_output_name(net, i, 0, &name));
        config.save_tensors = &name;
        config.save_tensor_count = 1;
        mnn_session_t* session = NULL;
        if (mnn_session_create(net, &config, &session) != MNN_OK) continue; /* a constant, an input */
        float pixels[PIXELS];
        fill_pixels(pixels, PIXELS, 5);
        assert_ok(mnn_tensor_write(first_input(session), pixels, sizeof pixels, MNN_FORMAT_NCHW));
        assert_ok(mnn_session_run(session));
        mnn_tensor_t* tensor = NULL;
        if (mnn_session_output(session, name, &tensor) == MNN_OK) {
            size_t bytes = 0;
            int32_t format = tensor_info_of(tensor).format;
            if (format == MNN_FORMAT_NC4HW4) format = MNN_FORMAT_NCHW;
            assert_ok(mnn_tensor_byte_size(tensor, format, &bytes));
            void* copied = malloc(bytes + 1);
            void* data = NULL;
            assert_non_null(copied);
            assert_ok(mnn_tensor_read(tensor, copied, bytes, format));
            assert_ok(mnn_tensor_map(tensor, MNN_MAP_READ, &data));
            assert_memory_equal(data, copied, bytes);
            assert_ok(mnn_tensor_unmap(tensor));
            free(copied);
        }
        assert_ok(mnn_session_destroy(&session));
    }
}

/* A mapping from before a resize is lost, and unmapping reports it. */
static void unmap_after_a_resize(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    mnn_tensor_t *input = first_input(session), *output = first_output(session);
    const int32_t one[] = {1, 1, 8, 8}, two[] = {2, 1, 8, 8};
    void* data = NULL;
    assert_ok(mnn_tensor_map(input, MNN_MAP_WRITE, &data));
    memset(data, 0, PIXELS * sizeof(float));
    assert_ok(mnn_session_resize_input(session, input, two, 4));
    assert_ok(mnn_session_resize(session));
    assert_fails(mnn_tensor_unmap(input), MNN_ERROR_BAD_STATE);
    assert_fails(mnn_tensor_unmap(input), MNN_ERROR_BAD_STATE);
    assert_ok(mnn_tensor_map(input, MNN_MAP_WRITE, &data)); /* it is not mapped any more */
    assert_fails(mnn_tensor_map(input, MNN_MAP_WRITE, &data), MNN_ERROR_BAD_STATE);
    assert_ok(mnn_tensor_unmap(input));
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_tensor_map(output, MNN_MAP_READ, &data));
    assert_ok(mnn_session_resize_input(session, input, one, 4));
    assert_ok(mnn_session_resize(session));
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_tensor_map(output, MNN_MAP_READ, &data)); /* the former mapping has ended */
    assert_ok(mnn_tensor_unmap(output));
    assert_ok(mnn_session_destroy(&session));
}

/* Writes through a former pointer are lost, but harmless: the memory stays until the tensor is unmapped, also when the
 * session uses other memory, and counts until then. */
static void stale_pointers_hit_nothing(void** state) {
    (void)state;
    enum { BATCH = 20000 };
    const int32_t one[] = {1, 1, 8, 8}, large[] = {BATCH, 1, 8, 8};
    mnn_session_t* session = open_session(net);
    mnn_tensor_t *input = first_input(session), *output = first_output(session);
    mnn_statistics_t before = {.struct_size = sizeof before}, kept = before, after = before;
    void *in = NULL, *out = NULL;
    float wanted[CLASSES], got[CLASSES], pixels[PIXELS];
    reference_scores(6, wanted);
    fill_pixels(pixels, PIXELS, 6);
    assert_ok(mnn_session_resize_input(session, input, large, 4));
    assert_ok(mnn_session_resize(session));
    assert_ok(mnn_session_run(session));
    before = statistics_of(session);
    assert_ok(mnn_tensor_map(input, MNN_MAP_READ | MNN_MAP_WRITE, &in));
    assert_ok(mnn_tensor_map(output, MNN_MAP_READ, &out));
    for (int32_t batch = 2 * BATCH; batch <= 4 * BATCH; batch *= 2) {
        const int32_t dims[] = {batch, 1, 8, 8};
        assert_ok(mnn_session_resize_input(session, input, dims, 4));
        assert_ok(mnn_session_resize(session));
        memset(in, 1, (size_t)BATCH * PIXELS * sizeof(float));
        for (size_t i = 0; i < BATCH * CLASSES; i += 512) assert_true(((volatile float*)out)[i] != 12345.0f);
    }
    kept = statistics_of(session);
    assert_fails(mnn_tensor_unmap(input), MNN_ERROR_BAD_STATE);
    assert_fails(mnn_tensor_unmap(output), MNN_ERROR_BAD_STATE);
    after = statistics_of(session);
    assert_true(after.memory_bytes < kept.memory_bytes);
    assert_ok(mnn_session_resize_input(session, input, one, 4));
    assert_ok(mnn_session_resize(session));
    classify(session, pixels, 1, got);
    assert_memory_equal(got, wanted, sizeof got);
    assert_ok(mnn_session_destroy(&session));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mapping),
        cmocka_unit_test(mapped_like_read),
        cmocka_unit_test(unmap_after_a_resize),
        cmocka_unit_test(stale_pointers_hit_nothing),
    };
    return cmocka_run_group_tests_name("tensor_map", tests, open_net, close_net);
}
