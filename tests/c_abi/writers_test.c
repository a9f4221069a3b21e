/* Tensors that several operators write, and operators that precede those whose results they read. */
#include "net_files.h"

static void fill(mnn_session_t* session, const char* name, const float* values) {
    mnn_tensor_t* tensor = NULL;
    assert_ok(mnn_session_input(session, name, &tensor));
    assert_ok(mnn_tensor_write(tensor, values, 4 * sizeof *values, MNN_FORMAT_NCHW));
}

static const float kX[] = {1, -2, 3, 0.5f}, kY[] = {10, 20, -30, 40};

/* t = 2 x; seen = t + x; t = 3 seen; difference = t - x. A reader of t gets the value that precedes it in the file. */
static void whole_tensors(void** state) {
    (void)state;
    mnn_interpreter_t* writers = open_net_of("writers");
    for (size_t backend = 0; backend < backend_count(); ++backend) {
        mnn_session_t* session = session_on(writers, kBackends[backend]);
        for (int round = 0; round < 2; ++round) {
            float seen[4], t[4], difference[4];
            for (int i = 0; i < 4; ++i) {
                seen[i] = 3 * kX[i];
                t[i] = 9 * kX[i];
                difference[i] = 8 * kX[i];
            }
            fill(session, "x", kX);
            assert_ok(mnn_session_run(session));
            expect_output(session, "seen", seen, 4);
            expect_output(session, "difference", difference, 4);
            expect_output(session, "t", t, 4); /* the last one */
        }
        assert_ok(mnn_session_destroy(&session));
    }
    assert_ok(mnn_interpreter_destroy(&writers));
}

/* The second operator writes elements 3 to 6 of 8; the first had written 0 to 3. */
static void parts_of_a_tensor(void** state) {
    (void)state;
    mnn_interpreter_t* parts = open_net_of("parts");
    for (size_t backend = 0; backend < backend_count(); ++backend) {
        mnn_session_t* session = session_on(parts, kBackends[backend]);
        float t[8] = {0}, early[8], late[8];
        for (int i = 0; i < 4; ++i) t[i] = kX[i];
        for (int i = 0; i < 8; ++i) early[i] = 2 * t[i];
        for (int i = 0; i < 4; ++i) t[3 + i] = kY[i];
        for (int i = 0; i < 8; ++i) late[i] = 2 * t[i];
        fill(session, "x", kX);
        fill(session, "y", kY);
        assert_ok(mnn_session_run(session));
        expect_output(session, "early", early, 8);
        expect_output(session, "late", late, 8);
        expect_output(session, "t", t, 8);
        assert_ok(mnn_session_destroy(&session));
    }
    assert_ok(mnn_interpreter_destroy(&parts));
}

/* t begins with x[0]; a loop adds the rest of x to its running sum, and the next one multiplies t by x in place. */
static void loops_in_place(void** state) {
    (void)state;
    mnn_interpreter_t* loops = open_net_of("loops");
    for (size_t backend = 0; backend < backend_count(); ++backend) {
        mnn_session_t* session = session_on(loops, kBackends[backend]);
        for (int round = 0; round < 2; ++round) {
            float u[4], y[4], sum = 0;
            for (int i = 0; i < 4; ++i) {
                u[i] = sum += kX[i];
                y[i] = u[i] * kX[i];
            }
            fill(session, "x", kX);
            assert_ok(mnn_session_run(session));
            expect_output(session, "u", u, 4);
            expect_output(session, "y", y, 4);
        }
        assert_ok(mnn_session_destroy(&session));
    }
    assert_ok(mnn_interpreter_destroy(&loops));
}

/* A tensor that the caller provides has one value, whichever operators would write it. */
static void fed_instead(void** state) {
    (void)state;
    static const char *const inputs[] = {"t"}, *const outputs[] = {"difference"};
    mnn_interpreter_t* writers = open_net_of("writers");
    mnn_schedule_config_t config = default_config();
    mnn_session_t* session = NULL;
    config.inputs = inputs;
    config.outputs = outputs;
    config.input_count = config.output_count = 1;
    assert_ok(mnn_session_create(writers, &config, &session));
    float difference[4];
    for (int i = 0; i < 4; ++i) difference[i] = kY[i] - kX[i];
    fill(session, "x", kX);
    fill(session, "t", kY);
    assert_ok(mnn_session_run(session));
    expect_output(session, "difference", difference, 4);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&writers));
}

/* The first operator reads the result of the second; w is read, and then written, in the order of the file. */
static void sorted(void** state) {
    (void)state;
    mnn_interpreter_t* unsorted = open_net_of("unsorted");
    size_t count = 0;
    const char* name = NULL;
    assert_ok(mnn_interpreter_op_count(unsorted, &count));
    assert_int_equal(count, 7);
    assert_ok(mnn_interpreter_op_name(unsorted, 0, &name)); /* numbers stay those of the file */
    assert_string_equal(name, "difference");
    for (size_t backend = 0; backend < backend_count(); ++backend) {
        mnn_session_t* session = session_on(unsorted, kBackends[backend]);
        for (int round = 0; round < 2; ++round) {
            float difference[4], read[4];
            for (int i = 0; i < 4; ++i) {
                const float a = (float)(i + 1), product = kX[i] * a;
                difference[i] = product - a;
                read[i] = (1 + (float)round * product) * product;
            }
            fill(session, "x", kX);
            assert_ok(mnn_session_run(session));
            expect_output(session, "difference", difference, 4);
            expect_output(session, "read", read, 4);
        }
        assert_ok(mnn_session_destroy(&session));
    }
    assert_ok(mnn_interpreter_destroy(&unsorted));
}

static void expect_no_net(const char* file, mnn_status status, const char* sentence) {
    char path[4096];
    mnn_interpreter_t* made = UNTOUCHED_POINTER;
    snprintf(path, sizeof path, MNN_C_NETS_FOLDER "/%s.mnn", file);
    assert_fails(mnn_interpreter_create_from_file(path, NULL, &made), status);
    assert_ptr_equal(made, UNTOUCHED_POINTER);
    if (!strstr(mnn_last_error(), sentence)) fail_msg("'%s' has no '%s'", mnn_last_error(), sentence);
}

static void refused(void** state) {
    (void)state;
    expect_no_net("cycle", MNN_ERROR_CYCLE, "operator 1 'first' waits for its own result");
    expect_no_net("late", MNN_ERROR_BAD_FORMAT, "operator 1 'reader' reads tensor 1, which has 2 writers");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_tensors),  cmocka_unit_test(parts_of_a_tensor),
        cmocka_unit_test(loops_in_place), cmocka_unit_test(fed_instead),
        cmocka_unit_test(sorted),         cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
