/* mnn_cpu_calibrate(), and runtimes whose sessions choose algorithms by its result. */
#include <math.h>

#include "runtime.h"

enum { TEXT_BYTES = 4096 };

static char measured[TEXT_BYTES]; /* on the best instruction set */

static void measures(void** state) {
    (void)state;
    size_t max_size = 0, needed = 0;
    assert_ok(mnn_cpu_calibrate(NULL, NULL, NULL, 0, &max_size));
    assert_in_range(max_size, 2, TEXT_BYTES);
    assert_ok(mnn_cpu_calibrate(NULL, NULL, measured, sizeof measured, &needed));
    assert_int_equal(needed, strlen(measured) + 1);
    assert_true(needed <= max_size);
    mnn_cpu_properties_t cpu = {.struct_size = sizeof cpu};
    assert_ok(mnn_cpu_info(&cpu));
    assert_true(cpu.cost_record[0] != '\0');
    char line[96];
    snprintf(line, sizeof line, "\nisa %s\n", strtok(cpu.isas, " "));
    assert_non_null(strstr(measured, line));
}

static void refuses(void** state) {
    (void)state;
    char text[TEXT_BYTES] = "as before";
    size_t needed = 77;
    assert_fails(mnn_cpu_calibrate(NULL, NULL, text, sizeof text, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_cpu_calibrate(NULL, NULL, NULL, sizeof text, &needed), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_cpu_calibrate("mmx", NULL, text, sizeof text, &needed), MNN_ERROR_NOT_FOUND);
    assert_int_equal(needed, 77);
    assert_fails(mnn_cpu_calibrate(NULL, NULL, text, 16, &needed), MNN_ERROR_BUFFER_TOO_SMALL);
    assert_true(needed > 16);
    assert_fails(mnn_cpu_calibrate(NULL, (mnn_cancel_t*)net, text, sizeof text, &needed), MNN_ERROR_BAD_HANDLE);
    mnn_cancel_t* cancel = NULL;
    assert_ok(mnn_cancel_create(&cancel));
    assert_ok(mnn_cancel_trigger(cancel));
    assert_fails(mnn_cpu_calibrate(NULL, cancel, text, sizeof text, &needed), MNN_ERROR_CANCELLED);
    assert_ok(mnn_cancel_destroy(&cancel));
    assert_string_equal(text, "as before");
}

/* The algorithm of the 3x3 convolution c2 in a session of a runtime with these costs, and the scores. */
static void run_with(const char* costs, char* algorithms, size_t capacity, float* scores) {
    mnn_runtime_config_t config = default_runtime_config();
    config.cpu_costs = costs;
    mnn_runtime_t* runtime = make_runtime(&config);
    mnn_session_t* session = session_with(net, runtime, 1);
    assert_ok(mnn_runtime_destroy(&runtime));
    float image[PIXELS];
    for (int i = 0; i < PIXELS; i++) image[i] = (float)(i * 7 % 16) / 16;
    assert_ok(mnn_tensor_write(first_input(session), image, sizeof image, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
    mnn_tensor_t* output = NULL;
    assert_ok(mnn_session_output(session, NULL, &output));
    assert_ok(mnn_tensor_read(output, scores, 10 * sizeof *scores, MNN_FORMAT_NCHW));
    size_t needed = 0;
    assert_ok(mnn_session_report(session, "algorithms", algorithms, capacity, &needed));
    assert_ok(mnn_session_destroy(&session));
}

static void costs_decide(void** state) {
    (void)state;
    char known[4096], own[4096], again[4096];
    float first[10], second[10], third[10];
    run_with(NULL, known, sizeof known, first);
    run_with(measured, own, sizeof own, second);
    for (int i = 0; i < 10; i++) assert_true(fabsf(first[i] - second[i]) < 1e-4f);
    /* The same costs twice give the same algorithms and bits. */
    run_with(measured, again, sizeof again, third);
    assert_string_equal(own, again);
    assert_memory_equal(second, third, sizeof second);
    /* Where transforms are very slow, no convolution uses one. */
    char slow[TEXT_BYTES + 256];
    snprintf(slow, sizeof slow, "%swinogradIn2 900\nwinogradIn4 900\nwinogradIn6 900\n", measured);
    run_with(slow, own, sizeof own, second);
    assert_null(strstr(own, "winograd"));
    for (int i = 0; i < 10; i++) assert_true(fabsf(first[i] - second[i]) < 1e-4f);
}

static void wrong_texts(void** state) {
    (void)state;
    mnn_runtime_config_t config = default_runtime_config();
    mnn_runtime_t* runtime = NULL;
    static const char* const kTexts[] = {"", "copy 3", "mnn_c cpu costs 1\n",
                                         "mnn_c cpu costs 1\nisa avx2\ncopy many\n",
                                         "mnn_c cpu costs 1\nisa avx2\nweather 3\n"};
    for (size_t i = 0; i < sizeof kTexts / sizeof *kTexts; i++) {
        config.cpu_costs = kTexts[i];
        assert_fails(mnn_runtime_create(&config, &runtime), MNN_ERROR_INVALID_VALUE);
    }
    assert_non_null(strstr(mnn_last_error(), "line 3"));
    assert_null(runtime);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measures),
        cmocka_unit_test(refuses),
        cmocka_unit_test(costs_decide),
        cmocka_unit_test(wrong_texts),
    };
    return cmocka_run_group_tests(tests, open_net, close_net);
}
