/* Callbacks on a GPU that runs one operator after another (MNN_GPU_RECORD_OP): they see the values of an operator, skip
 * it, and cancel between operators. The test is skipped (exit code 77) where there is no device. */
#include <math.h>

#include "digits_net.h"

enum { SKIPPED = 77, MAX_TENSORS = 64 };

static mnn_session_t* session_on(int32_t forward_type, int32_t gpu_mode, int32_t precision) {
    mnn_schedule_config_t config = default_config();
    config.forward_type = forward_type;
    config.gpu_mode = gpu_mode;
    config.precision = precision;
    mnn_session_t* session = NULL;
    assert_ok(mnn_session_create(net, &config, &session));
    float pixels[PIXELS];
    fill_pixels(pixels, PIXELS, 3);
    assert_ok(mnn_tensor_write(first_input(session), pixels, sizeof pixels, MNN_FORMAT_NCHW));
    return session;
}

static void check_scores(mnn_session_t* session) {
    float wanted[CLASSES], got[CLASSES];
    reference_scores(3, wanted);
    assert_ok(mnn_tensor_read(first_output(session), got, sizeof got, MNN_FORMAT_NCHW));
    assert_close(got, wanted, CLASSES, 1e-4f);
}

/* The tensors that `after` saw in one run. */
struct seen {
    size_t count, calls;
    struct {
        char name[64];
        float* values;
        size_t size;
        bool on_device;
    } tensors[MAX_TENSORS];
};

static int32_t keep_values(void* user_data, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors, size_t count) {
    struct seen* seen = user_data;
    (void)op;
    ++seen->calls;
    for (size_t i = 0; i < count; ++i) {
        const char* name = NULL;
        size_t bytes = 0;
        assert_ok(mnn_tensor_name(tensors[i], &name));
        assert_ok(mnn_tensor_byte_size(tensors[i], MNN_FORMAT_NCHW, &bytes));
        assert_true(seen->count < MAX_TENSORS);
        snprintf(seen->tensors[seen->count].name, 64, "%s", name);
        seen->tensors[seen->count].size = bytes / sizeof(float);
        seen->tensors[seen->count].values = malloc(bytes + 1);
        seen->tensors[seen->count].on_device = tensor_info_of(tensors[i]).forward_type == MNN_FORWARD_VULKAN;
        assert_ok(mnn_tensor_read(tensors[i], seen->tensors[seen->count++].values, bytes, MNN_FORMAT_NCHW));
    }
    return MNN_OP_RUN;
}

static void forget(struct seen* seen) {
    for (size_t i = 0; i < seen->count; ++i) free(seen->tensors[i].values);
    memset(seen, 0, sizeof *seen);
}

/* Compares the values of tensors that both runs have. Returns how many of them lay on the device in the first run. */
static size_t compare(const struct seen* a, const struct seen* b, float tolerance) {
    size_t common = 0;
    for (size_t i = 0; i < a->count; ++i)
        for (size_t k = 0; k < b->count; ++k) {
            if (strcmp(a->tensors[i].name, b->tensors[k].name) != 0) continue;
            assert_int_equal(a->tensors[i].size, b->tensors[k].size);
            assert_close(a->tensors[i].values, b->tensors[k].values, a->tensors[i].size, tolerance);
            common += a->tensors[i].on_device;
        }
    return common;
}

static void after_reads_values(void** state) {
    (void)state;
    const struct {
        int32_t precision;
        float tolerance;
    } cases[] = {{MNN_PRECISION_NORMAL, 1e-4f}, {MNN_PRECISION_LOW, 2e-2f}};
    static struct seen cpu, gpu;
    mnn_session_t* session = session_on(MNN_FORWARD_CPU, 0, 0);
    assert_ok(run_watched(session, NULL, keep_values, &cpu));
    assert_ok(mnn_session_destroy(&session));
    for (size_t i = 0; i < 2; ++i) {
        session = session_on(MNN_FORWARD_VULKAN, MNN_GPU_RECORD_OP, cases[i].precision);
        for (int round = 0; round < 2; ++round) {
            assert_ok(run_watched(session, NULL, keep_values, &gpu));
            assert_true(compare(&gpu, &cpu, cases[i].tolerance) >= 2);
            forget(&gpu);
        }
        assert_ok(mnn_session_destroy(&session));
    }
    forget(&cpu);
}

static int32_t read_inputs(void* user_data, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors, size_t count) {
    size_t* read = user_data;
    (void)op;
    for (size_t i = 0; i < count; ++i) {
        char text[4096];
        size_t needed = 0;
        assert_ok(mnn_tensor_print(tensors[i], 1, text, sizeof text, &needed));
        ++*read;
    }
    return MNN_OP_RUN;
}

static void before_reads_inputs(void** state) {
    (void)state;
    size_t read = 0;
    mnn_session_t* session = session_on(MNN_FORWARD_VULKAN, MNN_GPU_RECORD_OP, 0);
    assert_ok(run_watched(session, read_inputs, NULL, &read));
    assert_true(read > 2);
    check_scores(session);
    assert_ok(mnn_session_destroy(&session));
}

struct steps {
    size_t before, after; /* numbers of calls, copies included */
    size_t at;            /* the call that does something */
    int32_t answer;
    mnn_cancel_t* cancel;
};

static int32_t count_before(void* user_data, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors,
                            size_t count) {
    struct steps* steps = user_data;
    (void)op, (void)tensors, (void)count;
    if (steps->before++ != steps->at) return MNN_OP_RUN;
    if (steps->cancel) assert_ok(mnn_cancel_trigger(steps->cancel));
    return steps->answer;
}

static int32_t count_after(void* user_data, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors, size_t count) {
    struct steps* steps = user_data;
    (void)op, (void)tensors, (void)count;
    ++steps->after;
    return MNN_OP_RUN;
}

static void skipping(void** state) {
    (void)state;
    mnn_session_t* session = session_on(MNN_FORWARD_VULKAN, MNN_GPU_RECORD_OP, 0);
    float wanted[CLASSES], got[CLASSES];
    struct steps all = {.at = SIZE_MAX};
    assert_ok(run_watched(session, count_before, count_after, &all));
    assert_true(all.before > 3);
    for (size_t i = 0; i < all.before; ++i) {
        struct steps steps = {.at = i, .answer = MNN_OP_SKIP};
        assert_ok(run_watched(session, count_before, count_after, &steps));
        assert_int_equal(steps.before, all.before);
        assert_int_equal(steps.after, all.before);
    }
    assert_ok(mnn_session_run(session));
    check_scores(session);
    /* Another image has no effect when the copy that brings it to the device is skipped. */
    float pixels[PIXELS];
    fill_pixels(pixels, PIXELS, 8);
    reference_scores(8, wanted);
    assert_ok(mnn_tensor_write(first_input(session), pixels, sizeof pixels, MNN_FORMAT_NCHW));
    struct steps upload = {.at = 0, .answer = MNN_OP_SKIP};
    assert_ok(run_watched(session, count_before, count_after, &upload));
    assert_ok(mnn_tensor_read(first_output(session), got, sizeof got, MNN_FORMAT_NCHW));
    bool close = true;
    for (size_t i = 0; i < CLASSES; ++i) close &= fabsf(got[i] - wanted[i]) < 1e-4f;
    assert_false(close);
    assert_ok(run_watched(session, count_before, count_after, &all));
    assert_ok(mnn_tensor_read(first_output(session), got, sizeof got, MNN_FORMAT_NCHW));
    assert_close(got, wanted, CLASSES, 1e-4f);
    assert_ok(mnn_session_destroy(&session));
}

/* In both ways of recording nothing runs after the `before` that cancels. */
static void cancelling(void** state) {
    (void)state;
    mnn_cancel_t* cancel = NULL;
    assert_ok(mnn_cancel_create(&cancel));
    const int32_t modes[] = {MNN_GPU_RECORD_OP, MNN_GPU_RECORD_BATCH};
    for (size_t mode = 0; mode < 2; ++mode) {
        mnn_session_t* session = session_on(MNN_FORWARD_VULKAN, modes[mode], 0);
        mnn_run_options_t options;
        assert_ok(mnn_run_options_init(&options, sizeof options));
        struct steps all = {.at = SIZE_MAX};
        options.cancel = cancel;
        options.before = count_before;
        options.after = count_after;
        for (int32_t times = 0; times < 2; ++times) {
            options.device_times = times;
            options.user_data = &all;
            all = (struct steps){.at = SIZE_MAX};
            assert_ok(mnn_session_run_with_options(session, &options));
            check_scores(session);
            for (size_t i = 0; i < all.before; ++i) {
                struct steps steps = {.at = i, .cancel = cancel};
                options.user_data = &steps;
                assert_fails(mnn_session_run_with_options(session, &options), MNN_ERROR_CANCELLED);
                assert_int_equal(steps.before, i + 1);
                assert_int_equal(steps.after, modes[mode] == MNN_GPU_RECORD_OP ? i : 0);
                assert_ok(mnn_cancel_reset(cancel));
            }
            assert_ok(mnn_session_run(session));
            check_scores(session);
        }
        assert_ok(mnn_session_destroy(&session));
    }
    assert_ok(mnn_cancel_destroy(&cancel));
}

static int32_t check_index(void* user_data, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors, size_t count) {
    size_t* found = user_data;
    const char* name = NULL;
    (void)tensors, (void)count;
    if (strcmp(op->type_name, "Copy") == 0) {
        assert_int_equal(op->op_index, -1);
        return MNN_OP_RUN;
    }
    assert_true(op->op_index >= 0);
    assert_ok(mnn_interpreter_op_name(net, (size_t)op->op_index, &name));
    assert_string_equal(op->name, name);
    ++*found;
    return MNN_OP_RUN;
}

static void operators_have_their_index(void** state) {
    (void)state;
    const int32_t types[] = {MNN_FORWARD_CPU, MNN_FORWARD_VULKAN};
    for (size_t i = 0; i < 2; ++i) {
        size_t found = 0, count = 0;
        mnn_session_t* session = session_on(types[i], 0, 0);
        assert_ok(run_watched(session, check_index, NULL, &found));
        assert_ok(mnn_session_op_count(session, &count));
        assert_int_equal(found, count);
        for (size_t k = 0; k < count; ++k) {
            mnn_op_info_t info = {.struct_size = sizeof info};
            const char* name = NULL;
            assert_ok(mnn_session_op_info(session, k, &info));
            assert_ok(mnn_interpreter_op_name(net, (size_t)info.op_index, &name));
            assert_string_equal(info.name, name);
            /* A program that was compiled before there was this field. */
            info = (mnn_op_info_t){.struct_size = offsetof(mnn_op_info_t, op_index), .op_index = 77};
            assert_ok(mnn_session_op_info(session, k, &info));
            assert_int_equal(info.op_index, 77);
        }
        assert_ok(mnn_session_destroy(&session));
    }
}

int main(void) {
    mnn_session_t* probe = NULL;
    mnn_schedule_config_t config;
    if (mnn_schedule_config_init(&config, sizeof config) != MNN_OK) return 1;
    config.forward_type = MNN_FORWARD_VULKAN;
    if (mnn_interpreter_create_from_file(MNN_C_DIGITS_MODEL, NULL, &net) != MNN_OK) return 1;
    const mnn_status found = mnn_session_create(net, &config, &probe);
    if (found == MNN_ERROR_BACKEND_MISSING) {
        printf("skipped: %s\n", mnn_last_error());
        return mnn_interpreter_destroy(&net) == MNN_OK ? SKIPPED : 1;
    }
    if (found != MNN_OK || mnn_session_destroy(&probe) != MNN_OK) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(after_reads_values), cmocka_unit_test(before_reads_inputs),        cmocka_unit_test(skipping),
        cmocka_unit_test(cancelling),         cmocka_unit_test(operators_have_their_index),
    };
    const int failed = cmocka_run_group_tests_name("callbacks_vulkan", tests, NULL, NULL);
    return failed || mnn_interpreter_destroy(&net) != MNN_OK;
}
