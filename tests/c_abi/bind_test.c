/* mnn_session_bind_input() and mnn_session_bind_output(): a session over memory of its caller. */
#include "digits_net.h"
#include "guarded.h"

#include <pthread.h>

static mnn_session_t* session;
static mnn_tensor_t *input, *output;
static float pixels[PIXELS], wanted[CLASSES];
static const int32_t kOne[] = {1, 1, 8, 8}, kThree[] = {3, 1, 8, 8};

static int open_one(void** state) {
    (void)state;
    fill_pixels(pixels, PIXELS, 21);
    reference_scores(21, wanted);
    session = open_session(net);
    input = first_input(session);
    output = first_output(session);
    return 0;
}
static int close_one(void** state) {
    (void)state;
    return mnn_session_destroy(&session) != MNN_OK;
}

static mnn_status bind_pixels(const void* data) {
    return mnn_session_bind_input(session, input, data, data ? sizeof pixels : 0, MNN_FORMAT_NCHW);
}
static mnn_status bind_scores(void* data, size_t bytes) {
    return mnn_session_bind_output(session, output, data, bytes, MNN_FORMAT_NCHW);
}

/* ---- What is bound is used as it is ---------------------------------------------------------------------------- */

static void expect_at(mnn_tensor_t* tensor, const void* memory) {
    void* data = NULL;
    assert_ok(mnn_tensor_map(tensor, MNN_MAP_READ, &data));
    assert_ptr_equal(data, memory);
    assert_ok(mnn_tensor_unmap(tensor));
}

/* z = condition ? x : y, of 2x2 elements: all four tensors are stored as their caller has them. */
static void nothing_is_copied(void** state) {
    (void)state;
    mnn_interpreter_t* where = NULL;
    mnn_session_t* run = NULL;
    mnn_tensor_t *condition = NULL, *x = NULL, *y = NULL, *z = NULL;
    assert_ok(
        mnn_interpreter_create_from_file(MNN_C_CASES_FOLDER "/onnx__where_example/model.mnn", NULL, &where));
    assert_ok(mnn_session_create(where, NULL, &run));
    assert_ok(mnn_session_input(run, "condition", &condition));
    assert_ok(mnn_session_input(run, "x", &x));
    assert_ok(mnn_session_input(run, "y", &y));
    assert_ok(mnn_session_output(run, "z", &z));
    const int32_t flags[] = {1, 0, 0, 1};
    const float values[] = {1, 2, 3, 4, 5}; /* x and y share some */
    float results[2][4];
    assert_ok(mnn_session_bind_input(run, condition, flags, 16, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_bind_input(run, x, values, 16, MNN_FORMAT_NHWC));
    assert_ok(mnn_session_bind_input(run, y, values + 1, 16, MNN_FORMAT_NC4HW4));
    for (int i = 0; i < 2; ++i) {
        assert_ok(mnn_session_bind_output(run, z, results[i], 16, MNN_FORMAT_NCHW));
        assert_ok(mnn_session_run(run));
        expect_at(condition, flags);
        expect_at(x, values);
        expect_at(y, values + 1);
        expect_at(z, results[i]);
        assert_true(results[i][0] == 1 && results[i][1] == 3 && results[i][2] == 4 && results[i][3] == 4);
    }
    /* Not at the address of an element: one copy. */
    unsigned char odd[17];
    memcpy(odd + 1, values + 1, 16);
    assert_ok(mnn_session_bind_input(run, x, odd + 1, 16, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(run));
    assert_true(results[1][0] == 2 && results[1][1] == 3 && results[1][2] == 4 && results[1][3] == 5);
    assert_ok(mnn_session_destroy(&run));
    assert_ok(mnn_interpreter_destroy(&where));
}

static void runs_use_the_memory(void** state) {
    (void)state;
    float scores[CLASSES + 1];
    void* data = NULL;
    scores[CLASSES] = 77;
    assert_ok(bind_pixels(pixels));
    assert_ok(bind_scores(scores, sizeof scores));
    assert_ok(mnn_session_run(session));
    assert_memory_equal(scores, wanted, sizeof wanted);
    assert_true(scores[CLASSES] == 77);
    assert_ok(mnn_tensor_map(input, MNN_MAP_READ, &data));
    assert_ptr_equal(data, pixels);
    assert_ok(mnn_tensor_unmap(input));
    float got[CLASSES], others[CLASSES];
    scores[3] = -1;
    assert_ok(mnn_tensor_read(output, got, sizeof got, MNN_FORMAT_NCHW));
    assert_true(got[3] == -1);
    /* A run reads what the memory holds then. */
    fill_pixels(pixels, PIXELS, 22);
    reference_scores(22, others);
    assert_ok(mnn_session_run(session));
    assert_memory_equal(scores, others, sizeof others);
    fill_pixels(pixels, PIXELS, 21);
}

static void other_memory_of_the_same_size(void** state) {
    (void)state;
    float images[3][PIXELS], scores[3][CLASSES], reference[CLASSES];
    for (uint32_t i = 0; i < 3; ++i) {
        fill_pixels(images[i], PIXELS, 30 + i);
        assert_ok(bind_pixels(images[i]));
        assert_ok(bind_scores(scores[i], sizeof scores[i]));
        assert_ok(mnn_session_run(session));
    }
    for (uint32_t i = 0; i < 3; ++i) {
        reference_scores(30 + i, reference);
        assert_memory_equal(scores[i], reference, sizeof reference);
    }
}

static void released(void** state) {
    (void)state;
    float scores[CLASSES], got[CLASSES];
    void* data = NULL;
    assert_ok(bind_pixels(pixels));
    assert_ok(bind_scores(scores, sizeof scores));
    assert_ok(mnn_session_run(session));
    assert_ok(bind_scores(NULL, 0));
    assert_fails(mnn_tensor_read(output, got, sizeof got, MNN_FORMAT_NCHW), MNN_ERROR_BAD_STATE);
    memset(scores, 0, sizeof scores);
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_tensor_read(output, got, sizeof got, MNN_FORMAT_NCHW));
    assert_memory_equal(got, wanted, sizeof wanted);
    assert_true(scores[0] == 0 && scores[CLASSES - 1] == 0);
    assert_ok(bind_pixels(NULL));
    assert_ok(mnn_tensor_map(input, MNN_MAP_WRITE, &data));
    assert_ptr_not_equal(data, pixels);
    memcpy(data, pixels, sizeof pixels);
    assert_ok(mnn_tensor_unmap(input));
    classify(session, pixels, 1, got);
    assert_memory_equal(got, wanted, sizeof wanted);
    /* Releasing what is not bound is no error. */
    assert_ok(bind_pixels(NULL));
    assert_ok(bind_scores(NULL, 0));
}

/* ---- Layouts, alignments, odd sizes ----------------------------------------------------------------------------- */

enum { MOST_OUTPUTS = 40 };

static void every_layout(void** state) {
    (void)state;
    /* Two inputs of 2x3x5x6; outputs with 7 channels, of all ranks, of ints and floats. */
    static const char* kModel = MNN_C_CASES_FOLDER "/layout__arithmetic/model.mnn";
    mnn_interpreter_t* layouts = NULL;
    mnn_session_t* run = NULL;
    assert_ok(mnn_interpreter_create_from_file(kModel, NULL, &layouts));
    assert_ok(mnn_session_create(layouts, NULL, &run));
    mnn_tensor_t *in[2], *out[MOST_OUTPUTS];
    float values[2][180];
    size_t count = 0;
    assert_ok(mnn_session_output_count(run, &count));
    assert_true(count > 20 && count <= MOST_OUTPUTS);
    for (size_t i = 0; i < 2; ++i) {
        fill_pixels(values[i], 180, 40 + (uint32_t)i);
        assert_ok(mnn_session_input_at(run, i, &in[i]));
        assert_ok(mnn_tensor_write(in[i], values[i], sizeof values[i], MNN_FORMAT_NCHW));
    }
    assert_ok(mnn_session_run(run));
    unsigned char* reference[3][MOST_OUTPUTS];
    size_t sizes[3][MOST_OUTPUTS];
    guarded_t given[3][2];
    for (int32_t format = 0; format < 3; ++format) {
        for (size_t i = 0; i < count; ++i) {
            assert_ok(mnn_session_output_at(run, i, &out[i]));
            assert_ok(mnn_tensor_byte_size(out[i], format, &sizes[format][i]));
            reference[format][i] = malloc(sizes[format][i]);
            assert_ok(mnn_tensor_read(out[i], reference[format][i], sizes[format][i], format));
        }
    }
    for (int32_t format = 0; format < 3; ++format)
        for (size_t shift = 0; shift < 6; shift += shift == 1 ? 3 : 1) {
            guarded_t taken[MOST_OUTPUTS];
            for (size_t i = 0; i < 2; ++i) {
                size_t bytes = 0;
                assert_ok(mnn_session_bind_input(run, in[i], NULL, 0, format));
                assert_ok(mnn_tensor_write(in[i], values[i], sizeof values[i], MNN_FORMAT_NCHW));
                assert_ok(mnn_tensor_byte_size(in[i], format, &bytes));
                given[format][i] = guarded_take(bytes + shift, GUARD_BEHIND);
                assert_ok(mnn_tensor_read(in[i], given[format][i].data, bytes, format));
                guarded_seal(&given[format][i]);
                assert_ok(mnn_session_bind_input(run, in[i], given[format][i].data, bytes, format));
                float back[180];
                assert_ok(mnn_tensor_read(in[i], back, sizeof back, MNN_FORMAT_NCHW));
                assert_memory_equal(back, values[i], sizeof back);
            }
            for (size_t i = 0; i < count; ++i) {
                taken[i] = guarded_take(sizes[format][i] + shift, shift % 2 ? GUARD_BEHIND : GUARD_BEFORE);
                memset(taken[i].data, 0xa5, sizes[format][i] + shift);
                assert_ok(mnn_session_bind_output(run, out[i], taken[i].data + (shift & 1), sizes[format][i],
                                                  format));
            }
            assert_ok(mnn_session_run(run));
            for (size_t i = 0; i < count; ++i) {
                const unsigned char* at = taken[i].data + (shift & 1);
                assert_memory_equal(at, reference[format][i], sizes[format][i]);
                if (shift & 1) assert_int_equal(taken[i].data[0], 0xa5);
                /* Read in another layout, and mapped. */
                const int32_t other = (format + 1) % 3;
                unsigned char* read = malloc(sizes[other][i]);
                void* mapped = NULL;
                assert_ok(mnn_tensor_read(out[i], read, sizes[other][i], other));
                assert_memory_equal(read, reference[other][i], sizes[other][i]);
                assert_ok(mnn_tensor_map(out[i], MNN_MAP_READ, &mapped));
                assert_memory_equal(mapped, reference[MNN_FORMAT_NCHW][i], sizes[MNN_FORMAT_NCHW][i]);
                assert_ok(mnn_tensor_unmap(out[i]));
                free(read);
            }
            for (size_t i = 0; i < count; ++i) {
                assert_ok(mnn_session_bind_output(run, out[i], NULL, 0, format));
                guarded_free(&taken[i]);
            }
            for (size_t i = 0; i < 2; ++i) {
                assert_ok(mnn_session_bind_input(run, in[i], NULL, 0, format));
                guarded_free(&given[format][i]);
            }
        }
    for (int32_t format = 0; format < 3; ++format)
        for (size_t i = 0; i < count; ++i) free(reference[format][i]);
    assert_ok(mnn_session_destroy(&run));
    assert_ok(mnn_interpreter_destroy(&layouts));
}

/* Outputs that are one value in two shapes, an input, and what a reshape makes of an input. */
static void outputs_that_share_memory(void** state) {
    (void)state;
    mnn_schedule_config_t config = default_config();
    const char* names[] = {"m", "image"};
    config.save_tensors = names;
    config.save_tensor_count = 2;
    mnn_session_t* run = NULL;
    mnn_tensor_t *in = NULL, *out[3];
    assert_ok(mnn_session_create(net, &config, &run));
    assert_ok(mnn_session_input(run, NULL, &in));
    float scores[CLASSES], pooled[512], alone[512], image[PIXELS];
    for (size_t i = 0; i < 3; ++i) assert_ok(mnn_session_output_at(run, i, &out[i]));
    classify(run, pixels, 1, scores);
    assert_ok(mnn_tensor_read(out[1], alone, sizeof alone, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_bind_input(run, in, pixels, sizeof pixels, MNN_FORMAT_NCHW));
    assert_fails(mnn_session_bind_output(run, out[2], pixels, sizeof pixels, MNN_FORMAT_NCHW),
                 MNN_ERROR_INVALID_VALUE);
    assert_ok(mnn_session_bind_output(run, out[1], pooled, sizeof pooled, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_bind_output(run, out[2], image, sizeof image, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(run));
    assert_memory_equal(pooled, alone, sizeof alone);
    assert_memory_equal(image, pixels, sizeof pixels);
    assert_ok(mnn_tensor_read(out[0], scores, sizeof scores, MNN_FORMAT_NCHW));
    assert_memory_equal(scores, wanted, sizeof wanted);
    assert_ok(mnn_session_destroy(&run));
}

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
    /* Set back before it took place, it changed nothing. */
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
    assert_close(got, wanted, CLASSES, 1e-5f); /* of a batch, whose convolutions may be computed otherwise */
    assert_ok(bind_scores(scores, sizeof scores));
    assert_ok(mnn_session_run(session));
    assert_memory_equal(scores, got, sizeof got);
    /* Bound memory that a resize left behind is free for others. */
    assert_ok(mnn_session_resize_input(session, input, kOne, 4));
    assert_ok(mnn_session_resize(session));
    assert_ok(bind_pixels(scores + CLASSES));
    assert_ok(bind_pixels(pixels));
    assert_ok(bind_scores(images, sizeof wanted));
    assert_ok(mnn_session_run(session));
    assert_memory_equal(images, wanted, sizeof wanted);
}

/* A resize that fails leaves the bindings as they were. */
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

/* Memory goes when its owner wants it to, also while no resize succeeds. */
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
    mnn_interpreter_t* select = NULL;
    mnn_session_t* run = NULL;
    mnn_tensor_t *in = NULL, *places = NULL;
    assert_ok(mnn_interpreter_create_from_file(MNN_C_CASES_FOLDER "/onnx__nonzero_example/model.mnn", NULL,
                                               &select));
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
    /* A fourth does not fit: nothing is written there, and everything can be read. */
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
    /* No element at all. */
    memset(flags, 0, 15 * sizeof(int32_t));
    assert_ok(mnn_session_run(run));
    assert_ok(mnn_tensor_byte_size(places, MNN_FORMAT_NCHW, &bytes));
    assert_int_equal(bytes, 0);
    assert_ok(mnn_session_destroy(&run));
    assert_ok(mnn_interpreter_destroy(&select));
    guarded_free(&values);
    guarded_free(&found);
}

/* ---- Misuse ------------------------------------------------------------------------------------------------------- */

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
    assert_fails(mnn_session_bind_input(session, first_input(other), pixels, sizeof pixels, 0),
                 MNN_ERROR_BAD_HANDLE);
    assert_fails(mnn_session_bind_output(session, first_output(other), scores, sizeof scores, 0),
                 MNN_ERROR_BAD_HANDLE);
    assert_fails(mnn_session_bind_input(session, (mnn_tensor_t*)(void*)net, pixels, sizeof pixels, 0),
                 MNN_ERROR_BAD_HANDLE);
    assert_fails(mnn_session_bind_input(session, input, pixels, sizeof pixels, 3), MNN_ERROR_INVALID_VALUE);
    assert_fails(mnn_session_bind_output(session, output, scores, sizeof scores, -1),
                 MNN_ERROR_INVALID_VALUE);
    assert_fails(mnn_session_bind_input(session, input, pixels, sizeof pixels - 1, 0), MNN_ERROR_INPUT_DATA);
    assert_fails(mnn_session_bind_input(session, input, pixels, sizeof pixels + 1, 0), MNN_ERROR_INPUT_DATA);
    assert_fails(mnn_session_bind_input(session, input, pixels, sizeof pixels, MNN_FORMAT_NC4HW4),
                 MNN_ERROR_INPUT_DATA);
    assert_fails(bind_scores(scores, sizeof scores - 1), MNN_ERROR_BUFFER_TOO_SMALL);
    assert_non_null(strstr(mnn_last_error(), "40 bytes"));
    assert_fails(bind_scores(scores, SIZE_MAX), MNN_ERROR_INVALID_VALUE);
    assert_fails(bind_pixels((void*)(UINTPTR_MAX - 15)), MNN_ERROR_INVALID_VALUE);
    assert_fails(bind_scores((void*)(UINTPTR_MAX - 15), sizeof scores), MNN_ERROR_INVALID_VALUE);

    /* Overlaps: by one byte, the whole, on either side. */
    assert_ok(bind_pixels(both));
    assert_fails(bind_scores(both + sizeof pixels - 1, sizeof scores), MNN_ERROR_INVALID_VALUE);
    assert_fails(bind_scores(both, sizeof both), MNN_ERROR_INVALID_VALUE);
    assert_ok(bind_scores(both + sizeof pixels, sizeof scores));
    assert_fails(bind_pixels(both + 1), MNN_ERROR_INVALID_VALUE);
    assert_fails(bind_pixels(both + sizeof scores), MNN_ERROR_INVALID_VALUE);
    /* The earlier bindings are still there. */
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

    /* An output has nothing to read between its binding and the run; another session never knew. */
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

/* ---- Threads ------------------------------------------------------------------------------------------------------ */

struct worker {
    mnn_session_t* session;
    float scores[CLASSES], image[PIXELS];
    int wrong;
};

static void* run_bound(void* data) {
    struct worker* worker = data;
    float reference[CLASSES];
    memcpy(reference, worker->scores, sizeof reference);
    mnn_tensor_t *in = NULL, *out = NULL;
    worker->wrong += mnn_session_input(worker->session, NULL, &in) != MNN_OK;
    worker->wrong += mnn_session_output(worker->session, NULL, &out) != MNN_OK;
    for (int i = 0; i < 50; ++i) {
        float image[PIXELS], scores[CLASSES];
        memcpy(image, worker->image, sizeof image);
        worker->wrong += mnn_session_bind_input(worker->session, in, image, sizeof image, 0) != MNN_OK;
        worker->wrong += mnn_session_bind_output(worker->session, out, scores, sizeof scores, 0) != MNN_OK;
        worker->wrong += mnn_session_run(worker->session) != MNN_OK;
        worker->wrong += memcmp(scores, reference, sizeof scores) != 0;
    }
    return NULL;
}

static void two_sessions_at_once(void** state) {
    (void)state;
    struct worker workers[2];
    pthread_t threads[2];
    mnn_schedule_config_t config = default_config();
    config.threads = 2;
    for (uint32_t i = 0; i < 2; ++i) {
        workers[i].wrong = 0;
        assert_ok(mnn_session_create(net, &config, &workers[i].session));
        fill_pixels(workers[i].image, PIXELS, 60 + i);
        reference_scores(60 + i, workers[i].scores);
    }
    for (int i = 0; i < 2; ++i)
        assert_int_equal(pthread_create(&threads[i], NULL, run_bound, &workers[i]), 0);
    for (int i = 0; i < 2; ++i) assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(workers[i].wrong, 0);
        assert_ok(mnn_session_destroy(&workers[i].session));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_copied),
        cmocka_unit_test_setup_teardown(runs_use_the_memory, open_one, close_one),
        cmocka_unit_test_setup_teardown(other_memory_of_the_same_size, open_one, close_one),
        cmocka_unit_test_setup_teardown(released, open_one, close_one),
        cmocka_unit_test(every_layout),
        cmocka_unit_test_setup_teardown(outputs_that_share_memory, open_one, close_one),
        cmocka_unit_test_setup_teardown(resized, open_one, close_one),
        cmocka_unit_test_setup_teardown(failed_resize, open_one, close_one),
        cmocka_unit_test_setup_teardown(released_without_a_plan, open_one, close_one),
        cmocka_unit_test(sized_by_contents),
        cmocka_unit_test_setup_teardown(refused, open_one, close_one),
        cmocka_unit_test(two_sessions_at_once),
    };
    return cmocka_run_group_tests(tests, open_net, close_net);
}
