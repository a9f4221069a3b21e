/* Constants that operators of the net write: they keep their values from run to run. */
#include "net_files.h"

static const float kX[] = {1, 2, 3, 4};

static void run(mnn_session_t* session) {
    assert_ok(mnn_tensor_write(first_input(session), kX, sizeof kX, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
}

/* w starts as x and gains x in each run: w is (k + 1) x after run k. */
static void expect_run(mnn_session_t* session, int k) {
    float before[4], after[4], w[4];
    const float runs = (float)k;
    for (int i = 0; i < 4; ++i) {
        before[i] = (float)k * kX[i] * kX[i];
        after[i] = (float)(k + 1) * kX[i] * kX[i];
        w[i] = (float)(k + 1) * kX[i];
    }
    expect_output(session, "before", before, 4);
    expect_output(session, "after", after, 4);
    expect_constant(session, "w", w, 4);
    expect_constant(session, "runs", &runs, 1);
    float a[6], b[6];
    for (int i = 0; i < 6; ++i) {
        a[i] = (float)(k % 2 == 0 ? i + 1 : i + 7);
        b[i] = (float)(k % 2 == 0 ? i + 7 : i + 1);
    }
    expect_constant(session, "a", a, 6);
    expect_constant(session, "b", b, 6);
}

static void values_last(void** state) {
    (void)state;
    mnn_interpreter_t* variables = open_net_of("variables");
    for (size_t backend = 0; backend < backend_count(); ++backend) {
        mnn_session_t *session = session_on(variables, kBackends[backend]), *other = NULL;
        for (int k = 1; k <= 3; ++k) {
            run(session);
            expect_run(session, k);
        }
        other = session_on(variables, kBackends[backend]);
        run(other); /* it begins with the values of the model */
        expect_run(other, 1);
        run(session);
        expect_run(session, 4);
        assert_ok(mnn_session_destroy(&other));
        assert_ok(mnn_session_destroy(&session));
    }
    assert_ok(mnn_interpreter_destroy(&variables));
}

/* An output that only renames a variable has the value from before the run. */
static void outputs_that_are_variables(void** state) {
    (void)state;
    static const char* const kept = "kept";
    mnn_interpreter_t* variables = open_net_of("variables");
    for (size_t backend = 0; backend < backend_count(); ++backend) {
        mnn_schedule_config_t config = default_config();
        mnn_session_t* session = NULL;
        config.forward_type = kBackends[backend];
        config.save_tensors = &kept;
        config.save_tensor_count = 1;
        assert_ok(mnn_session_create(variables, &config, &session));
        for (int k = 1; k <= 3; ++k) {
            float wanted[6];
            for (int i = 0; i < 6; ++i) wanted[i] = (float)(k % 2 == 1 ? i + 1 : i + 7);
            run(session);
            expect_run(session, k);
            expect_output(session, kept, wanted, 6);
        }
        assert_ok(mnn_session_destroy(&session));
    }
    assert_ok(mnn_interpreter_destroy(&variables));
}

/* Written values take effect with the next run, without a resize. */
static void written_by_the_caller(void** state) {
    (void)state;
    mnn_interpreter_t* variables = open_net_of("variables");
    for (size_t backend = 0; backend < backend_count(); ++backend) {
        mnn_session_t* session = session_on(variables, kBackends[backend]);
        run(session);
        mnn_tensor_t* w = NULL;
        assert_ok(mnn_session_constant(session, "w", &w));
        assert_ok(mnn_tensor_write(w, kX, sizeof kX, MNN_FORMAT_NCHW));
        bool needed = true;
        assert_ok(mnn_session_needs_resize(session, &needed));
        assert_false(needed);
        run(session);
        const float after[] = {2, 8, 18, 32}, w_after[] = {2, 4, 6, 8};
        expect_output(session, "after", after, 4);
        expect_constant(session, "w", w_after, 4);
        /* A constant that no operator writes needs a resize. */
        mnn_tensor_t* one = NULL;
        const int32_t ten = 10;
        assert_ok(mnn_session_constant(session, "one", &one));
        assert_ok(mnn_tensor_write(one, &ten, sizeof ten, MNN_FORMAT_NCHW));
        assert_fails(mnn_session_run(session), MNN_ERROR_BAD_STATE);
        assert_ok(mnn_session_resize(session));
        run(session);
        const float runs = 12;
        expect_constant(session, "runs", &runs, 1);
        assert_ok(mnn_session_destroy(&session));
    }
    assert_ok(mnn_interpreter_destroy(&variables));
}

static int32_t stop(void* user_data, const mnn_op_info_t* info, const mnn_tensor_t* const* tensors, size_t count) {
    (void)tensors;
    (void)count;
    return strcmp(info->name, (const char*)user_data) == 0 ? MNN_OP_STOP : MNN_OP_RUN;
}

/* A run that ends early does not change any variable, whichever operators ran. */
static void runs_that_end_early(void** state) {
    (void)state;
    mnn_interpreter_t* variables = open_net_of("variables");
    mnn_session_t* session = open_session(variables);
    run(session);
    static char last[] = "count";
    assert_ok(mnn_tensor_write(first_input(session), kX, sizeof kX, MNN_FORMAT_NCHW));
    assert_fails(run_watched(session, stop, NULL, last), MNN_ERROR_CALLBACK_STOP);
    mnn_cancel_t* cancel = NULL;
    mnn_run_options_t options;
    assert_ok(mnn_cancel_create(&cancel));
    assert_ok(mnn_cancel_trigger(cancel));
    assert_ok(mnn_run_options_init(&options, sizeof options));
    options.cancel = cancel;
    assert_fails(mnn_session_run_with_options(session, &options), MNN_ERROR_CANCELLED);
    assert_ok(mnn_cancel_destroy(&cancel));
    const float w[] = {2, 4, 6, 8}, runs = 1;
    expect_constant(session, "w", w, 4);
    expect_constant(session, "runs", &runs, 1);
    run(session);
    expect_run(session, 2);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&variables));
}

static mnn_session_t* session_with(mnn_interpreter_t* of, const char* const* outputs, size_t count) {
    mnn_schedule_config_t config = default_config();
    mnn_session_t* session = NULL;
    config.outputs = outputs;
    config.output_count = count;
    assert_ok(mnn_session_create(of, &config, &session));
    return session;
}

/* Outputs chosen by name include the updates that they need, and those of constants that they name. */
static void outputs_by_name(void** state) {
    (void)state;
    static const char *const before[] = {"before"}, *const after[] = {"after"}, *const runs[] = {"before", "runs"};
    mnn_interpreter_t* variables = open_net_of("variables");
    mnn_session_t *reads = session_with(variables, before, 1), *needs = session_with(variables, after, 1),
                  *names = session_with(variables, runs, 2);
    const float start[] = {1, 2, 3, 4}, later[] = {4, 8, 12, 16}, none = 0, three = 3;
    for (int k = 1; k <= 3; ++k) {
        run(reads);
        run(needs);
        run(names);
    }
    expect_constant(reads, "w", start, 4);
    expect_constant(reads, "runs", &none, 1);
    expect_constant(needs, "w", later, 4);
    expect_constant(needs, "runs", &none, 1);
    expect_constant(names, "w", start, 4);
    expect_constant(names, "runs", &three, 1);
    expect_output(names, "runs", &three, 1);
    assert_ok(mnn_session_destroy(&names));
    assert_ok(mnn_session_destroy(&needs));
    assert_ok(mnn_session_destroy(&reads));
    assert_ok(mnn_interpreter_destroy(&variables));
}

/* The values are stored in the interpreter and in its bytes like those that a caller wrote. */
static void stored(void** state) {
    (void)state;
    mnn_interpreter_t *variables = open_net_of("variables"), *again = NULL;
    mnn_session_t* session = open_session(variables);
    run(session);
    run(session);
    assert_ok(mnn_interpreter_update_constants(variables, session));
    size_t size = 0;
    assert_ok(mnn_interpreter_model_bytes(variables, NULL, 0, &size));
    unsigned char* bytes = malloc(size);
    assert_non_null(bytes);
    assert_ok(mnn_interpreter_model_bytes(variables, bytes, size, &size));
    assert_ok(mnn_interpreter_create_from_memory(bytes, size, NULL, &again));
    free(bytes);
    mnn_session_t *later = open_session(variables), *loaded = open_session(again);
    run(session);
    run(later);
    run(loaded);
    expect_run(session, 3);
    expect_run(later, 3);
    expect_run(loaded, 3);
    assert_ok(mnn_session_destroy(&loaded));
    assert_ok(mnn_session_destroy(&later));
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&again));
    assert_ok(mnn_interpreter_destroy(&variables));
}

static void refused(void** state) {
    (void)state;
    mnn_interpreter_t *misfit = open_net_of("misfit"), *variables = open_net_of("variables");
    mnn_session_t* session = UNTOUCHED_POINTER;
    assert_fails(mnn_session_create(misfit, NULL, &session), MNN_ERROR_COMPUTE_SIZE);
    assert_non_null(strstr(mnn_last_error(), "constant 'w' is float32 of shape 2"));
    static const char *const before[] = {"before"}, *const after[] = {"after"};
    mnn_schedule_config_t configs[] = {default_config(), default_config()};
    configs[0].outputs = before;
    configs[1].outputs = after;
    configs[0].output_count = configs[1].output_count = 1;
    assert_fails(mnn_session_create_paths(variables, configs, 2, &session), MNN_ERROR_NOT_SUPPORTED);
    assert_ptr_equal(session, UNTOUCHED_POINTER);
    assert_ok(mnn_interpreter_destroy(&variables));
    assert_ok(mnn_interpreter_destroy(&misfit));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_last),
        cmocka_unit_test(outputs_that_are_variables),
        cmocka_unit_test(written_by_the_caller),
        cmocka_unit_test(runs_that_end_early),
        cmocka_unit_test(outputs_by_name),
        cmocka_unit_test(stored),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
