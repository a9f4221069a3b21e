/* Sessions with a state: keys and values that are kept from run to run. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kept_net.h"
#include "net_files.h"

static mnn_session_t* kept_session(mnn_interpreter_t* of) {
    return session_on(of, MNN_FORWARD_CPU);
}

/* Runs of these sizes, one after another, give the right results. */
static void runs_of(const int* sizes, int count, int32_t backend, int32_t threads) {
    mnn_interpreter_t* of = open_net_of("kept");
    mnn_schedule_config_t config = default_config();
    mnn_session_t* session = NULL;
    config.forward_type = backend;
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
    runs_of(small, 1, MNN_FORWARD_CPU, 1);
    runs_of(large, 1, MNN_FORWARD_CPU, 2);
}

static void token_by_token(void** state) {
    (void)state;
    int ones[20];
    for (int i = 0; i < 20; ++i) ones[i] = 1;
    runs_of(ones, 20, MNN_FORWARD_CPU, 1);
    runs_of(ones, 20, MNN_FORWARD_CPU, 2);
}

/* Runs cross the borders of pages, which have 256 rows. */
static void in_chunks(void** state) {
    (void)state;
    const int sizes[] = {4, 5, 2, 240, 5, 1, 1, 300, 1};
    for (size_t i = 0; i < backend_count(); ++i) runs_of(sizes, 9, kBackends[i], 2);
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
        mnn_session_t* session = kept_session(of);
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
    mnn_session_t* session = kept_session(of);
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
    mnn_session_t *one = kept_session(of), *other = kept_session(of);
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
    assert_fails(mnn_session_state_copy(one, one), MNN_ERROR_BUSY);
    mnn_interpreter_t* sums = open_net_of("sums");
    mnn_session_t* third = kept_session(sums);
    assert_fails(mnn_session_state_copy(one, third), MNN_ERROR_INVALID_VALUE);
    assert_ok(mnn_session_destroy(&third));
    assert_ok(mnn_interpreter_destroy(&sums));
    third = kept_session(of);
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
        alone[i] = (struct conversation){kept_session(of), 100 * i, {{0}}};
        together[i] = (struct conversation){kept_session(of), 100 * i, {{0}}};
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

static unsigned char* saved_of(mnn_session_t* session, size_t* size) {
    assert_ok(mnn_session_state_save(session, NULL, 0, size));
    unsigned char* bytes = malloc(*size);
    size_t needed = 0;
    assert_fails(mnn_session_state_save(session, bytes, *size - 1, &needed), MNN_ERROR_BUFFER_TOO_SMALL);
    assert_int_equal(needed, *size);
    assert_ok(mnn_session_state_save(session, bytes, *size, &needed));
    assert_int_equal(needed, *size);
    return bytes;
}

static void saved_and_loaded(void** state) {
    (void)state;
    mnn_interpreter_t* of = open_net_of("kept");
    mnn_session_t* session = kept_session(of);
    size_t size = 0;
    assert_fails(mnn_session_state_save(session, NULL, 0, &size), MNN_ERROR_BAD_STATE);
    assert_fails(mnn_session_state_load(session, "", 0), MNN_ERROR_BAD_STATE);
    struct tokens all;
    make_tokens(&all, 3, 270);
    go_on(session, &all, 0);
    unsigned char* bytes = saved_of(session, &size);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&of));

    of = open_net_of("kept");
    session = kept_session(of);
    shape_kept(session, 270, 1);
    assert_ok(mnn_session_resize(session));
    assert_ok(mnn_session_state_load(session, bytes, size));
    expect_length(session, 270);
    make_tokens(&all, 3, 271);
    go_on(session, &all, 270);

    /* Damaged bytes change nothing. */
    for (size_t cut = 0; cut < size; cut += 1 + cut / 3)
        assert_fails(mnn_session_state_load(session, bytes, cut), MNN_ERROR_TRUNCATED);
    unsigned char* damaged = malloc(size + 1);
    for (size_t at = 0; at < size; at += at < 256 ? 1 : 997) {
        memcpy(damaged, bytes, size);
        damaged[at] ^= 0x40;
        const mnn_status status = mnn_session_state_load(session, damaged, size);
        const mnn_status wanted = at < 8    ? MNN_ERROR_BAD_FORMAT
                                  : at < 12 ? MNN_ERROR_VERSION_MISMATCH
                                  : at < 16 ? MNN_ERROR_BAD_FORMAT
                                  : at < 24 ? MNN_ERROR_INVALID_VALUE
                                            : status;
        if (status != wanted || status == MNN_OK)
            fail_msg("byte %zu changed: %s, wanted %s", at, mnn_status_name(status), mnn_status_name(wanted));
    }
    memcpy(damaged, bytes, size);
    damaged[size] = 0;
    assert_fails(mnn_session_state_load(session, damaged, size + 1), MNN_ERROR_BAD_FORMAT);
    expect_length(session, 271);
    make_tokens(&all, 3, 272);
    go_on(session, &all, 271);
    free(damaged);
    free(bytes);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&of));
}

/* A child computes 270 tokens, writes its state to a pipe and ends. */
static void compute_and_end(int to) {
    mnn_session_t* session = kept_session(open_net_of("kept"));
    struct tokens all;
    make_tokens(&all, 3, 270);
    go_on(session, &all, 0);
    size_t size = 0;
    const unsigned char* bytes = saved_of(session, &size);
    for (size_t at = 0; at < size;) {
        const ssize_t written = write(to, bytes + at, size - at);
        if (written <= 0) _exit(1);
        at += (size_t)written;
    }
    _exit(0);
}

static void goes_on_in_another_process(void** state) {
    (void)state;
    enum { ROOM = 1 << 20 };
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) compute_and_end(ends[1]);
    close(ends[1]);
    unsigned char* bytes = malloc(ROOM);
    size_t size = 0;
    for (ssize_t got = 1; got > 0; size += (size_t)got) {
        got = read(ends[0], bytes + size, ROOM - size);
        assert_true(got >= 0);
    }
    close(ends[0]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);

    mnn_interpreter_t* of = open_net_of("kept");
    mnn_session_t *computed = kept_session(of), *loaded = kept_session(of);
    struct tokens all;
    make_tokens(&all, 3, 270);
    go_on(computed, &all, 0);
    shape_kept(loaded, 270, 1);
    assert_ok(mnn_session_resize(loaded));
    assert_ok(mnn_session_state_load(loaded, bytes, size));
    free(bytes);
    for (int past = 270; past < 274; ++past) {
        float wanted[RESULT], got[RESULT];
        make_tokens(&all, 3, past + 1);
        go_on(computed, &all, past);
        go_on(loaded, &all, past);
        assert_ok(mnn_tensor_read(output_of(computed, "causal"), wanted, sizeof wanted, MNN_FORMAT_NCHW));
        assert_ok(mnn_tensor_read(output_of(loaded, "causal"), got, sizeof got, MNN_FORMAT_NCHW));
        assert_memory_equal(got, wanted, sizeof got);
    }
    assert_ok(mnn_session_destroy(&computed));
    assert_ok(mnn_session_destroy(&loaded));
    assert_ok(mnn_interpreter_destroy(&of));
}

/* Runs up to the capacity plan nothing, and their masks may grow. */
static void plans_once_for_each_kind(void** state) {
    (void)state;
    mnn_interpreter_t* of = open_net_of("kept");
    mnn_session_t* session = kept_session(of);
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
    mnn_session_t* other = kept_session(of);
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
    mnn_session_t* session = kept_session(of);
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

static void room_for_rows(void** state) {
    (void)state;
    mnn_interpreter_t* of = open_net_of("kept");
    mnn_session_t* session = kept_session(of);
    assert_int_equal(state_of(session).operators, 3);
    assert_int_equal(state_of(session).capacity, 0);
    assert_int_equal(state_of(session).erasable, 1);
    assert_fails(mnn_session_state_reserve(session, 10), MNN_ERROR_BAD_STATE);
    struct tokens all;
    make_tokens(&all, 3, 3);
    go_on(session, &all, 0);
    const mnn_state_properties_t first = state_of(session);
    assert_int_equal(first.capacity, 256);
    assert_int_equal(first.type, MNN_TYPE_FLOAT32);
    assert_int_equal(first.bytes, 3 * 256 * (KEY + VALUE) * sizeof(float));
    assert_ok(mnn_session_state_reserve(session, 600));
    assert_int_equal(state_of(session).capacity, 768);
    assert_int_equal(state_of(session).bytes, 3 * first.bytes);
    make_tokens(&all, 3, 4);
    go_on(session, &all, 3);
    assert_fails(mnn_session_state_reserve(session, (uint64_t)INT32_MAX + 1), MNN_ERROR_BAD_RANGE);
    assert_ok(mnn_session_state_reserve(session, 1));
    assert_int_equal(state_of(session).capacity, 768);
    assert_ok(mnn_session_trim(session));
    assert_int_equal(state_of(session).capacity, 256);
    make_tokens(&all, 3, 5);
    go_on(session, &all, 4);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&of));
}

/* A run without memory for its rows leaves the rows that are there. */
static void limited(void** state) {
    (void)state;
    mnn_interpreter_t* of = open_net_of("kept");
    mnn_schedule_config_t config = default_config();
    mnn_session_t* session = NULL;
    config.max_memory_bytes = 1 << 20;
    assert_ok(mnn_session_create(of, &config, &session));
    struct tokens all;
    make_tokens(&all, 3, 2);
    go_on(session, &all, 0);
    assert_fails(mnn_session_state_reserve(session, 100000), MNN_ERROR_LIMIT_EXCEEDED);
    expect_length(session, 2);
    /* The pages that there was memory for stay. */
    make_tokens(&all, 3, 3);
    go_on(session, &all, 2);
    assert_ok(mnn_session_trim(session));
    assert_int_equal(state_of(session).capacity, 256);
    size_t size = 0;
    unsigned char* bytes = saved_of(session, &size);
    assert_ok(mnn_session_state_load(session, bytes, size));
    free(bytes);
    int past = 3;
    mnn_status status = MNN_OK;
    while (status == MNN_OK) {
        make_tokens(&all, 3, past + 1);
        const int32_t q[] = {1, 128, HEADS, DEPTH}, k[] = {1, 128, KEY_HEADS, DEPTH};
        const int32_t v[] = {1, 128, KEY_HEADS, VALUE_DEPTH}, mask[] = {2, 1, 128, past + 128};
        assert_ok(mnn_session_resize_input(session, input_of(session, "q"), q, 4));
        assert_ok(mnn_session_resize_input(session, input_of(session, "k"), k, 4));
        assert_ok(mnn_session_resize_input(session, input_of(session, "v"), v, 4));
        assert_ok(mnn_session_resize_input(session, input_of(session, "mask"), mask, 4));
        status = mnn_session_resize(session);
        if (status == MNN_OK) status = mnn_session_run(session);
        if (status == MNN_OK) past += 128;
    }
    assert_int_equal(status, MNN_ERROR_LIMIT_EXCEEDED);
    expect_length(session, (uint64_t)past);
    assert_true(past > 3);
    assert_ok(mnn_session_state_reset(session));
    assert_ok(mnn_session_trim(session));
    make_tokens(&all, 40, 2);
    go_on(session, &all, 0);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&of));
}

/* Another session's state that is too large leaves the one that is there. */
static void limited_copies(void** state) {
    (void)state;
    mnn_interpreter_t* of = open_net_of("kept");
    mnn_schedule_config_t config = default_config();
    mnn_session_t *large = kept_session(of), *small = NULL;
    config.max_memory_bytes = 250000;
    assert_ok(mnn_session_create(of, &config, &small));
    struct tokens all;
    make_tokens(&all, 3, 300);
    go_on(large, &all, 0);
    make_tokens(&all, 50, 2);
    go_on(small, &all, 0);
    size_t size = 0;
    unsigned char* bytes = saved_of(large, &size);
    assert_fails(mnn_session_state_load(small, bytes, size), MNN_ERROR_LIMIT_EXCEEDED);
    assert_fails(mnn_session_state_copy(large, small), MNN_ERROR_LIMIT_EXCEEDED);
    free(bytes);
    expect_length(small, 2);
    make_tokens(&all, 50, 3);
    go_on(small, &all, 2);
    assert_ok(mnn_session_destroy(&small));
    assert_ok(mnn_session_destroy(&large));
    assert_ok(mnn_interpreter_destroy(&of));
}

static void in_halves(void** state) {
    (void)state;
    mnn_interpreter_t* of = open_net_of("kept");
    mnn_session_t *session = kept_session(of), *floats = kept_session(of);
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

struct stop {
    int calls, at;
    int32_t answer;
};

static int32_t stop_at(void* user_data, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors, size_t count) {
    (void)op;
    struct stop* stop = user_data;
    /* The tensors that the callback gets have the extents of this run. */
    for (size_t i = 0; i < count; ++i) {
        size_t bytes = 0;
        assert_ok(mnn_tensor_byte_size(tensors[i], MNN_FORMAT_NCHW, &bytes));
        void* copy = malloc(bytes + 1);
        assert_ok(mnn_tensor_read(tensors[i], copy, bytes, MNN_FORMAT_NCHW));
        free(copy);
    }
    return stop->calls++ == stop->at ? stop->answer : MNN_OP_RUN;
}

/* A run that stops before or after any operator leaves the state as it was. */
static void stopped_runs(void** state) {
    (void)state;
    mnn_interpreter_t* of = open_net_of("kept");
    mnn_session_t* session = kept_session(of);
    struct tokens all;
    make_tokens(&all, 3, 256);
    go_on(session, &all, 0);
    int stopped = 0;
    for (int at = 0;; ++at) {
        struct stop stop = {0, at, MNN_OP_STOP};

        make_tokens(&all, 3, 259);
        feed_kept(session, &all, 256);
        const mnn_status status = run_watched(session, stop_at, stop_at, &stop);
        if (status == MNN_OK) break;
        assert_int_equal(status, MNN_ERROR_CALLBACK_STOP);
        expect_length(session, 256);
        ++stopped;
    }
    assert_true(stopped >= 6);
    expect_kept(session, &all, 256, 2e-6);
    make_tokens(&all, 3, 260);
    go_on(session, &all, 259);
    make_tokens(&all, 3, 261);
    feed_kept(session, &all, 260);
    struct stop skip = {0, 0, MNN_OP_SKIP};
    assert_fails(run_watched(session, stop_at, NULL, &skip), MNN_ERROR_NOT_SUPPORTED);
    expect_length(session, 260);
    go_on(session, &all, 260);
    assert_ok(mnn_session_destroy(&session));
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
    mnn_session_t* session = kept_session(of);
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

struct meddling {
    mnn_session_t *session, *other;
    mnn_status got[8];
};

static void* meddle(void* user_data) {
    struct meddling* own = user_data;
    mnn_state_properties_t info = {.struct_size = sizeof info};
    size_t needed = 0;
    own->got[0] = mnn_session_state_info(own->session, &info);
    own->got[1] = mnn_session_state_save(own->session, NULL, 0, &needed);
    own->got[2] = mnn_session_state_load(own->session, "x", 1);
    own->got[3] = mnn_session_state_reset(own->session);
    own->got[4] = mnn_session_state_erase(own->session, 0, 0);
    own->got[5] = mnn_session_state_reserve(own->session, 1);
    own->got[6] = mnn_session_state_set_type(own->session, MNN_TYPE_FLOAT32);
    own->got[7] = mnn_session_state_copy(own->session, own->other);
    return NULL;
}

static int32_t let_meddle(void* user_data, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors, size_t count) {
    (void)op;
    (void)tensors;
    (void)count;
    pthread_t thread;
    struct meddling* own = user_data;
    if (pthread_create(&thread, NULL, meddle, own) != 0 || pthread_join(thread, NULL) != 0) return MNN_OP_STOP;
    for (size_t i = 0; i < 8; ++i)
        if (own->got[i] != MNN_ERROR_BUSY) return MNN_OP_STOP;
    /* The callback itself may ask. */
    mnn_state_properties_t info = {.struct_size = sizeof info};
    return mnn_session_state_info(own->session, &info) == MNN_OK && info.length == 0 ? MNN_OP_RUN : MNN_OP_STOP;
}

/* Another thread cannot read a state while a run changes it. */
static void beside_a_run(void** state) {
    (void)state;
    mnn_interpreter_t* of = open_net_of("kept");
    struct meddling meddling = {kept_session(of), kept_session(of), {0}};
    struct tokens all;
    make_tokens(&all, 3, 4);
    feed_kept(meddling.other, &all, 0);
    feed_kept(meddling.session, &all, 0);
    assert_ok(run_watched(meddling.session, let_meddle, NULL, &meddling));
    expect_kept(meddling.session, &all, 0, 2e-6);
    expect_length(meddling.session, 4);
    assert_ok(mnn_session_destroy(&meddling.session));
    assert_ok(mnn_session_destroy(&meddling.other));
    assert_ok(mnn_interpreter_destroy(&of));
}

struct cancelling {
    mnn_cancel_t* cancel;
    int calls, at;
};

static int32_t cancel_at(void* user_data, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors, size_t count) {
    (void)op, (void)tensors, (void)count;
    struct cancelling* own = user_data;
    if (own->calls++ == own->at) assert_ok(mnn_cancel_trigger(own->cancel));
    return MNN_OP_RUN;
}

/* A run that is cancelled before it begins, or before or after any operator, leaves the state as it was. */
static void cancelled_runs(void** state) {
    (void)state;
    mnn_interpreter_t* of = open_net_of("kept");
    mnn_session_t* session = kept_session(of);
    struct tokens all;
    make_tokens(&all, 3, 255);
    go_on(session, &all, 0);
    size_t size = 0;
    unsigned char* before = saved_of(session, &size);
    struct cancelling own = {NULL, 0, 0};
    assert_ok(mnn_cancel_create(&own.cancel));
    mnn_run_options_t options;
    assert_ok(mnn_run_options_init(&options, sizeof options));
    options.cancel = own.cancel;
    options.user_data = &own;
    make_tokens(&all, 3, 259);
    feed_kept(session, &all, 255);
    assert_ok(mnn_cancel_trigger(own.cancel));
    int cancelled = 0;
    for (int at = 0;; ++at) {
        const mnn_status status = mnn_session_run_with_options(session, &options);
        if (status == MNN_OK) break;
        assert_int_equal(status, MNN_ERROR_CANCELLED);
        size_t now = 0;
        unsigned char* after = saved_of(session, &now);
        assert_int_equal(now, size);
        assert_memory_equal(after, before, size);
        free(after);
        ++cancelled;
        assert_ok(mnn_cancel_reset(own.cancel));
        own.calls = 0;
        own.at = at;
        options.before = options.after = cancel_at;
    }
    assert_true(cancelled >= 6);
    expect_kept(session, &all, 255, 2e-6);
    make_tokens(&all, 3, 260);
    go_on(session, &all, 259);
    free(before);
    assert_ok(mnn_cancel_destroy(&own.cancel));
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&of));
}

/* Memory of the caller for the mask: its size changes with each run. */
static void bound_mask(void** state) {
    (void)state;
    mnn_interpreter_t* of = open_net_of("kept");
    mnn_session_t* session = kept_session(of);
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

/* A session whose operators keep nothing has an empty state. */
static void without_a_state(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    const mnn_state_properties_t info = state_of(session);
    assert_int_equal(info.operators, 0);
    assert_int_equal(info.length, 0);
    assert_int_equal(info.bytes, 0);
    assert_ok(mnn_session_state_reset(session));
    assert_ok(mnn_session_state_erase(session, 0, 0));
    size_t needed = UNTOUCHED_SIZE;
    assert_fails(mnn_session_state_save(session, NULL, 0, &needed), MNN_ERROR_NOT_SUPPORTED);
    assert_int_equal(needed, UNTOUCHED_SIZE);
    assert_fails(mnn_session_state_load(session, "x", 1), MNN_ERROR_NOT_SUPPORTED);
    mnn_state_properties_t small = {.struct_size = sizeof small - 1};
    assert_fails(mnn_session_state_info(session, &small), MNN_ERROR_VERSION_MISMATCH);
    assert_ok(mnn_session_destroy(&session));
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
        cmocka_unit_test(saved_and_loaded),
        cmocka_unit_test(goes_on_in_another_process),
        cmocka_unit_test(plans_once_for_each_kind),
        cmocka_unit_test(masks_fit),
        cmocka_unit_test(room_for_rows),
        cmocka_unit_test(limited),
        cmocka_unit_test(limited_copies),
        cmocka_unit_test(in_halves),
        cmocka_unit_test(stopped_runs),
        cmocka_unit_test(shown_masks),
        cmocka_unit_test(beside_a_run),
        cmocka_unit_test(cancelled_runs),
        cmocka_unit_test(bound_mask),
        cmocka_unit_test(without_a_state),
    };
    return cmocka_run_group_tests_name("kept", tests, open_net, close_net);
}
