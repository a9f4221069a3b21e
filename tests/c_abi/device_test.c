/* Devices, and the choice among them by a configuration. Passes with and without a Vulkan device. */
#include <math.h>

#include "support.h"

/* Returns the devices of the Vulkan backend; without any, the sentence must say why. */
static size_t vulkan_devices(void) {
    size_t count = UNTOUCHED_SIZE;
    const mnn_status status = mnn_device_count(MNN_FORWARD_VULKAN, &count);
    if (status == MNN_OK) {
        assert_true(count > 0);
    } else {
        assert_fails(status, MNN_ERROR_BACKEND_MISSING);
        assert_int_equal(count, 0);
    }
    return count;
}

static void the_cpu_has_none(void** state) {
    (void)state;
    size_t count = UNTOUCHED_SIZE;
    assert_ok(mnn_device_count(MNN_FORWARD_CPU, &count));
    assert_int_equal(count, 0);
    mnn_device_properties_t info;
    info.struct_size = sizeof info;
    assert_fails(mnn_device_info(MNN_FORWARD_CPU, 0, &info), MNN_ERROR_BAD_INDEX);
}

static void wrong_arguments(void** state) {
    (void)state;
    const int32_t types[] = {-1, 1, MNN_FORWARD_AUTO, 8, INT32_MAX};
    mnn_device_properties_t info;
    memset(&info, 0x5a, sizeof info);
    info.struct_size = sizeof info;
    for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
        size_t count = UNTOUCHED_SIZE;
        assert_fails(mnn_device_count(types[i], &count), MNN_ERROR_INVALID_VALUE);
        assert_int_equal(count, UNTOUCHED_SIZE);
        assert_fails(mnn_device_info(types[i], 0, &info), MNN_ERROR_INVALID_VALUE);
    }
    assert_fails(mnn_device_count(MNN_FORWARD_CPU, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_device_count(MNN_FORWARD_VULKAN, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_device_info(MNN_FORWARD_VULKAN, 0, NULL), MNN_ERROR_NULL_ARGUMENT);
    const size_t count = vulkan_devices();
    const mnn_status wanted = count ? MNN_ERROR_BAD_INDEX : MNN_ERROR_BACKEND_MISSING;
    assert_fails(mnn_device_info(MNN_FORWARD_VULKAN, count, &info), wanted);
    assert_fails(mnn_device_info(MNN_FORWARD_VULKAN, SIZE_MAX, &info), wanted);
    assert_int_equal(info.memory_bytes, 0x5a5a5a5a5a5a5a5a);
    info.struct_size = sizeof info - 1;
    assert_fails(mnn_device_info(MNN_FORWARD_VULKAN, 0, &info), MNN_ERROR_VERSION_MISMATCH);
}

static void each_is_described(void** state) {
    (void)state;
    const size_t count = vulkan_devices();
    if (count == 0) skip();
    struct {
        mnn_device_properties_t info;
        unsigned char later[8];
    } caller;
    for (size_t i = 0; i < count; ++i) {
        memset(&caller, 0x5a, sizeof caller);
        caller.info.struct_size = sizeof caller;
        assert_ok(mnn_device_info(MNN_FORWARD_VULKAN, i, &caller.info));
        assert_int_equal(caller.info.struct_size, sizeof caller);
        for (size_t k = 0; k < sizeof caller.later; ++k) assert_int_equal(caller.later[k], 0x5a);
        const mnn_device_properties_t* info = &caller.info;
        assert_true(info->name[0] && memchr(info->name, 0, sizeof info->name));
        assert_non_null(memchr(info->driver, 0, sizeof info->driver));
        assert_true(!strcmp(info->kind, "discrete") || !strcmp(info->kind, "integrated") ||
                    !strcmp(info->kind, "virtual") || !strcmp(info->kind, "cpu") || !strcmp(info->kind, "other"));
        assert_true(info->api_version >= (1u << 22 | 1u << 12));
        assert_true(info->memory_bytes > 0);
        assert_true(info->subgroup_size >= 1);
        assert_true(info->subgroup_arithmetic == 0 || info->subgroup_arithmetic == 1);
        assert_true(info->fp16_storage == 0 || info->fp16_storage == 1);
        assert_true(info->fp16_arithmetic == 0 || info->fp16_arithmetic == 1);
    }
}

static mnn_status create_on(const char* device, int32_t gpu_mode, mnn_session_t** session) {
    mnn_interpreter_t* net = open_digits();
    mnn_schedule_config_t config;
    assert_ok(mnn_schedule_config_init(&config, sizeof config));
    config.forward_type = MNN_FORWARD_VULKAN;
    config.gpu_mode = gpu_mode;
    config.device = device;
    const mnn_status status = mnn_session_create(net, &config, session);
    char sentence[1024];
    copy_last_error(sentence, sizeof sentence);
    assert_ok(mnn_interpreter_destroy(&net));
    if (status != MNN_OK) { /* destroying has not changed the sentence */
        assert_string_equal(sentence, mnn_last_error());
    }
    return status;
}

/* By index, UUID and a part of the name, in any case of letters. */
static void each_can_be_chosen(void** state) {
    (void)state;
    const size_t count = vulkan_devices();
    if (count == 0) skip();
    for (size_t i = 0; i < count; ++i) {
        mnn_device_properties_t info;
        info.struct_size = sizeof info;
        assert_ok(mnn_device_info(MNN_FORWARD_VULKAN, i, &info));
        char index[24], uuid[33], part[8];
        snprintf(index, sizeof index, "%zu", i);
        for (size_t k = 0; k < 16; ++k) snprintf(uuid + 2 * k, 3, "%02X", info.uuid[k]);
        snprintf(part, sizeof part, "%.7s", info.name);
        const char* wanted[] = {index, uuid, info.name, part};
        for (size_t k = 0; k < 4; ++k) {
            mnn_session_t* session = NULL;
            assert_ok(create_on(wanted[k], 0, &session));
            assert_ok(mnn_session_destroy(&session));
        }
    }
}

static void unknown_ones_are_named(void** state) {
    (void)state;
    const size_t count = vulkan_devices();
    mnn_session_t* session = UNTOUCHED_POINTER;
    assert_fails(create_on("no such device 4711", 0, &session), MNN_ERROR_BACKEND_MISSING);
    assert_ptr_equal(session, UNTOUCHED_POINTER);
    if (count == 0) return;
    assert_non_null(strstr(mnn_last_error(), "no such device 4711"));
    char sentence[1024];
    copy_last_error(sentence, sizeof sentence);
    for (size_t i = 0; i < count; ++i) {
        mnn_device_properties_t info;
        info.struct_size = sizeof info;
        assert_ok(mnn_device_info(MNN_FORWARD_VULKAN, i, &info));
        assert_non_null(strstr(sentence, info.name));
    }
    assert_fails(create_on("4711", 0, &session), MNN_ERROR_BACKEND_MISSING);
    assert_non_null(strstr(mnn_last_error(), "4711"));
    assert_fails(create_on("0123456789abcdef0123456789abcdef", 0, &session), MNN_ERROR_BACKEND_MISSING);
}

static void gpu_modes(void** state) {
    (void)state;
    const int32_t wrong[] = {-1,
                             32,
                             1024 | MNN_GPU_TUNING_WIDE,
                             MNN_GPU_TUNING_NONE | MNN_GPU_TUNING_FAST,
                             MNN_GPU_MEMORY_BUFFER | MNN_GPU_MEMORY_IMAGE,
                             MNN_GPU_RECORD_OP | MNN_GPU_RECORD_BATCH,
                             INT32_MAX};
    mnn_session_t* session = UNTOUCHED_POINTER;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        assert_fails(create_on(NULL, wrong[i], &session), MNN_ERROR_INVALID_VALUE);
        assert_ptr_equal(session, UNTOUCHED_POINTER);
    }
    if (vulkan_devices() == 0) {
        assert_fails(create_on(NULL, MNN_GPU_RECORD_OP, &session), MNN_ERROR_BACKEND_MISSING);
        return;
    }
    /* Kinds of memory and of recording change no result (tests/vulkan checks the recording itself); where kernels are
     * measured, others may be chosen, which round in other places. */
    const int32_t modes[] = {0,
                             MNN_GPU_RECORD_OP,
                             MNN_GPU_RECORD_BATCH,
                             MNN_GPU_TUNING_HEAVY,
                             MNN_GPU_TUNING_FAST | MNN_GPU_MEMORY_IMAGE | MNN_GPU_RECORD_OP,
                             MNN_GPU_TUNING_NONE | MNN_GPU_MEMORY_BUFFER | MNN_GPU_RECORD_BATCH};
    enum { kMeasured = MNN_GPU_TUNING_HEAVY | MNN_GPU_TUNING_WIDE | MNN_GPU_TUNING_NORMAL | MNN_GPU_TUNING_FAST };
    enum { MODES = sizeof modes / sizeof *modes };
    float scores[MODES][CLASSES], pixels[PIXELS];
    fill_pixels(pixels, PIXELS, 5);
    for (size_t i = 0; i < MODES; ++i) {
        session = NULL;
        assert_ok(create_on(NULL, modes[i], &session));
        classify(session, pixels, 1, scores[i]);
        assert_ok(mnn_session_destroy(&session));
        if (!(modes[i] & kMeasured)) assert_memory_equal(scores[i], scores[0], sizeof scores[0]);
        for (int c = 0; c < CLASSES; ++c) assert_true(fabsf(scores[i][c] - scores[0][c]) < 1e-5f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cpu_has_none),       cmocka_unit_test(wrong_arguments),
        cmocka_unit_test(each_is_described),      cmocka_unit_test(each_can_be_chosen),
        cmocka_unit_test(unknown_ones_are_named), cmocka_unit_test(gpu_modes),
    };
    return cmocka_run_group_tests_name("device", tests, NULL, NULL);
}
