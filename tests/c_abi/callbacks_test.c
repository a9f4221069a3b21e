/* mnn_session_run_with_options() with callbacks: order, tensors, skipping, stopping, misuse. */
#include "digits_net.h"

enum { MAX_OPERATORS = 64 };

typedef struct recorder {
    mnn_session_t* session;
    size_t before, after;          /* operators of the model, without copies */
    char names[MAX_OPERATORS][64]; /* of `before` */
    char last_types[MAX_OPERATORS][32];
    size_t readable;     /* outputs that could be read */
    float last[CLASSES]; /* the newest output of CLASSES floats */
    int32_t answer;      /* what `before` returns at operator answer_at */
    size_t answer_at;
    int32_t answer_after;
} recorder;

static int32_t on_before(void* user_data, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors, size_t count) {
    recorder* mine = user_data;
    assert_true(op->struct_size >= sizeof *op);
    for (size_t i = 0; i < count; ++i) {
        size_t rank = 0;
        assert_ok(mnn_tensor_shape(tensors[i], NULL, 0, &rank));
    }
    if (strcmp(op->type_name, "Copy") == 0) return MNN_OP_RUN;
    assert_true(mine->before < MAX_OPERATORS);
    snprintf(mine->names[mine->before], sizeof *mine->names, "%s", op->name);
    snprintf(mine->last_types[mine->before], sizeof *mine->last_types, "%s", op->type_name);
    return mine->before++ == mine->answer_at ? mine->answer : MNN_OP_RUN;
}

static int32_t on_after(void* user_data, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors, size_t count) {
    recorder* mine = user_data;
    for (size_t i = 0; i < count; ++i) {
        size_t bytes = 0;
        assert_ok(mnn_tensor_byte_size(tensors[i], MNN_FORMAT_NCHW, &bytes));
        float* values = malloc(bytes + 1);
        const mnn_status status = mnn_tensor_read(tensors[i], values, bytes, MNN_FORMAT_NCHW);
        if (status == MNN_OK) {
            ++mine->readable;
            if (bytes == sizeof mine->last) memcpy(mine->last, values, bytes);
        } else {
            assert_int_equal(status, MNN_ERROR_BAD_STATE); /* in the device's memory */
        }
        free(values);
    }
    if (strcmp(op->type_name, "Copy") != 0) ++mine->after;
    return mine->answer_after;
}

static mnn_session_t* session_of(int32_t forward_type, int32_t gpu_mode) {
    mnn_schedule_config_t config;
    assert_ok(mnn_schedule_config_init(&config, sizeof config));
    config.forward_type = forward_type;
    config.gpu_mode = gpu_mode;
    mnn_session_t* session = NULL;
    const mnn_status status = mnn_session_create(net, &config, &session);
    if (status == MNN_ERROR_BACKEND_MISSING && forward_type == MNN_FORWARD_VULKAN) return NULL;
    assert_int_equal(status, MNN_OK);
    mnn_tensor_t* input = NULL;
    float pixels[PIXELS];
    fill_pixels(pixels, PIXELS, 3);
    assert_ok(mnn_session_input(session, NULL, &input));
    assert_ok(mnn_tensor_write(input, pixels, sizeof pixels, MNN_FORMAT_NCHW));
    return session;
}

static void read_scores(mnn_session_t* session, float* scores) {
    mnn_tensor_t* output = NULL;
    assert_ok(mnn_session_output(session, NULL, &output));
    assert_ok(mnn_tensor_read(output, scores, CLASSES * sizeof *scores, MNN_FORMAT_NCHW));
}

static void check_order(mnn_session_t* session, bool readable) {
    float wanted[CLASSES], got[CLASSES];
    reference_scores(3, wanted);
    recorder mine = {.session = session, .answer_at = SIZE_MAX};
    for (int round = 1; round <= 2; ++round) {
        mine.before = mine.after = mine.readable = 0;
        assert_ok(run_watched(session, on_before, on_after, &mine));
        size_t count = 0;
        assert_ok(mnn_session_op_count(session, &count));
        assert_true(count > 2);
        assert_int_equal(mine.before, count);
        assert_int_equal(mine.after, count);
        for (size_t i = 0; i < count; ++i) {
            mnn_op_info_t info = {.struct_size = sizeof info};
            assert_ok(mnn_session_op_info(session, i, &info));
            assert_string_equal(mine.names[i], info.name);
            assert_string_equal(mine.last_types[i], info.type_name);
        }
        read_scores(session, got);
        assert_close(got, wanted, CLASSES, 1e-4f);
        if (readable) {
            assert_true(mine.readable >= count);
            assert_memory_equal(mine.last, got, sizeof got);
        }
    }
}

static void order(void** state) {
    (void)state;
    mnn_session_t* session = session_of(MNN_FORWARD_CPU, 0);
    check_order(session, true);
    assert_ok(mnn_session_destroy(&session));
}

static void order_on_a_device(void** state) {
    (void)state;
    const int32_t modes[] = {MNN_GPU_RECORD_OP, MNN_GPU_RECORD_BATCH};
    for (size_t i = 0; i < 2; ++i) {
        mnn_session_t* session = session_of(MNN_FORWARD_VULKAN, modes[i]);
        if (!session) skip();
        const bool shown = modes[i] == MNN_GPU_RECORD_OP;
        check_order(session, shown);
        recorder mine = {.session = session, .answer = MNN_OP_STOP, .answer_at = 1};
        assert_fails(run_watched(session, on_before, on_after, &mine), MNN_ERROR_CALLBACK_STOP);
        check_order(session, shown);
        if (shown) {
            assert_ok(mnn_session_destroy(&session));
            continue;
        }
        /* A recording of the device cannot be skipped in parts, and a run that fails computes nothing. */
        mine = (recorder){.session = session, .answer = MNN_OP_SKIP, .answer_at = 1};
        assert_fails(run_watched(session, on_before, on_after, &mine), MNN_ERROR_NOT_SUPPORTED);
        assert_non_null(strstr(mnn_last_error(), mine.names[1]));
        assert_int_equal(mine.before, 2);
        assert_int_equal(mine.after, 0);
        check_order(session, false);
        assert_ok(mnn_session_destroy(&session));
    }
}

static void either_may_be_missing(void** state) {
    (void)state;
    mnn_session_t* session = session_of(MNN_FORWARD_CPU, 0);
    float wanted[CLASSES], got[CLASSES];
    reference_scores(3, wanted);
    recorder mine = {.session = session, .answer_at = SIZE_MAX};
    assert_ok(run_watched(session, NULL, NULL, NULL));
    assert_ok(run_watched(session, on_before, NULL, &mine));
    assert_int_equal(mine.after, 0);
    const size_t count = mine.before;
    assert_ok(run_watched(session, NULL, on_after, &mine));
    assert_int_equal(mine.before, count);
    assert_int_equal(mine.after, count);
    read_scores(session, got);
    assert_close(got, wanted, CLASSES, 1e-4f);
    assert_ok(mnn_session_destroy(&session));
    assert_fails(run_watched(NULL, on_before, on_after, &mine), MNN_ERROR_NULL_ARGUMENT);
}

static void skipping(void** state) {
    (void)state;
    mnn_session_t* session = session_of(MNN_FORWARD_CPU, 0);
    float wanted[CLASSES], got[CLASSES];
    size_t count = 0;
    assert_ok(mnn_session_op_count(session, &count));
    reference_scores(3, wanted);
    for (size_t i = 0; i < count; ++i) {
        recorder mine = {.session = session, .answer = MNN_OP_SKIP, .answer_at = i};
        assert_ok(run_watched(session, on_before, on_after, &mine));
        assert_int_equal(mine.before, count);
        assert_int_equal(mine.after, count);
    }
    read_scores(session, got); /* without the last operator */
    assert_memory_not_equal(got, wanted, sizeof got);
    check_order(session, true);
    assert_ok(mnn_session_destroy(&session));
}

static void stopping(void** state) {
    (void)state;
    mnn_session_t* session = session_of(MNN_FORWARD_CPU, 0);
    recorder mine = {.session = session, .answer = MNN_OP_STOP, .answer_at = 1};
    assert_fails(run_watched(session, on_before, on_after, &mine), MNN_ERROR_CALLBACK_STOP);
    assert_int_equal(mine.before, 2);
    assert_int_equal(mine.after, 1);
    mnn_tensor_t* output = NULL;
    float scores[CLASSES];
    assert_ok(mnn_session_output(session, NULL, &output));
    assert_fails(mnn_tensor_read(output, scores, sizeof scores, MNN_FORMAT_NCHW), MNN_ERROR_BAD_STATE);
    mine = (recorder){.session = session, .answer_at = SIZE_MAX, .answer_after = MNN_OP_STOP};
    assert_fails(run_watched(session, on_before, on_after, &mine), MNN_ERROR_CALLBACK_STOP);
    assert_int_equal(mine.before, 1);
    const int32_t odd[] = {-1, 3, INT32_MAX};
    for (size_t i = 0; i < 3; ++i) {
        mine = (recorder){.session = session, .answer = odd[i], .answer_at = 0};
        assert_fails(run_watched(session, on_before, NULL, &mine), MNN_ERROR_INVALID_VALUE);
        mine = (recorder){.session = session, .answer_at = SIZE_MAX, .answer_after = odd[i]};
        assert_fails(run_watched(session, NULL, on_after, &mine), MNN_ERROR_INVALID_VALUE);
    }
    mine = (recorder){.session = session, .answer_at = SIZE_MAX, .answer_after = MNN_OP_SKIP};
    assert_fails(run_watched(session, NULL, on_after, &mine), MNN_ERROR_INVALID_VALUE);
    check_order(session, true);
    assert_ok(mnn_session_destroy(&session));
}

static int32_t reenter(void* user_data, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors, size_t count) {
    mnn_session_t* session = user_data;
    const int32_t dims[] = {2, 1, 8, 8};
    mnn_tensor_t* input = NULL;
    (void)op;
    assert_ok(mnn_session_input(session, NULL, &input));
    assert_fails(mnn_session_run(session), MNN_ERROR_BUSY);
    assert_fails(run_watched(session, NULL, NULL, NULL), MNN_ERROR_BUSY);
    assert_fails(mnn_session_resize(session), MNN_ERROR_BUSY);
    assert_fails(mnn_session_resize_input(session, input, dims, 4), MNN_ERROR_BUSY);
    /* A callback may only read its tensors. */
    for (size_t i = 0; i < count; ++i) {
        mnn_tensor_t* shown = (mnn_tensor_t*)(uintptr_t)tensors[i];
        void* data = NULL;
        assert_fails(mnn_tensor_write(shown, dims, sizeof dims, MNN_FORMAT_NCHW), MNN_ERROR_BUSY);
        assert_fails(mnn_tensor_map(shown, MNN_MAP_WRITE, &data), MNN_ERROR_BUSY);
    }
    size_t operators = 0;
    assert_ok(mnn_session_op_count(session, &operators));
    return MNN_OP_RUN;
}

static void calling_back(void** state) {
    (void)state;
    mnn_session_t* session = session_of(MNN_FORWARD_CPU, 0);
    assert_ok(run_watched(session, reenter, reenter, session));
    check_order(session, true);
    assert_ok(mnn_session_destroy(&session));
}

static void needs_a_resize(void** state) {
    (void)state;
    mnn_session_t* session = session_of(MNN_FORWARD_CPU, 0);
    const int32_t dims[] = {2, 1, 8, 8};
    mnn_tensor_t* input = NULL;
    assert_ok(mnn_session_input(session, NULL, &input));
    assert_ok(mnn_session_resize_input(session, input, dims, 4));
    assert_fails(run_watched(session, NULL, NULL, NULL), MNN_ERROR_BAD_STATE);
    assert_ok(mnn_session_destroy(&session));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order),          cmocka_unit_test(order_on_a_device), cmocka_unit_test(either_may_be_missing),
        cmocka_unit_test(skipping),       cmocka_unit_test(stopping),          cmocka_unit_test(calling_back),
        cmocka_unit_test(needs_a_resize),
    };
    return cmocka_run_group_tests_name("callbacks", tests, open_net, close_net);
}
