/* mnn_schedule_config_t: its fields, backends and instruction sets, and its limits. */
#include <stddef.h>

#include "digits_net.h"

/* The size of the struct's first version. */
enum { FIRST_SIZE = offsetof(mnn_schedule_config_t, tuning_operators) };

static void config_init(void** state) {
    (void)state;
    struct {
        mnn_schedule_config_t config;
        unsigned char later[32];
    } mine;
    const mnn_schedule_config_t zero = {.struct_size = sizeof zero};
    memset(&mine, 0x5a, sizeof mine);
    assert_ok(mnn_schedule_config_init(&mine.config, sizeof mine.config));
    assert_memory_equal(&mine.config, &zero, sizeof zero);
    for (size_t i = 0; i < sizeof mine.later; ++i) assert_int_equal(mine.later[i], 0x5a);
    assert_ok(mnn_schedule_config_init(&mine.config, sizeof mine));
    assert_int_equal(mine.config.struct_size, sizeof mine);
    for (size_t i = 0; i < sizeof mine.later; ++i) assert_int_equal(mine.later[i], 0);
    mnn_session_t* session = NULL;
    assert_ok(mnn_session_create(net, &mine.config, &session));
    assert_ok(mnn_session_destroy(&session));
    memset(&mine, 0x5a, sizeof mine);
    const size_t small[] = {0, 1, sizeof(size_t), FIRST_SIZE - 1};
    for (size_t i = 0; i < sizeof small / sizeof *small; ++i)
        assert_fails(mnn_schedule_config_init(&mine.config, small[i]), MNN_ERROR_VERSION_MISMATCH);
    for (size_t i = 0; i < sizeof mine; ++i) assert_int_equal(((unsigned char*)&mine)[i], 0x5a);
    assert_fails(mnn_schedule_config_init(NULL, sizeof zero), MNN_ERROR_NULL_ARGUMENT);
}

static void config_values(void** state) {
    (void)state;
    const int32_t odd[] = {-1, 1000, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; ++i) {
#define FIELD(field, wanted)                             \
    do {                                                 \
        mnn_schedule_config_t config = default_config(); \
        config.field = odd[i];                           \
        assert_refused(&config, wanted);                 \
    } while (0)
        FIELD(forward_type, MNN_ERROR_INVALID_VALUE);
        FIELD(backup_type, MNN_ERROR_INVALID_VALUE);
        FIELD(allow_fallback, MNN_ERROR_INVALID_VALUE);
        FIELD(threads, MNN_ERROR_BAD_RANGE);
        FIELD(precision, MNN_ERROR_INVALID_VALUE);
        FIELD(memory, MNN_ERROR_INVALID_VALUE);
        FIELD(power, MNN_ERROR_INVALID_VALUE);
        FIELD(gpu_mode, MNN_ERROR_INVALID_VALUE);
#undef FIELD
    }
    mnn_schedule_config_t config = default_config();
    config.threads = MNN_MAX_THREADS + 1;
    assert_refused(&config, MNN_ERROR_BAD_RANGE);
    const int32_t not_listed[] = {1, 2, 3, 5, 6, 8, 9, 13};
    for (size_t i = 0; i < sizeof not_listed / sizeof *not_listed; ++i) {
        config = default_config();
        config.forward_type = not_listed[i];
        assert_refused(&config, MNN_ERROR_INVALID_VALUE);
    }
    config = default_config();
    const size_t wrong[] = {0, sizeof(size_t), FIRST_SIZE - 1, 4097, 1 << 20, SIZE_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        config.struct_size = wrong[i];
        assert_refused(&config, MNN_ERROR_VERSION_MISMATCH);
    }
    /* Programs that were compiled with the first version: the memory behind their struct is not read. */
    config = default_config();
    memset((char*)&config + FIRST_SIZE, 0xff, sizeof config - FIRST_SIZE);
    config.struct_size = FIRST_SIZE;
    mnn_session_t* session = NULL;
    assert_ok(mnn_session_create(net, &config, &session));
    assert_ok(mnn_session_destroy(&session));
    /* A field that this version does not know is not ignored silently. */
    struct {
        mnn_schedule_config_t config;
        unsigned char later[32];
    } longer;
    assert_ok(mnn_schedule_config_init(&longer.config, sizeof longer));
    longer.later[31] = 1;
    assert_refused(&longer.config, MNN_ERROR_VERSION_MISMATCH);
    /* The CPU has no devices to choose. */
    config = default_config();
    config.device = "0";
    assert_refused(&config, MNN_ERROR_INVALID_VALUE);
}

/* All listed values of every mode work, and give the scores within the accuracy that the precision promises. */
static void config_modes(void** state) {
    (void)state;
    float wanted[CLASSES], got[CLASSES], pixels[PIXELS];
    reference_scores(5, wanted);
    fill_pixels(pixels, PIXELS, 5);
    for (int32_t precision = 0; precision <= MNN_PRECISION_LOW_BF16; ++precision)
        for (int32_t memory = 0; memory <= MNN_MEMORY_LOW; ++memory) {
            mnn_schedule_config_t config = default_config();
            config.precision = precision;
            config.memory = memory;
            mnn_session_t* session = NULL;
            assert_ok(mnn_session_create(net, &config, &session));
            classify(session, pixels, 1, got);
            assert_close(got, wanted, CLASSES, precision >= MNN_PRECISION_LOW ? 0.05f : 1e-4f);
            assert_ok(mnn_session_destroy(&session));
        }
}

static void threads(void** state) {
    (void)state;
    float wanted[CLASSES], got[CLASSES], pixels[PIXELS];
    reference_scores(6, wanted);
    fill_pixels(pixels, PIXELS, 6);
    const int32_t counts[] = {0, 1, 2, 3, MNN_MAX_THREADS};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
        mnn_schedule_config_t config = default_config();
        config.threads = counts[i];
        mnn_session_t* session = NULL;
        assert_ok(mnn_session_create(net, &config, &session));
        classify(session, pixels, 1, got);
        assert_close(got, wanted, CLASSES, 1e-4f);
        assert_ok(mnn_session_destroy(&session));
    }
}

static void instruction_sets(void** state) {
    (void)state;
    mnn_schedule_config_t config = default_config();
    config.cpu_isa = "abacus";
    assert_refused(&config, MNN_ERROR_NOT_FOUND);
    assert_non_null(strstr(mnn_last_error(), "abacus"));
    float wanted[CLASSES], got[CLASSES], pixels[PIXELS];
    reference_scores(7, wanted);
    fill_pixels(pixels, PIXELS, 7);
    const char* names[] = {"portable", "sse4", "avx2", "avx512", "neon"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        mnn_session_t* session = NULL;
        config.cpu_isa = names[i];
        const mnn_status status = mnn_session_create(net, &config, &session);
        if (strcmp(names[i], MNN_C_LOWEST_ISA) != 0 && status != MNN_OK) { /* this machine or build does not have it */
            assert_fails(status, MNN_ERROR_NOT_FOUND);
            if (strstr(mnn_last_error(), "this CPU does not run"))
                assert_non_null(strstr(mnn_last_error(), MNN_C_LOWEST_ISA));
            assert_null(session);
            continue;
        }
        assert_ok(status);
        classify(session, pixels, 1, got);
        assert_close(got, wanted, CLASSES, 1e-4f);
        assert_ok(mnn_session_destroy(&session));
    }
}

/* The places where the Vulkan loader looks for drivers, each time that it is opened. */
static const char* const driver_paths[] = {"VK_DRIVER_FILES", "VK_ICD_FILENAMES"};
static char* drivers_before[2];

static int hide_drivers(void** state) {
    (void)state;
    for (size_t i = 0; i < 2; ++i) {
        const char* path = getenv(driver_paths[i]);
        drivers_before[i] = path ? strdup(path) : NULL;
        setenv(driver_paths[i], "/no-such-driver.json", 1);
    }
    return 0;
}

static int show_drivers(void** state) {
    (void)state;
    for (size_t i = 0; i < 2; ++i) {
        if (drivers_before[i])
            setenv(driver_paths[i], drivers_before[i], 1);
        else
            unsetenv(driver_paths[i]);
        free(drivers_before[i]);
    }
    return 0;
}

/* Vulkan on a machine without a driver, or in a build without it. */
static void missing_backend(void** state) {
    (void)state;
    mnn_schedule_config_t config = default_config();
    config.forward_type = MNN_FORWARD_VULKAN;
    assert_refused(&config, MNN_ERROR_BACKEND_MISSING);
    config.backup_type = MNN_FORWARD_VULKAN;
    config.allow_fallback = 1;
    assert_refused(&config, MNN_ERROR_BACKEND_MISSING);
    float wanted[CLASSES], got[CLASSES], pixels[PIXELS];
    reference_scores(8, wanted);
    fill_pixels(pixels, PIXELS, 8);
    config.backup_type = MNN_FORWARD_CPU;
    mnn_session_t* session = NULL;
    assert_ok(mnn_session_create(net, &config, &session));
    classify(session, pixels, 1, got);
    assert_memory_equal(got, wanted, sizeof got);
    size_t ops = 0;
    assert_ok(mnn_session_op_count(session, &ops));
    for (size_t i = 0; i < ops; ++i) {
        mnn_op_info_t info = {.struct_size = sizeof info};
        assert_ok(mnn_session_op_info(session, i, &info));
        assert_string_equal(info.backend_name, "cpu");
    }
    assert_ok(mnn_session_destroy(&session));
    config = default_config();
    config.forward_type = MNN_FORWARD_AUTO;
    assert_ok(mnn_session_create(net, &config, &session));
    classify(session, pixels, 1, got);
    assert_memory_equal(got, wanted, sizeof got);
    assert_ok(mnn_session_destroy(&session));
}

static void memory_limit(void** state) {
    (void)state;
    mnn_schedule_config_t config = default_config();
    const uint64_t tiny[] = {1, 64, 1000, 4096};
    for (size_t i = 0; i < 4; ++i) {
        config.max_memory_bytes = tiny[i];
        assert_refused(&config, MNN_ERROR_LIMIT_EXCEEDED);
        if (i == 0) assert_non_null(strstr(mnn_last_error(), "bytes, more than max_memory_bytes (1)"));
    }
    const uint64_t plenty[] = {64u << 20, UINT64_MAX, INT64_MAX, (uint64_t)INT64_MAX + 1};
    for (size_t i = 0; i < 4; ++i) {
        config.max_memory_bytes = plenty[i];
        config.max_loop_iterations = plenty[i];
        mnn_session_t* session = NULL;
        assert_ok(mnn_session_create(net, &config, &session));
        assert_ok(mnn_session_destroy(&session));
    }
    /* Prepared weights count, alone and together with the arena. */
    mnn_session_t* measured = NULL;
    assert_ok(mnn_session_create(net, NULL, &measured));
    const mnn_statistics_t need = statistics_of(measured);
    assert_ok(mnn_session_destroy(&measured));
    assert_true(need.weight_bytes > 0);
    config.max_loop_iterations = 0;
    const uint64_t scarce[] = {need.weight_bytes - 1, need.weight_bytes + need.arena_bytes - 1};
    for (size_t i = 0; i < 2; ++i) {
        config.max_memory_bytes = scarce[i];
        assert_refused(&config, MNN_ERROR_LIMIT_EXCEEDED);
    }

    /* The limit suffices for one image, not for a hundred thousand; the session recovers. */
    config = default_config();
    config.max_memory_bytes = 4u << 20;
    mnn_session_t* session = NULL;
    assert_ok(mnn_session_create(net, &config, &session));
    const int32_t many[] = {100000, 1, 8, 8}, one[] = {1, 1, 8, 8};
    assert_ok(mnn_session_resize_input(session, first_input(session), many, 4));
    assert_fails(mnn_session_resize(session), MNN_ERROR_LIMIT_EXCEEDED);
    bool needed = false;
    assert_ok(mnn_session_needs_resize(session, &needed));
    assert_true(needed);
    assert_fails(mnn_session_run(session), MNN_ERROR_LIMIT_EXCEEDED);
    assert_ok(mnn_session_resize_input(session, first_input(session), one, 4));
    assert_ok(mnn_session_resize(session));
    float wanted[CLASSES], got[CLASSES], pixels[PIXELS];
    reference_scores(9, wanted);
    fill_pixels(pixels, PIXELS, 9);
    classify(session, pixels, 1, got);
    assert_memory_equal(got, wanted, sizeof got);
    const mnn_statistics_t memory = statistics_of(session);
    assert_true(memory.peak_memory_bytes <= 4u << 20);
    assert_ok(mnn_session_destroy(&session));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(config_init),
        cmocka_unit_test(config_values),
        cmocka_unit_test(config_modes),
        cmocka_unit_test(threads),
        cmocka_unit_test(instruction_sets),
        cmocka_unit_test_setup_teardown(missing_backend, hide_drivers, show_drivers),
        cmocka_unit_test(memory_limit),
    };
    return cmocka_run_group_tests_name("schedule config", tests, open_net, close_net);
}
