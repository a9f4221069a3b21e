/* The planning of a session: deferred creation, and the state after a failed resize. */
#include "digits_net.h"

static const int32_t good[] = {1, 1, 8, 8}, batch[] = {3, 1, 8, 8}, bad[] = {1, 2, 8, 8};

/* The digits model with another declared height, which it cannot be planned for. */
static mnn_interpreter_t* net_of_height(int32_t height) {
    size_t size = 0;
    unsigned char* bytes = open_model(2, &size);
    const int32_t open[] = {4, 1, 1, -1, 8}, wanted[] = {4, 1, 1, height, 8};
    for (size_t at = 0; at + sizeof open <= size; at += 4)
        if (memcmp(bytes + at, open, sizeof open) == 0) memcpy(bytes + at, wanted, sizeof wanted);
    mnn_interpreter_t* opened = NULL;
    assert_ok(mnn_interpreter_create_from_memory(bytes, size, NULL, &opened));
    free(bytes);
    return opened;
}

static void resize_to(mnn_session_t* session, const int32_t* dims) {
    assert_ok(mnn_session_resize_input(session, first_input(session), dims, 4));
    assert_ok(mnn_session_resize(session));
}

static void assert_classifies(mnn_session_t* session, unsigned seed) {
    float pixels[PIXELS], wanted[CLASSES], got[CLASSES];
    reference_scores(seed, wanted);
    fill_pixels(pixels, PIXELS, seed);
    classify(session, pixels, 1, got);
    assert_memory_equal(got, wanted, sizeof got);
}

static void a_deferred_session_waits_for_its_resize(void** state) {
    (void)state;
    mnn_schedule_config_t config = default_config();
    config.defer_planning = 1;
    mnn_session_t* session = NULL;
    assert_ok(mnn_session_create(net, &config, &session));
    bool needed = false;
    assert_ok(mnn_session_needs_resize(session, &needed));
    assert_true(needed);
    float pixels[PIXELS] = {0};
    assert_fails(mnn_session_run(session), MNN_ERROR_BAD_STATE);
    assert_fails(mnn_tensor_write(first_input(session), pixels, sizeof pixels, MNN_FORMAT_NCHW), MNN_ERROR_BAD_STATE);
    /* It is the shape that was declared. */
    resize_to(session, good);
    assert_classifies(session, 21);
    assert_ok(mnn_session_destroy(&session));
    config.defer_planning = 2;
    assert_refused(&config, MNN_ERROR_INVALID_VALUE);
    config.defer_planning = -1;
    assert_refused(&config, MNN_ERROR_INVALID_VALUE);
}

static void unusable_declared_shapes_do_not_keep_a_model_from_opening(void** state) {
    (void)state;
    const int32_t heights[] = {16, 0x7fffffff};
    for (size_t i = 0; i < 2; ++i) {
        mnn_interpreter_t* opened = net_of_height(heights[i]);
        mnn_schedule_config_t config = default_config();
        mnn_session_t* session = NULL;
        assert_true(mnn_session_create(opened, &config, &session) != MNN_OK);
        config.defer_planning = 1;
        assert_ok(mnn_session_create(opened, &config, &session));
        const mnn_status failure = mnn_session_resize(session);
        assert_true(failure != MNN_OK && failure != MNN_ERROR_INTERNAL);
        assert_fails(mnn_session_run(session), failure);
        resize_to(session, good);
        assert_classifies(session, 22);
        assert_ok(mnn_session_destroy(&session));
        assert_ok(mnn_interpreter_destroy(&opened));
    }
}

/* A run after a failed resize repeats the reason why there is no plan; another shape replaces the reason. */
static void a_run_repeats_why_the_resize_failed(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    assert_classifies(session, 23);
    assert_ok(mnn_session_resize_input(session, first_input(session), bad, 4));
    assert_fails(mnn_session_run(session), MNN_ERROR_BAD_STATE);
    const mnn_status failure = mnn_session_resize(session);
    assert_true(failure != MNN_OK && failure != MNN_ERROR_BAD_STATE);
    char sentence[512];
    snprintf(sentence, sizeof sentence, "%s", mnn_last_error());
    for (int i = 0; i < 2; ++i) {
        assert_fails(mnn_session_needs_resize(NULL, NULL), MNN_ERROR_NULL_ARGUMENT); /* another sentence */
        assert_fails(mnn_session_run(session), failure);
        assert_string_equal(mnn_last_error(), sentence);
    }
    assert_fails(mnn_session_resize(session), failure);
    assert_ok(mnn_session_resize_input(session, first_input(session), batch, 4));
    assert_fails(mnn_session_run(session), MNN_ERROR_BAD_STATE);
    assert_ok(mnn_session_resize(session));
    assert_ok(mnn_session_run(session));
    resize_to(session, good);
    assert_classifies(session, 24);
    assert_ok(mnn_session_destroy(&session));
}

static void a_cancelled_resize_is_a_failed_one(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    mnn_cancel_t* cancel = NULL;
    assert_ok(mnn_cancel_create(&cancel));
    assert_ok(mnn_cancel_trigger(cancel));
    mnn_resize_options_t options;
    assert_ok(mnn_resize_options_init(&options, sizeof options));
    options.cancel = cancel;
    assert_ok(mnn_session_resize_input(session, first_input(session), batch, 4));
    assert_fails(mnn_session_resize_with_options(session, &options), MNN_ERROR_CANCELLED);
    /* The token was triggered before the call, which changed nothing. */
    assert_fails(mnn_session_run(session), MNN_ERROR_BAD_STATE);
    resize_to(session, good);
    assert_classifies(session, 25);
    assert_ok(mnn_cancel_destroy(&cancel));
    assert_ok(mnn_session_destroy(&session));
}

static mnn_statistics_t memory_of(mnn_session_t* session) {
    const mnn_statistics_t memory = statistics_of(session);
    return memory;
}

/* The shapes of the plan in use need no resize, also after one that failed; inputs and plan are unchanged. */
static void the_shapes_of_before_are_ready_to_run(void** state) {
    (void)state;
    float pixels[PIXELS], kept[PIXELS], wanted[CLASSES], got[CLASSES];
    bool needed = true;
    mnn_session_t* session = open_session(net);
    mnn_tensor_t* input = first_input(session);
    fill_pixels(pixels, PIXELS, 26);
    classify(session, pixels, 1, wanted);
    /* Without a resize in between the results stay, too. */
    assert_ok(mnn_session_resize_input(session, input, bad, 4));
    assert_ok(mnn_session_resize_input(session, input, good, 4));
    assert_ok(mnn_tensor_read(first_output(session), got, sizeof got, MNN_FORMAT_NCHW));
    assert_memory_equal(got, wanted, sizeof got);
    for (int round = 0; round < 3; ++round) {
        assert_ok(mnn_session_resize_input(session, input, bad, 4));
        assert_true(mnn_session_resize(session) != MNN_OK);
        assert_ok(mnn_session_resize_input(session, input, good, 4));
        assert_ok(mnn_session_needs_resize(session, &needed));
        assert_false(needed);
        assert_ok(mnn_tensor_read(input, kept, sizeof kept, MNN_FORMAT_NCHW));
        assert_memory_equal(kept, pixels, sizeof kept);
        assert_fails(mnn_tensor_read(first_output(session), got, sizeof got, MNN_FORMAT_NCHW),
                     MNN_ERROR_BAD_STATE); /* the resize may have used its memory */
        assert_ok(mnn_session_run(session));
        assert_ok(mnn_tensor_read(first_output(session), got, sizeof got, MNN_FORMAT_NCHW));
        assert_memory_equal(got, wanted, sizeof got);
    }
    assert_ok(mnn_session_destroy(&session));
}

static void kept_plans(void** state) {
    (void)state;
    const int32_t refused[] = {-1, 65, INT32_MIN, INT32_MAX};
    mnn_schedule_config_t config = default_config();
    for (size_t i = 0; i < 4; ++i) {
        config.plan_cache = refused[i];
        assert_refused(&config, MNN_ERROR_INVALID_VALUE);
    }
    for (int32_t plans = 0; plans <= 64; plans = plans ? 4 * plans : 1) {
        config.plan_cache = plans;
        mnn_session_t* session = NULL;
        assert_ok(mnn_session_create(net, &config, &session));
        mnn_statistics_t large = {0};
        for (int32_t round = 0; round < 9; ++round) {
            const int32_t dims[] = {1 + 3 * (round % 3), 1, 8, 8};
            resize_to(session, dims);
            float pixels[7 * PIXELS], one[7 * CLASSES], fresh[7 * CLASSES];
            fill_pixels(pixels, (size_t)dims[0] * PIXELS, 30 + (uint32_t)round);
            classify(session, pixels, (size_t)dims[0], one);
            mnn_session_t* other = batch_session(dims[0]);
            classify(other, pixels, (size_t)dims[0], fresh);
            assert_memory_equal(one, fresh, (size_t)dims[0] * CLASSES * sizeof(float));
            assert_ok(mnn_session_destroy(&other));
            /* There is one arena, of the size of the largest plan. */
            if (round == 2) large = memory_of(session);
            if (round > 2) assert_int_equal(memory_of(session).arena_bytes, large.arena_bytes);
        }
        assert_ok(mnn_session_destroy(&session));
    }
}

static void trim_gives_memory_back(void** state) {
    (void)state;
    assert_fails(mnn_session_trim(NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_session_trim((mnn_session_t*)net), MNN_ERROR_BAD_HANDLE);
    const int32_t many[] = {50, 1, 8, 8};
    mnn_session_t* session = open_session(net);
    const mnn_statistics_t small = memory_of(session);
    resize_to(session, many);
    resize_to(session, good);
    const mnn_statistics_t grown = memory_of(session);
    assert_true(grown.arena_bytes > small.arena_bytes && grown.memory_bytes > small.memory_bytes);
    float pixels[PIXELS], wanted[CLASSES], got[CLASSES];
    fill_pixels(pixels, PIXELS, 27);
    classify(session, pixels, 1, wanted);
    /* A mapped tensor keeps its address. */
    void* mapped = NULL;
    assert_ok(mnn_tensor_map(first_input(session), MNN_MAP_READ, &mapped));
    assert_ok(mnn_session_trim(session));
    assert_memory_equal(mapped, pixels, sizeof pixels);
    assert_ok(mnn_tensor_unmap(first_input(session)));
    for (int i = 0; i < 2; ++i) {
        assert_ok(mnn_session_trim(session));
        const mnn_statistics_t trimmed = memory_of(session);
        assert_int_equal(trimmed.arena_bytes, small.arena_bytes);
        assert_int_equal(trimmed.weight_bytes, small.weight_bytes);
        assert_true(trimmed.memory_bytes <= small.memory_bytes);
        assert_true(trimmed.peak_memory_bytes <= grown.peak_memory_bytes);
        assert_ok(mnn_tensor_read(first_output(session), got, sizeof got, MNN_FORMAT_NCHW));
        assert_memory_equal(got, wanted, sizeof got);
        assert_ok(mnn_session_run(session));
        assert_ok(mnn_tensor_read(first_output(session), got, sizeof got, MNN_FORMAT_NCHW));
        assert_memory_equal(got, wanted, sizeof got);
    }
    resize_to(session, many);
    resize_to(session, good);
    assert_classifies(session, 28);
    assert_ok(mnn_session_destroy(&session));
    /* The same for a session without a plan. */
    mnn_schedule_config_t config = default_config();
    config.defer_planning = 1;
    assert_ok(mnn_session_create(net, &config, &session));
    assert_ok(mnn_session_trim(session));
    resize_to(session, good);
    assert_classifies(session, 29);
    assert_ok(mnn_session_destroy(&session));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deferred_session_waits_for_its_resize),
        cmocka_unit_test(unusable_declared_shapes_do_not_keep_a_model_from_opening),
        cmocka_unit_test(a_run_repeats_why_the_resize_failed),
        cmocka_unit_test(a_cancelled_resize_is_a_failed_one),
        cmocka_unit_test(the_shapes_of_before_are_ready_to_run),
        cmocka_unit_test(kept_plans),
        cmocka_unit_test(trim_gives_memory_back),
    };
    return cmocka_run_group_tests_name("planning", tests, open_net, close_net);
}
