/* fp32_operators of a configuration: single operators of a session of low precision keep 32 bits. Cases that need a GPU
 * which stores 16 bits are skipped without one. */
#include <math.h>

#include "digits_net.h"

static mnn_schedule_config_t low(int32_t forward_type, const char* const* names, size_t count) {
    mnn_schedule_config_t config = default_config();
    config.forward_type = forward_type;
    config.precision = MNN_PRECISION_LOW;
    config.fp32_operators = names;
    config.fp32_operator_count = count;
    return config;
}

/* A session whose only output is the first convolution's, as floats that 16 bits cannot hold. */
static void first_convolution(mnn_schedule_config_t config, const char* tensor, float* values, size_t* count) {
    mnn_session_t* session = NULL;
    float pixels[PIXELS];
    config.outputs = &tensor;
    config.output_count = 1;
    assert_ok(mnn_session_create(net, &config, &session));
    fill_pixels(pixels, PIXELS, 2);
    for (size_t i = 0; i < PIXELS; ++i) pixels[i] = 1000 * pixels[i] + 300000; /* above 65504 */
    assert_ok(mnn_tensor_write(first_input(session), pixels, sizeof pixels, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
    size_t bytes = 0;
    assert_ok(mnn_tensor_byte_size(first_output(session), MNN_FORMAT_NCHW, &bytes));
    *count = bytes / sizeof(float);
    assert_true(*count <= 4096);
    assert_ok(mnn_tensor_read(first_output(session), values, bytes, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_destroy(&session));
}

static bool stores_16_bits(void) {
    mnn_device_properties_t device = {.struct_size = sizeof device};
    return has_device() && mnn_device_info(MNN_FORWARD_VULKAN, 0, &device) == MNN_OK && device.fp16_storage;
}

static size_t count_of_infinite(const float* values, size_t count) {
    size_t infinite = 0;
    for (size_t i = 0; i < count; ++i) infinite += !isfinite(values[i]);
    return infinite;
}

static void one_layer_on_a_gpu(void** state) {
    (void)state;
    if (!stores_16_bits()) skip();
    static float wanted[4096], got[4096];
    size_t count = 0;
    const char* tensor = NULL;
    const char* name = NULL;
    const char* type = NULL;
    size_t index = 0;
    do {
        assert_ok(mnn_interpreter_op_type(net, index++, &type));
    } while (strcmp(type, "Convolution") != 0);
    assert_ok(mnn_interpreter_op_name(net, index - 1, &name));
    assert_ok(mnn_interpreter_op_output_name(net, index - 1, 0, &tensor));
    mnn_schedule_config_t config = default_config();
    first_convolution(config, tensor, wanted, &count);
    assert_int_equal(count_of_infinite(wanted, count), 0);
    first_convolution(low(MNN_FORWARD_VULKAN, NULL, 0), tensor, got, &count);
    assert_true(count_of_infinite(got, count) > 0);
    first_convolution(low(MNN_FORWARD_VULKAN, &name, 1), tensor, got, &count);
    assert_int_equal(count_of_infinite(got, count), 0);
    assert_close(got, wanted, count, 1e-4f);
    /* In normal precision the names change nothing. */
    config = low(MNN_FORWARD_VULKAN, &name, 1);
    config.precision = MNN_PRECISION_NORMAL;
    first_convolution(config, tensor, got, &count);
    assert_close(got, wanted, count, 1e-4f);
}

static size_t names_of_all(const char** names, size_t max_count) {
    size_t count = 0;
    assert_ok(mnn_interpreter_op_count(net, &count));
    assert_true(count <= max_count);
    for (size_t i = 0; i < count; ++i) assert_ok(mnn_interpreter_op_name(net, i, &names[i]));
    return count;
}

/* With all operators named, and in sessions of one interpreter with and without names. */
static void all_layers(void** state) {
    (void)state;
    const char* names[64];
    const size_t count = names_of_all(names, 64);
    const int32_t types[] = {MNN_FORWARD_CPU, MNN_FORWARD_VULKAN};
    float wanted[CLASSES], got[CLASSES], pixels[PIXELS];
    reference_scores(6, wanted);
    fill_pixels(pixels, PIXELS, 6);
    for (size_t i = 0; i < (stores_16_bits() ? 2u : 1u); ++i) {
        mnn_session_t *plain = NULL, *named = NULL;
        mnn_schedule_config_t config = low(types[i], NULL, 0);
        assert_ok(mnn_session_create(net, &config, &plain));
        config = low(types[i], names, count);
        assert_ok(mnn_session_create(net, &config, &named));
        for (int round = 0; round < 2; ++round) {
            classify(named, pixels, 1, got);
            assert_close(got, wanted, CLASSES, 1e-5f);
            classify(plain, pixels, 1, got);
            assert_close(got, wanted, CLASSES, 2e-2f);
        }
        assert_ok(mnn_session_destroy(&named));
        assert_ok(mnn_session_destroy(&plain));
    }
}

static void misuse(void** state) {
    (void)state;
    const char* names[] = {"no operator has this name"};
    mnn_session_t* session = UNTOUCHED_POINTER;
    mnn_schedule_config_t config = low(MNN_FORWARD_CPU, names, 1);
    assert_fails(mnn_session_create(net, &config, &session), MNN_ERROR_NOT_FOUND);
    assert_non_null(strstr(mnn_last_error(), names[0]));
    config.precision = MNN_PRECISION_NORMAL;
    assert_fails(mnn_session_create(net, &config, &session), MNN_ERROR_NOT_FOUND);
    config.fp32_operators = NULL;
    assert_fails(mnn_session_create(net, &config, &session), MNN_ERROR_NULL_ARGUMENT);
    names[0] = NULL;
    config.fp32_operators = names;
    assert_fails(mnn_session_create(net, &config, &session), MNN_ERROR_NULL_ARGUMENT);
    assert_ptr_equal(session, UNTOUCHED_POINTER);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_layer_on_a_gpu),
        cmocka_unit_test(all_layers),
        cmocka_unit_test(misuse),
    };
    return cmocka_run_group_tests_name("fp32_operators", tests, open_net, close_net);
}
