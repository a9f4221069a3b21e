/* Cancellation tokens are never lost, are accepted by load, creation, resize and run, and may be triggered in a signal
   handler. */
#include "support.h"

#include <pthread.h>
#include <signal.h>

static mnn_interpreter_t* net;
static unsigned char* model;
static size_t model_size;

static int open_net(void** state) {
    (void)state;
    net = NULL;
    model = read_whole_file(MNN_C_DIGITS_MODEL, &model_size);
    return model && mnn_interpreter_create_from_file(MNN_C_DIGITS_MODEL, NULL, &net) == MNN_OK ? 0 : -1;
}

static int close_net(void** state) {
    (void)state;
    free(model);
    return mnn_interpreter_destroy(&net) == MNN_OK ? 0 : -1;
}

static mnn_cancel_t* token(void) {
    mnn_cancel_t* cancel = NULL;
    assert_ok(mnn_cancel_create(&cancel));
    assert_non_null(cancel);
    return cancel;
}

static mnn_status run_with(mnn_session_t* session, mnn_cancel_t* cancel) {
    mnn_run_options_t options;
    assert_ok(mnn_run_options_init(&options, sizeof options));
    options.cancel = cancel;
    return mnn_session_run_with_options(session, &options);
}

static mnn_status resize_with(mnn_session_t* session, mnn_cancel_t* cancel) {
    mnn_resize_options_t options;
    assert_ok(mnn_resize_options_init(&options, sizeof options));
    options.cancel = cancel;
    return mnn_session_resize_with_options(session, &options);
}

static mnn_status load_with(mnn_cancel_t* cancel, mnn_interpreter_t** out) {
    mnn_interpreter_options_t options;
    assert_ok(mnn_interpreter_options_init(&options, sizeof options));
    options.cancel = cancel;
    const mnn_status status = mnn_interpreter_create_from_file(MNN_C_DIGITS_MODEL, &options, out);
    mnn_interpreter_t* other = *out;
    assert_int_equal(mnn_interpreter_create_from_memory(model, model_size, &options, &other), status);
    if (status == MNN_OK) assert_ok(mnn_interpreter_destroy(&other));
    return status;
}

static mnn_status create_with(mnn_cancel_t* cancel, mnn_session_t** out) {
    mnn_schedule_config_t config;
    assert_ok(mnn_schedule_config_init(&config, sizeof config));
    config.cancel = cancel;
    return mnn_session_create(net, &config, out);
}

/* A token that was triggered before the call ends all four of them, repeatedly, until it is reset. */
static void triggered_before(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    mnn_cancel_t* cancel = token();
    float wanted[CLASSES], got[CLASSES], pixels[PIXELS];
    reference_scores(2, wanted);
    fill_pixels(pixels, PIXELS, 2);
    assert_ok(mnn_tensor_write(first_input(session), pixels, sizeof pixels, MNN_FORMAT_NCHW));
    for (int round = 0; round < 3; ++round) {
        assert_ok(mnn_cancel_trigger(cancel));
        assert_ok(mnn_cancel_trigger(cancel));
        for (int again = 0; again < 2; ++again) {
            mnn_interpreter_t* other = UNTOUCHED_POINTER;
            mnn_session_t* none = UNTOUCHED_POINTER;
            assert_fails(run_with(session, cancel), MNN_ERROR_CANCELLED);
            assert_fails(resize_with(session, cancel), MNN_ERROR_CANCELLED);
            assert_fails(load_with(cancel, &other), MNN_ERROR_CANCELLED);
            assert_fails(create_with(cancel, &none), MNN_ERROR_CANCELLED);
            assert_ptr_equal(other, UNTOUCHED_POINTER);
            assert_ptr_equal(none, UNTOUCHED_POINTER);
        }
        assert_ok(mnn_session_run(session)); /* calls without the token are not affected */
        assert_ok(mnn_cancel_reset(cancel));
        assert_ok(mnn_cancel_reset(cancel));
        mnn_interpreter_t* other = NULL;
        mnn_session_t* made = NULL;
        assert_ok(run_with(session, cancel));
        assert_ok(mnn_tensor_read(first_output(session), got, sizeof got, MNN_FORMAT_NCHW));
        assert_memory_equal(got, wanted, sizeof got);
        assert_ok(resize_with(session, cancel));
        assert_ok(load_with(cancel, &other));
        assert_ok(create_with(cancel, &made));
        assert_ok(mnn_session_destroy(&made));
        assert_ok(mnn_interpreter_destroy(&other));
    }
    assert_ok(mnn_cancel_destroy(&cancel));
    assert_ok(mnn_session_destroy(&session));
}

struct act {
    mnn_cancel_t* cancel;
    bool trigger, reset, destroy;
    int calls;
};

static int32_t act_once(void* user_data, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors, size_t count) {
    (void)op, (void)tensors, (void)count;
    struct act* act = user_data;
    if (act->calls++ > 0) return MNN_OP_RUN;
    if (act->trigger) assert_ok(mnn_cancel_trigger(act->cancel));
    if (act->reset) assert_ok(mnn_cancel_reset(act->cancel));
    if (act->destroy) assert_ok(mnn_cancel_destroy(&act->cancel));
    return MNN_OP_RUN;
}

static mnn_status run_acting(mnn_session_t* session, struct act* act) {
    mnn_run_options_t options;
    assert_ok(mnn_run_options_init(&options, sizeof options));
    options.cancel = act->cancel;
    options.before = act_once;
    options.user_data = act;
    return mnn_session_run_with_options(session, &options);
}

/* In the middle of a run: a reset does not save the running call, and a destroyed token cannot end it. */
static void during_a_run(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    struct act act = {.cancel = token(), .trigger = true};
    assert_fails(run_acting(session, &act), MNN_ERROR_CANCELLED);
    assert_int_equal(act.calls, 1);
    assert_ok(mnn_cancel_reset(act.cancel));
    act = (struct act){.cancel = act.cancel, .trigger = true, .reset = true};
    assert_fails(run_acting(session, &act), MNN_ERROR_CANCELLED);
    assert_int_equal(act.calls, 1);
    act = (struct act){.cancel = act.cancel, .reset = true};
    assert_ok(run_acting(session, &act));
    act = (struct act){.cancel = act.cancel, .trigger = true, .destroy = true};
    assert_fails(run_acting(session, &act), MNN_ERROR_CANCELLED);
    assert_null(act.cancel);
    act = (struct act){.cancel = token(), .destroy = true};
    mnn_cancel_t* copy = act.cancel;
    assert_ok(run_acting(session, &act));
    assert_true(act.calls > 1);
    assert_int_equal(mnn_cancel_trigger(copy), MNN_ERROR_BAD_HANDLE);
    assert_fails(mnn_cancel_reset(copy), MNN_ERROR_BAD_HANDLE);
    assert_fails(mnn_cancel_destroy(&copy), MNN_ERROR_BAD_HANDLE);
    assert_fails(run_with(session, copy), MNN_ERROR_BAD_HANDLE);
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_session_destroy(&session));
}

/* A token's slot is used again while a call still holds the old token: the new token does not affect that call. */
static int32_t replace_token(void* user_data, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors,
                             size_t count) {
    (void)op, (void)tensors, (void)count;
    struct act* act = user_data;
    if (act->calls++ > 0) return MNN_OP_RUN;
    assert_ok(mnn_cancel_destroy(&act->cancel));
    for (int i = 0; i < 100; ++i) {
        mnn_cancel_t* other = token();
        assert_ok(mnn_cancel_trigger(other));
        assert_ok(mnn_cancel_destroy(&other));
    }
    return MNN_OP_RUN;
}

static void slots_are_kept_by_calls(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    struct act act = {.cancel = token()};
    mnn_run_options_t options;
    assert_ok(mnn_run_options_init(&options, sizeof options));
    options.cancel = act.cancel;
    options.before = replace_token;
    options.user_data = &act;
    assert_ok(mnn_session_run_with_options(session, &options));
    assert_true(act.calls > 1);
    assert_ok(mnn_session_destroy(&session));
}

/* A resize that is cancelled leaves a session that can be resized. */
static void resizes(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    mnn_cancel_t* cancel = token();
    const int32_t dims[] = {3, 1, 8, 8};
    bool needed = false;
    assert_ok(mnn_session_resize_input(session, first_input(session), dims, 4));
    assert_ok(mnn_cancel_trigger(cancel));
    assert_fails(resize_with(session, cancel), MNN_ERROR_CANCELLED);
    assert_ok(mnn_session_needs_resize(session, &needed));
    assert_true(needed);
    assert_ok(mnn_cancel_reset(cancel));
    assert_ok(resize_with(session, cancel));
    assert_ok(run_with(session, NULL));
    assert_ok(mnn_session_resize_with_options(session, NULL));
    assert_ok(mnn_session_run_with_options(session, NULL));
    assert_ok(mnn_cancel_destroy(&cancel));
    assert_ok(mnn_session_destroy(&session));
}

static mnn_cancel_t* handled;
static volatile sig_atomic_t handler_status;

static void on_signal(int number) {
    (void)number;
    handler_status = mnn_cancel_trigger(handled);
}

static void* trigger_it(void* data) {
    pthread_kill(*(pthread_t*)data, SIGUSR1);
    return NULL;
}

/* One trigger from a signal handler, sent at any moment around the begin of a run, always suffices: it need not be
 * repeated. */
static void one_signal_is_enough(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    struct sigaction action = {.sa_handler = on_signal}, before;
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    pthread_t self = pthread_self();
    for (int round = 0; round < 50; ++round) {
        handled = token();
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, trigger_it, &self), 0);
        mnn_status status = MNN_OK;
        while (status == MNN_OK) status = run_with(session, handled);
        assert_int_equal(status, MNN_ERROR_CANCELLED);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(handler_status, MNN_OK);
        assert_ok(mnn_cancel_destroy(&handled));
    }
    assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_session_destroy(&session));
}

/* A trigger sets no sentence: the sentence of the thread that it interrupts remains. */
static void trigger_leaves_the_sentence(void** state) {
    (void)state;
    assert_fails(mnn_cancel_create(NULL), MNN_ERROR_NULL_ARGUMENT);
    char before[256], after[256];
    copy_last_error(before, sizeof before);
    assert_int_equal(mnn_cancel_trigger(NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_int_equal(mnn_cancel_trigger((mnn_cancel_t*)net), MNN_ERROR_BAD_HANDLE);
    copy_last_error(after, sizeof after);
    assert_string_equal(before, after);
    assert_fails(mnn_cancel_reset(NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_ok(mnn_cancel_destroy(NULL));
    mnn_cancel_t* none = NULL;
    assert_ok(mnn_cancel_destroy(&none));
}

static void options_structs(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    struct {
        mnn_run_options_t run;
        unsigned char later[32];
    } mine;
    struct {
        mnn_resize_options_t resize;
        unsigned char later[32];
    } yours;
    assert_fails(mnn_run_options_init(NULL, sizeof mine.run), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_resize_options_init(NULL, sizeof yours.resize), MNN_ERROR_NULL_ARGUMENT);
    memset(&mine, 0x5a, sizeof mine);
    memset(&yours, 0x5a, sizeof yours);
    const size_t wrong[] = {0, 1, sizeof(size_t), 4097, SIZE_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        assert_fails(mnn_run_options_init(&mine.run, wrong[i]), MNN_ERROR_VERSION_MISMATCH);
        assert_fails(mnn_resize_options_init(&yours.resize, wrong[i]), MNN_ERROR_VERSION_MISMATCH);
        mine.run.struct_size = wrong[i];
        yours.resize.struct_size = wrong[i];
        assert_fails(mnn_session_run_with_options(session, &mine.run), MNN_ERROR_VERSION_MISMATCH);
        assert_fails(mnn_session_resize_with_options(session, &yours.resize), MNN_ERROR_VERSION_MISMATCH);
    }
    assert_ok(mnn_run_options_init(&mine.run, sizeof mine));
    assert_ok(mnn_resize_options_init(&yours.resize, sizeof yours));
    assert_ok(mnn_session_run_with_options(session, &mine.run));
    assert_ok(mnn_session_resize_with_options(session, &yours.resize));
    mine.later[31] = 1;
    yours.later[0] = 1;
    assert_fails(mnn_session_run_with_options(session, &mine.run), MNN_ERROR_VERSION_MISMATCH);
    assert_fails(mnn_session_resize_with_options(session, &yours.resize), MNN_ERROR_VERSION_MISMATCH);
    assert_ok(mnn_session_destroy(&session));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(triggered_before),        cmocka_unit_test(during_a_run),
        cmocka_unit_test(slots_are_kept_by_calls), cmocka_unit_test(resizes),
        cmocka_unit_test(one_signal_is_enough),    cmocka_unit_test(trigger_leaves_the_sentence),
        cmocka_unit_test(options_structs),
    };
    return cmocka_run_group_tests_name("cancel", tests, open_net, close_net);
}
