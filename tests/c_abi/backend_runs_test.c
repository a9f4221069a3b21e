/* Runs and resizes of sessions with a backend of the host: its results, its failures, several sessions at once. */
#include "backend.h"

static mnn_status count_elements(void* user_data, mnn_operator_call_t* call) {
    (void)user_data;
    float* y = call->outputs[0]->data;
    for (size_t i = 0; i < call->outputs[0]->bytes / sizeof *y; ++i) y[i] = (float)i / 8;
    return MNN_OK;
}

/* A reader of the backend's output tensor gets the elements that the backend wrote. */
static void outputs_are_its_own(void** state) {
    (void)state;
    struct host host;
    init_host(&host);
    mnn_runtime_t* runtime = runtime_of(1);
    mnn_backend_t backend = backend_of(&host);
    backend.compute = count_elements;
    int32_t type = 0;
    assert_ok(mnn_runtime_add_backend(runtime, &backend, &type));
    const char* const pooled[] = {"m"};
    mnn_schedule_config_t config = config_of(runtime, type);
    config.save_tensors = pooled;
    config.save_tensor_count = 1;
    mnn_session_t* session = NULL;
    mnn_tensor_t* tensor = NULL;
    assert_ok(mnn_session_create(net, &config, &session));
    assert_ok(mnn_session_output(session, "m", &tensor));
    for (int32_t batch = 1; batch <= 3; batch += 2) {
        static float got[3 * 512];
        assert_ok(resize_batch(session, batch));
        assert_ok(mnn_session_run(session));
        assert_ok(mnn_tensor_read(tensor, got, (size_t)batch * 512 * sizeof *got, MNN_FORMAT_NCHW));
        for (int32_t i = 0; i < batch * 512; ++i)
            if (got[i] != (float)i / 8) fail_msg("element %d is %g", i, (double)got[i]);
    }
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_runtime_destroy(&runtime));
}

static void resizes(void** state) {
    (void)state;
    static float wanted[BATCH * CLASSES];
    struct host host;
    init_host(&host);
    mnn_runtime_t* runtime = runtime_of(2);
    mnn_session_t* session = session_on(runtime, add(runtime, &host));
    check_scores(session, 1);
    batch_scores(2, wanted);
    assert_ok(resize_batch(session, BATCH));
    static float pixels[BATCH * PIXELS], got[BATCH * CLASSES];
    fill_pixels(pixels, BATCH * PIXELS, 2);
    classify(session, pixels, BATCH, got);
    assert_close(got, wanted, BATCH * CLASSES, 1e-4f);
    const int asked = host.asked;
    assert_ok(resize_batch(session, 1)); /* a plan that was kept */
    check_scores(session, 3);
    assert_int_equal(host.asked, asked);
    assert_int_equal(host.prepared, 2);
    assert_ok(resize_batch(session, 2));
    assert_int_equal(host.prepared, 3);
    assert_true(host.asked > asked);
    assert_ok(mnn_session_trim(session));
    assert_int_equal(host.released, 2);
    assert_ok(mnn_session_destroy(&session));
    assert_int_equal(host.released, 3);
    assert_ok(mnn_runtime_destroy(&runtime));
    assert_int_equal(host.finalized, 1);
}

static void check_failure(mnn_status status, mnn_status wanted, const char* which) {
    char text[64];
    assert_int_equal(status, wanted);
    assert_non_null(strstr(mnn_last_error(), "backend 'own' at node 'm'"));
    snprintf(text, sizeof text, "its %s callback returned", which);
    if (!strstr(mnn_last_error(), text)) fail_msg("%s", mnn_last_error());
    if (wanted != MNN_ERROR_INVALID_VALUE) {
        snprintf(text, sizeof text, "%s: what %s says", mnn_status_name(wanted), which);
        if (!strstr(mnn_last_error(), text)) fail_msg("%s", mnn_last_error());
    }
}

static void failures(void** state) {
    (void)state;
    struct host host;
    init_host(&host);
    mnn_runtime_t* runtime = runtime_of(1);
    const mnn_schedule_config_t config = config_of(runtime, add(runtime, &host));
    mnn_session_t* session = UNTOUCHED_POINTER;
    host.at_supports = MNN_ERROR_DEVICE_LOST;
    check_failure(mnn_session_create(net, &config, &session), MNN_ERROR_DEVICE_LOST, "supports");
    host.at_supports = 12345;
    check_failure(mnn_session_create(net, &config, &session), MNN_ERROR_INVALID_VALUE, "supports");
    host.at_supports = MNN_OK;
    host.at_prepare = MNN_ERROR_OUT_OF_MEMORY;
    check_failure(mnn_session_create(net, &config, &session), MNN_ERROR_OUT_OF_MEMORY, "prepare");
    host.at_prepare = MNN_ERROR_NOT_SUPPORTED; /* it had accepted the node before */
    check_failure(mnn_session_create(net, &config, &session), MNN_ERROR_NOT_SUPPORTED, "prepare");
    assert_ptr_equal(session, UNTOUCHED_POINTER);
    host.at_prepare = MNN_OK;
    session = session_on(runtime, config.forward_type);
    host.at_compute = MNN_ERROR_DRIVER;
    check_failure(mnn_session_run(session), MNN_ERROR_DRIVER, "compute");
    host.at_compute = -12345;
    check_failure(mnn_session_run(session), MNN_ERROR_INVALID_VALUE, "compute");
    host.at_compute = MNN_OK;
    check_scores(session, 8);
    host.session = session;
    assert_ok(mnn_session_run(session));
    assert_int_equal(host.called, MNN_ERROR_BUSY);
    host.session = NULL;
    host.at_supports = MNN_ERROR_DEVICE_LOST; /* a resize that fails leaves its sentence for the run */
    const int32_t two[] = {2, 1, 8, 8}, one[] = {1, 1, 8, 8};
    assert_ok(mnn_session_resize_input(session, first_input(session), two, 4));
    check_failure(mnn_session_resize(session), MNN_ERROR_DEVICE_LOST, "supports");
    check_failure(mnn_session_run(session), MNN_ERROR_DEVICE_LOST, "supports");
    assert_ok(mnn_session_resize_input(session, first_input(session), one, 4));
    check_scores(session, 9);
    assert_ok(mnn_session_destroy(&session));
    assert_int_equal(host.prepared, host.released);
    assert_ok(mnn_runtime_destroy(&runtime));
    assert_int_equal(host.finalized, 1);
}

/* Each path of a session has a backend of its own. */
static void in_one_of_two_paths(void** state) {
    (void)state;
    struct host host;
    init_host(&host);
    mnn_runtime_t* runtime = runtime_of(1);
    const char* const pooled[] = {"m"};
    mnn_schedule_config_t configs[] = {config_of(runtime, add(runtime, &host)), default_config()};
    configs[0].outputs = pooled;
    configs[0].output_count = 1;
    mnn_session_t* session = NULL;
    assert_ok(mnn_session_create_paths(net, configs, 2, &session));
    for (size_t i = 0; i < 2; ++i) {
        mnn_session_properties_t info = {.struct_size = sizeof info};
        assert_ok(mnn_session_path_info(session, i, &info));
        assert_int_equal(info.forward_type, configs[i].forward_type);
    }
    float pixels[PIXELS], wanted[CLASSES], got[CLASSES];
    mnn_tensor_t* scores = NULL;
    reference_scores(11, wanted);
    fill_pixels(pixels, PIXELS, 11);
    assert_ok(mnn_session_output(session, "scores", &scores));
    assert_ok(mnn_tensor_write(first_input(session), pixels, sizeof pixels, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_tensor_read(scores, got, sizeof got, MNN_FORMAT_NCHW));
    assert_close(got, wanted, CLASSES, 1e-4f);
    assert_int_equal(host.computed, 1);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_runtime_destroy(&runtime));
    assert_int_equal(host.finalized, 1);
}

enum { SESSIONS = 3, RUNS = 20 };

struct runner {
    mnn_session_t* session;
    uint32_t seed;
    float wanted[CLASSES];
    int wrong;
};

static void* run_often(void* argument) {
    struct runner* runner = argument;
    float pixels[PIXELS], got[CLASSES];
    mnn_tensor_t *input = NULL, *output = NULL;
    fill_pixels(pixels, PIXELS, runner->seed);
    runner->wrong += mnn_session_input(runner->session, NULL, &input) != MNN_OK;
    runner->wrong += mnn_session_output(runner->session, NULL, &output) != MNN_OK;
    for (int run = 0; run < RUNS; ++run) {
        runner->wrong += mnn_tensor_write(input, pixels, sizeof pixels, MNN_FORMAT_NCHW) != MNN_OK;
        runner->wrong += mnn_session_run(runner->session) != MNN_OK;
        runner->wrong += mnn_tensor_read(output, got, sizeof got, MNN_FORMAT_NCHW) != MNN_OK;
        runner->wrong += memcmp(got, runner->wanted, sizeof got) != 0;
    }
    return NULL;
}

static void sessions_at_once(void** state) {
    (void)state;
    struct host host;
    init_host(&host);
    mnn_runtime_t* runtime = runtime_of(2);
    const int32_t type = add(runtime, &host);
    static struct runner runners[SESSIONS];
    pthread_t threads[SESSIONS];
    for (int i = 0; i < SESSIONS; ++i) {
        float pixels[PIXELS];
        runners[i].session = session_on(runtime, type);
        runners[i].seed = (uint32_t)i + 20;
        fill_pixels(pixels, PIXELS, runners[i].seed);
        classify(runners[i].session, pixels, 1, runners[i].wanted);
        check_scores(runners[i].session, runners[i].seed);
    }
    for (int i = 0; i < SESSIONS; ++i) assert_int_equal(pthread_create(&threads[i], NULL, run_often, &runners[i]), 0);
    for (int i = 0; i < SESSIONS; ++i) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(runners[i].wrong, 0);
        assert_ok(mnn_session_destroy(&runners[i].session));
    }
    assert_int_equal(host.computed, SESSIONS * (RUNS + 2));
    assert_int_equal(host.released, SESSIONS);
    assert_ok(mnn_runtime_destroy(&runtime));
    assert_int_equal(host.finalized, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(outputs_are_its_own), cmocka_unit_test(resizes),
                                       cmocka_unit_test(failures), cmocka_unit_test(in_one_of_two_paths),
                                       cmocka_unit_test(sessions_at_once)};
    return cmocka_run_group_tests_name("backend_runs", tests, open_net, close_net);
}
