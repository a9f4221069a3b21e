/* The state that a session keeps from run to run: it is saved, loaded and limited, and runs that end early leave it as
 * it was. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kept_net.h"
#include "net_files.h"

#include "child.h"

static void saved_and_loaded(void** state) {
    (void)state;
    mnn_interpreter_t* of = open_net_of("kept");
    mnn_session_t* session = open_kept(of);
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
    session = open_kept(of);
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

/* A child computes 270 tokens and writes its state to a file. */
static int compute_and_save(const char* path) {
    mnn_session_t* session = open_kept(open_net_of("kept"));
    struct tokens all;
    make_tokens(&all, 3, 270);
    go_on(session, &all, 0);
    size_t size = 0;
    const unsigned char* bytes = saved_of(session, &size);
    FILE* file = fopen(path, "wb");
    return file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0 ? 0 : 1;
}

static void goes_on_in_another_process(void** state) {
    (void)state;
    char path[] = "/tmp/mnn_state_XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_int_equal(result_of_child(compute_and_save, path), 0);
    size_t size = 0;
    unsigned char* bytes = read_whole_file(path, &size);
    assert_non_null(bytes);
    unlink(path);

    mnn_interpreter_t* of = open_net_of("kept");
    mnn_session_t *computed = open_kept(of), *loaded = open_kept(of);
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

static void room_for_rows(void** state) {
    (void)state;
    mnn_interpreter_t* of = open_net_of("kept");
    mnn_session_t* session = open_kept(of);
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
    config.forward_type = kept_backend;
    mnn_session_t* session = NULL;
    config.max_memory_bytes = 1 << 20;
    assert_ok(mnn_session_create(of, &config, &session));
    struct tokens all;
    make_tokens(&all, 3, 2);
    go_on(session, &all, 0);
    assert_fails(mnn_session_state_reserve(session, 100000), MNN_ERROR_LIMIT_EXCEEDED);
    expect_length(session, 2);
    /* The reservation failed, but the pages that it could still allocate stay. */
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
    config.forward_type = kept_backend;
    mnn_session_t *large = open_kept(of), *small = open_kept(of);
    struct tokens all;
    make_tokens(&all, 50, 2);
    go_on(small, &all, 0);
    make_tokens(&all, 50, 3);
    go_on(small, &all, 2);
    /* The limit leaves room for what these runs need, but not for another page of each operator. */
    config.max_memory_bytes = statistics_of(small).memory_bytes + state_of(small).bytes / 2;
    assert_ok(mnn_session_destroy(&small));
    assert_ok(mnn_session_create(of, &config, &small));
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

/* A session whose callbacks see one operator after another, also on a device. */
static mnn_session_t* open_shown(mnn_interpreter_t* of) {
    mnn_schedule_config_t config = default_config();
    mnn_session_t* session = NULL;
    config.forward_type = kept_backend;
    config.gpu_mode = MNN_GPU_RECORD_OP;
    assert_ok(mnn_session_create(of, &config, &session));
    return session;
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

static int32_t skip_attention(void* user_data, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors,
                              size_t count) {
    (void)user_data, (void)tensors, (void)count;
    return strcmp(op->type_name, "Attention") == 0 ? MNN_OP_SKIP : MNN_OP_RUN;
}

/* A run that stops before or after any operator leaves the state as it was. */
static void stopped_runs(void** state) {
    (void)state;
    mnn_interpreter_t* of = open_net_of("kept");
    mnn_session_t* session = open_shown(of);
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
    assert_fails(run_watched(session, skip_attention, NULL, NULL), MNN_ERROR_NOT_SUPPORTED);
    assert_non_null(strstr(mnn_last_error(), "which keeps what it computes"));
    expect_length(session, 260);
    go_on(session, &all, 260);
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
    struct meddling meddling = {open_kept(of), open_kept(of), {0}};
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
    mnn_session_t* session = open_shown(of);
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

/* A child of fork() touches no memory of a device that its parent computes in. */
static void forked_child(void** state) {
    (void)state;
    mnn_interpreter_t* of = open_net_of("kept");
    mnn_session_t *session = open_kept(of), *other = open_kept(of);
    struct tokens all;
    make_tokens(&all, 3, 4);
    go_on(session, &all, 0);
    go_on(other, &all, 0);
    size_t size = 0;
    unsigned char* bytes = saved_of(session, &size);
    make_tokens(&all, 3, 5);
    feed_kept(session, &all, 4);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const mnn_status got[] = {mnn_session_run(session), mnn_session_state_erase(session, 0, 1),
                                  mnn_session_state_copy(other, session), mnn_session_state_load(session, bytes, size),
                                  mnn_session_state_save(session, bytes, size, &size)};
        for (int i = 0; i < 5; ++i)
            if (got[i] != MNN_ERROR_BAD_STATE) _exit(i + 1);
        _exit(0);
    }
    int result = -1;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 0);
    assert_ok(mnn_session_run(session));
    expect_kept(session, &all, 4, 2e-6);
    free(bytes);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_session_destroy(&other));
    assert_ok(mnn_interpreter_destroy(&of));
}

int main(int argc, char** argv) {
    if (argc == 3 && strcmp(argv[1], CHILD) == 0) return compute_and_save(argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saved_and_loaded), cmocka_unit_test(room_for_rows),   cmocka_unit_test(limited),
        cmocka_unit_test(limited_copies),   cmocka_unit_test(stopped_runs),    cmocka_unit_test(beside_a_run),
        cmocka_unit_test(cancelled_runs),   cmocka_unit_test(without_a_state),
    };
    /* A child cannot use a device that its parent has. */
    const struct CMUnitTest forking[] = {cmocka_unit_test(goes_on_in_another_process)};
    int failed = cmocka_run_group_tests_name("kept_state, two processes", forking, open_net, close_net);
    for (size_t i = 0; i < backend_count(); ++i) {
        kept_backend = kBackends[i];
        failed +=
            cmocka_run_group_tests_name(i == 0 ? "kept_state" : "kept_state on a device", tests, open_net, close_net);
    }
    const struct CMUnitTest devices[] = {cmocka_unit_test(forked_child)};
    if (kept_backend != MNN_FORWARD_CPU)
        failed += cmocka_run_group_tests_name("kept_state, a child", devices, open_net, close_net);
    return failed;
}
