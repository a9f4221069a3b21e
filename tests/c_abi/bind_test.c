/* mnn_session_bind_input() and mnn_session_bind_output(): runs use the memory in place, in every layout, also where
 * outputs share values, and from several threads. */
#include <pthread.h>

#include "bound.h"
#include "guarded.h"

/* ---- What is bound is used as it is ---------------------------------------------------------------------------- */

static void expect_at(mnn_tensor_t* tensor, const void* memory) {
    void* data = NULL;
    assert_ok(mnn_tensor_map(tensor, MNN_MAP_READ, &data));
    assert_ptr_equal(data, memory);
    assert_ok(mnn_tensor_unmap(tensor));
}

/* z = condition ? x : y, of 2x2 elements: all four tensors are stored in their caller's layout. */
static void nothing_is_copied(void** state) {
    (void)state;
    mnn_interpreter_t* where = open_case("onnx__where_example");
    mnn_session_t* run = NULL;
    mnn_tensor_t *condition = NULL, *x = NULL, *y = NULL, *z = NULL;
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
    /* At an address that is not aligned for an element, there is one copy. */
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
    /* A run reads the present contents of the memory. */
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
    /* Releasing a tensor that is not bound is no error. */
    assert_ok(bind_pixels(NULL));
    assert_ok(bind_scores(NULL, 0));
}

/* ---- Layouts, alignments, odd sizes ----------------------------------------------------------------------------- */

enum { MAX_OUTPUTS = 40 };

static void every_layout(void** state) {
    (void)state;
    /* Two inputs of 2x3x5x6; outputs with 7 channels, of all ranks, of ints and floats. */
    static const char* kModel = MNN_C_CASES_FOLDER "/layout__arithmetic/model.mnn";
    mnn_interpreter_t* layouts = NULL;
    mnn_session_t* run = NULL;
    assert_ok(mnn_interpreter_create_from_file(kModel, NULL, &layouts));
    assert_ok(mnn_session_create(layouts, NULL, &run));
    mnn_tensor_t *in[2], *out[MAX_OUTPUTS];
    float values[2][180];
    size_t count = 0;
    assert_ok(mnn_session_output_count(run, &count));
    assert_true(count > 20 && count <= MAX_OUTPUTS);
    for (size_t i = 0; i < 2; ++i) {
        fill_pixels(values[i], 180, 40 + (uint32_t)i);
        assert_ok(mnn_session_input_at(run, i, &in[i]));
        assert_ok(mnn_tensor_write(in[i], values[i], sizeof values[i], MNN_FORMAT_NCHW));
    }
    assert_ok(mnn_session_run(run));
    unsigned char* reference[3][MAX_OUTPUTS];
    size_t sizes[3][MAX_OUTPUTS];
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
            guarded_t taken[MAX_OUTPUTS];
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
                assert_ok(mnn_session_bind_output(run, out[i], taken[i].data + (shift & 1), sizes[format][i], format));
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

/* Outputs that are one value in two shapes, an input, and a reshape of an input. */
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
    assert_fails(mnn_session_bind_output(run, out[2], pixels, sizeof pixels, MNN_FORMAT_NCHW), MNN_ERROR_INVALID_VALUE);
    assert_ok(mnn_session_bind_output(run, out[1], pooled, sizeof pooled, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_bind_output(run, out[2], image, sizeof image, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(run));
    assert_memory_equal(pooled, alone, sizeof alone);
    assert_memory_equal(image, pixels, sizeof pixels);
    assert_ok(mnn_tensor_read(out[0], scores, sizeof scores, MNN_FORMAT_NCHW));
    assert_memory_equal(scores, wanted, sizeof wanted);
    assert_ok(mnn_session_destroy(&run));
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

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
    for (int i = 0; i < 2; ++i) assert_int_equal(pthread_create(&threads[i], NULL, run_bound, &workers[i]), 0);
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
        cmocka_unit_test(two_sessions_at_once),
    };
    return cmocka_run_group_tests(tests, open_net, close_net);
}
