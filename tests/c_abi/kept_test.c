/* Sessions that keep keys and values from run to run compute what one long run computes. */
#include <pthread.h>

#include "kept_net.h"
#include "net_files.h"

/* Runs of these sizes, one after another, give the right results. */
static void runs_of(const int* sizes, int count, int32_t threads) {
    mnn_interpreter_t* of = open_net_of("kept");
    mnn_schedule_config_t config = default_config();
    config.forward_type = kept_backend;
    mnn_session_t* session = NULL;
    config.threads = threads;
    assert_ok(mnn_session_create(of, &config, &session));
    struct tokens all;
    int past = 0;
    for (int i = 0; i < count; ++i) {
        make_tokens(&all, 3, past + sizes[i]);
        go_on(session, &all, past);
        past += sizes[i];
        expect_length(session, (uint64_t)past);
    }
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&of));
}

static void in_one_piece(void** state) {
    (void)state;
    const int small[] = {11}, large[] = {300};
    runs_of(small, 1, 1);
    runs_of(large, 1, 2);
}

static void token_by_token(void** state) {
    (void)state;
    int ones[20];
    for (int i = 0; i < 20; ++i) ones[i] = 1;
    runs_of(ones, 20, 1);
    runs_of(ones, 20, 2);
}

/* Runs cross the borders of pages, which have 256 rows. */
static void in_chunks(void** state) {
    (void)state;
    const int sizes[] = {4, 5, 2, 240, 5, 1, 1, 300, 1};
    runs_of(sizes, 9, 2);
}

/* The factor of scores that a host gives when it loads the net; options of an earlier version have none. */
static void given_factor(void** state) {
    (void)state;
    const float factors[] = {0.0625f, 1.5f};
    const double usual = score_factor;
    for (int i = 0; i < 3; ++i) {
        mnn_interpreter_options_t options;
        assert_ok(mnn_interpreter_options_init(&options, sizeof options));
        options.attention_scale = factors[i % 2];
        if (i == 2) options.struct_size = offsetof(mnn_interpreter_options_t, attention_scale);
        score_factor = i == 2 ? usual : (double)factors[i];
        mnn_interpreter_t* of = NULL;
        assert_ok(mnn_interpreter_create_from_file(MNN_C_NETS_FOLDER "/kept.mnn", &options, &of));
        mnn_session_t* session = open_kept(of);
        struct tokens all;
        make_tokens(&all, 3, 6);
        go_on(session, &all, 0);
        make_tokens(&all, 3, 7);
        go_on(session, &all, 6);
        assert_ok(mnn_session_destroy(&session));
        assert_ok(mnn_interpreter_destroy(&of));
    }
    score_factor = usual;
    const float wrong[] = {INFINITY, -INFINITY, NAN};
    for (int i = 0; i < 3; ++i) {
        mnn_interpreter_options_t options;
        assert_ok(mnn_interpreter_options_init(&options, sizeof options));
        options.attention_scale = wrong[i];
        mnn_interpreter_t* of = NULL;
        assert_fails(mnn_interpreter_create_from_file(MNN_C_NETS_FOLDER "/kept.mnn", &options, &of),
                     MNN_ERROR_BAD_RANGE);
        assert_null(of);
    }
}

static void erased(void** state) {
    (void)state;
    mnn_interpreter_t* of = open_net_of("kept");
    mnn_session_t* session = open_kept(of);
    struct tokens all;
    make_tokens(&all, 3, 600);
    go_on(session, &all, 0);
    /* From the end, from the middle across pages, nothing, and the beginning. */
    assert_ok(mnn_session_state_erase(session, 590, 600));
    all.count = 590;
    expect_length(session, 590);
    assert_ok(mnn_session_state_erase(session, 100, 371));
    memmove(all.tokens + 100, all.tokens + 371, (590 - 371) * sizeof(int));
    all.count = 319;
    assert_ok(mnn_session_state_erase(session, 7, 7));
    assert_ok(mnn_session_state_erase(session, 0, 2));
    memmove(all.tokens, all.tokens + 2, 317 * sizeof(int));
    all.count = 317;
    expect_length(session, 317);
    for (int i = 0; i < 3; ++i) all.tokens[all.count++] = 1000 + i;
    go_on(session, &all, 317);
    assert_fails(mnn_session_state_erase(session, 2, 1), MNN_ERROR_BAD_RANGE);
    assert_fails(mnn_session_state_erase(session, 0, 321), MNN_ERROR_BAD_RANGE);
    assert_fails(mnn_session_state_erase(session, UINT64_MAX, UINT64_MAX), MNN_ERROR_BAD_RANGE);
    expect_length(session, 320);
    assert_ok(mnn_session_state_reset(session));
    expect_length(session, 0);
    make_tokens(&all, 70, 5);
    go_on(session, &all, 0);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&of));
}

/* Each session has its own state; a copy of it goes on from the same tokens. */
static void conversations_apart(void** state) {
    (void)state;
    mnn_interpreter_t* of = open_net_of("kept");
    mnn_session_t *one = open_kept(of), *other = open_kept(of);
    struct tokens a, b;
    make_tokens(&a, 3, 9);
    make_tokens(&b, 500, 4);
    go_on(one, &a, 0);
    go_on(other, &b, 0);
    make_tokens(&a, 3, 10);
    go_on(one, &a, 9);
    assert_ok(mnn_session_state_copy(one, other));
    expect_length(other, 10);
    b = a;
    for (int i = 0; i < 2; ++i) b.tokens[b.count++] = 900 + i;
    go_on(other, &b, 10);
    make_tokens(&a, 3, 12);
    go_on(one, &a, 10);
    assert_fails(mnn_session_state_copy(one, one), MNN_ERROR_INVALID_VALUE);
    assert_non_null(strstr(mnn_last_error(), "the same session"));
    mnn_interpreter_t* sums = open_net_of("sums");
    mnn_session_t* third = open_kept(sums);
    assert_fails(mnn_session_state_copy(one, third), MNN_ERROR_INVALID_VALUE);
    assert_ok(mnn_session_destroy(&third));
    assert_ok(mnn_interpreter_destroy(&sums));
    third = open_kept(of);
    assert_fails(mnn_session_state_copy(one, third), MNN_ERROR_BAD_STATE);
    assert_ok(mnn_session_destroy(&third));
    assert_ok(mnn_session_destroy(&one));
    assert_ok(mnn_session_destroy(&other));
    assert_ok(mnn_interpreter_destroy(&of));
}

struct conversation {
    mnn_session_t* session;
    int first; /* token */
    float results[40][RESULT];
};

/* Returns null when all calls succeed; cmocka has assertions for one thread only. */
static void* converse(void* user_data) {
    struct conversation* own = user_data;
    static const int sizes[] = {7, 1, 1, 12, 1, 1, 9, 1, 5};
    struct tokens all;
    int past = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        float rows[12][RESULT];
        make_tokens(&all, own->first, past + sizes[i]);
        feed_kept(own->session, &all, past);
        if (mnn_session_run(own->session) != MNN_OK ||
            mnn_tensor_read(output_of(own->session, "second"), rows, (size_t)sizes[i] * sizeof *rows,
                            MNN_FORMAT_NCHW) != MNN_OK)
            return own;
        memcpy(own->results[past], rows, (size_t)sizes[i] * sizeof *rows);
        past += sizes[i];
    }
    return NULL;
}

/* Four conversations of one net give the same bits at the same time as one after another. */
static void conversations_at_once(void** state) {
    (void)state;
    enum { COUNT = 4 };
    static struct conversation alone[COUNT], together[COUNT];
    mnn_interpreter_t* of = open_net_of("kept");
    pthread_t threads[COUNT];
    for (int i = 0; i < COUNT; ++i) {
        alone[i] = (struct conversation){open_kept(of), 100 * i, {{0}}};
        together[i] = (struct conversation){open_kept(of), 100 * i, {{0}}};
        assert_null(converse(&alone[i]));
    }
    for (int i = 0; i < COUNT; ++i) assert_int_equal(pthread_create(&threads[i], NULL, converse, &together[i]), 0);
    for (int i = 0; i < COUNT; ++i) {
        void* failed = NULL;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
        assert_memory_equal(alone[i].results, together[i].results, sizeof alone[i].results);
        assert_memory_not_equal(alone[i].results[37], alone[(i + 1) % COUNT].results[37], sizeof alone[i].results[37]);
        assert_ok(mnn_session_destroy(&alone[i].session));
        assert_ok(mnn_session_destroy(&together[i].session));
    }
    assert_ok(mnn_interpreter_destroy(&of));
}

/* Runs up to the capacity plan nothing, and their masks may grow. */
static void plans_once_for_each_kind(void** state) {
    (void)state;
    mnn_interpreter_t* of = open_net_of("kept");
    mnn_session_t* session = open_kept(of);
    struct tokens all;
    make_tokens(&all, 3, 5);
    go_on(session, &all, 0);
    make_tokens(&all, 3, 6);
    go_on(session, &all, 5);
    const uint64_t plans = statistics_of(session).plans, stages = statistics_of(session).stage_plans;
    assert_int_equal(plans, 2);
    for (int past = 6; past < 206; ++past) {
        make_tokens(&all, 3, past + 1);
        go_on(session, &all, past);
    }
    assert_int_equal(statistics_of(session).stage_plans, stages);
    assert_ok(mnn_session_state_reset(session));
    make_tokens(&all, 90, 5);
    go_on(session, &all, 0); /* a chunk again, with the earlier plan */
    assert_int_equal(statistics_of(session).stage_plans, stages);

    /* Another session of the net takes the same plans, whatever it keeps. */
    mnn_session_t* other = open_kept(of);
    go_on(other, &all, 0);
    assert_int_equal(statistics_of(other).stage_plans, 0);
    assert_ok(mnn_session_destroy(&other));
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&of));
}

/* A run with a mask of another extent than the keys fails. */
static void masks_fit(void** state) {
    (void)state;
    mnn_interpreter_t* of = open_net_of("kept");
    mnn_session_t* session = open_kept(of);
    struct tokens all;
    make_tokens(&all, 3, 4);
    go_on(session, &all, 0);
    for (int extent = 1; extent <= 9; ++extent) {
        const int32_t mask[] = {2, 1, 1, extent};
        shape_kept(session, 4, 1);
        assert_ok(mnn_session_resize_input(session, input_of(session, "mask"), mask, 4));
        assert_ok(mnn_session_resize(session));
        if (extent == 5) continue;
        assert_fails(mnn_session_run(session), MNN_ERROR_COMPUTE_SIZE);
        assert_non_null(strstr(mnn_last_error(), "4 rows that the session keeps"));
    }
    expect_length(session, 4);
    make_tokens(&all, 3, 5);
    go_on(session, &all, 4);
    const int32_t rows[] = {2, 1, 2, 6};
    assert_ok(mnn_session_resize_input(session, input_of(session, "mask"), rows, 4));
    assert_fails(mnn_session_resize(session), MNN_ERROR_COMPUTE_SIZE);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&of));
}

static void in_halves(void** state) {
    (void)state;
    mnn_interpreter_t* of = open_net_of("kept");
    mnn_session_t *session = open_kept(of), *floats = open_kept(of);
    assert_fails(mnn_session_state_set_type(session, MNN_TYPE_INT8), MNN_ERROR_INVALID_VALUE);
    assert_ok(mnn_session_state_set_type(session, MNN_TYPE_FLOAT16));
    struct tokens all;
    make_tokens(&all, 3, 260);
    feed_kept(session, &all, 0);
    assert_ok(mnn_session_run(session));
    expect_kept(session, &all, 0, 2e-3);
    const mnn_state_properties_t info = state_of(session);
    assert_int_equal(info.type, MNN_TYPE_FLOAT16);
    assert_int_equal(info.bytes, 3 * 512 * (KEY + VALUE) * sizeof(uint16_t));
    float halves[RESULT], other[RESULT];
    assert_ok(mnn_session_state_erase(session, 259, 260));
    feed_kept(session, &all, 259);
    assert_ok(mnn_session_run(session));
    expect_kept(session, &all, 259, 2e-3);
    assert_ok(mnn_tensor_read(output_of(session, "causal"), halves, sizeof halves, MNN_FORMAT_NCHW));
    assert_fails(mnn_session_state_set_type(session, MNN_TYPE_FLOAT32), MNN_ERROR_BAD_STATE);
    assert_ok(mnn_session_state_set_type(session, MNN_TYPE_FLOAT16));

    /* Rows of halves become floats when a session of floats loads or copies them. */
    size_t size = 0;
    unsigned char* bytes = saved_of(session, &size);
    feed_kept(floats, &all, 259);
    assert_ok(mnn_session_state_load(floats, bytes, size));
    assert_int_equal(state_of(floats).type, MNN_TYPE_FLOAT32);
    assert_ok(mnn_session_state_erase(floats, 259, 260));
    feed_kept(floats, &all, 259);
    assert_ok(mnn_session_run(floats));
    assert_ok(mnn_tensor_read(output_of(floats, "causal"), other, sizeof other, MNN_FORMAT_NCHW));
    assert_close(other, halves, RESULT, 1e-3f);
    assert_ok(mnn_session_state_copy(session, floats));
    assert_ok(mnn_session_state_copy(floats, session));
    assert_ok(mnn_session_state_reset(session));
    assert_ok(mnn_session_state_set_type(session, MNN_TYPE_FLOAT32));
    go_on(session, &all, 0);
    free(bytes);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_session_destroy(&floats));
    assert_ok(mnn_interpreter_destroy(&of));
}

static int32_t see_mask(void* user_data, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors, size_t count) {
    (void)op;
    const char* name = NULL;
    for (size_t i = 0; i < count; ++i) {
        int32_t dims[MNN_MAX_RANK];
        size_t rank = 0;
        assert_ok(mnn_tensor_name(tensors[i], &name));
        if (strcmp(name, "mask") != 0) continue;
        assert_ok(mnn_tensor_shape(tensors[i], dims, MNN_MAX_RANK, &rank));
        assert_int_equal(rank, 4);
        *(int32_t*)user_data = dims[3];
    }
    return MNN_OP_RUN;
}

/* A callback is shown the mask of its run, not that of the plan. */
static void shown_masks(void** state) {
    (void)state;
    mnn_interpreter_t* of = open_net_of("kept");
    mnn_session_t* session = open_kept(of);
    struct tokens all;
    for (int past = 0; past < 3; ++past) {
        int32_t keys = 0;
        make_tokens(&all, 3, past + 1);
        feed_kept(session, &all, past);
        assert_ok(run_watched(session, see_mask, NULL, &keys));
        assert_int_equal(keys, past + 1);
    }
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&of));
}

/* Memory of the caller for the mask: its size changes with each run. */
static void bound_mask(void** state) {
    (void)state;
    mnn_interpreter_t* of = open_net_of("kept");
    mnn_session_t* session = open_kept(of);
    struct tokens all;
    make_tokens(&all, 3, 5);
    go_on(session, &all, 0);
    for (int past = 5; past < 12; ++past) {
        float mask[2 * 12];
        make_tokens(&all, 3, past + 1);
        feed_rows(session, &all, past);
        if (past > 5) assert_fails(mnn_session_run(session), MNN_ERROR_BAD_STATE); /* bound for one key less */
        fill_mask(mask, past, 1);
        assert_ok(mnn_session_bind_input(session, input_of(session, "mask"), mask,
                                         (size_t)(2 * (past + 1)) * sizeof(float), MNN_FORMAT_NCHW));
        assert_ok(mnn_session_run(session));
        expect_kept(session, &all, past, 2e-6);
    }
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&of));
}

/* Submitted runs count like others. */
static void submitted(void** state) {
    (void)state;
    mnn_interpreter_t* of = open_net_of("kept");
    mnn_session_t* session = open_kept(of);
    struct tokens all;
    for (int past = 0; past < 6; past += 2) {
        make_tokens(&all, 3, past + 2);
        feed_kept(session, &all, past);
        assert_ok(mnn_session_submit(session, NULL));
        assert_ok(mnn_session_wait(session, -1));
        expect_kept(session, &all, past, 2e-6);
        expect_length(session, (uint64_t)past + 2);
    }
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&of));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_one_piece),
        cmocka_unit_test(token_by_token),
        cmocka_unit_test(in_chunks),
        cmocka_unit_test(given_factor),
        cmocka_unit_test(erased),
        cmocka_unit_test(conversations_apart),
        cmocka_unit_test(conversations_at_once),
        cmocka_unit_test(plans_once_for_each_kind),
        cmocka_unit_test(masks_fit),
        cmocka_unit_test(in_halves),
        cmocka_unit_test(shown_masks),
        cmocka_unit_test(bound_mask),
        cmocka_unit_test(submitted),
    };
    int failed = 0;
    for (size_t i = 0; i < backend_count(); ++i) {
        kept_backend = kBackends[i];
        failed += cmocka_run_group_tests_name(i == 0 ? "kept" : "kept on a device", tests, open_net, close_net);
    }
    return failed;
}
