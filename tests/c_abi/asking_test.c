/* Functions that return information: versions, the processor, the setup of a session, its statistics, the place of a
   tensor. */
#include "digits_net.h"

#include <math.h>

static void versions(void** state) {
    (void)state;
    int32_t major = -1, minor = -1, patch = -1;
    char text[64];
    assert_ok(mnn_version_numbers(&major, &minor, &patch));
    snprintf(text, sizeof text, "%d.%d.%d", (int)major, (int)minor, (int)patch);
    assert_string_equal(text, mnn_version());
    assert_int_equal(major, MNN_C_VERSION_MAJOR);
    assert_int_equal(minor, MNN_C_VERSION_MINOR);
    assert_int_equal(patch, MNN_C_VERSION_PATCH);
    major = minor = patch = 77;
    assert_fails(mnn_version_numbers(NULL, &minor, &patch), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_version_numbers(&major, NULL, &patch), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_version_numbers(&major, &minor, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_int_equal(major + minor + patch, 3 * 77);
}

/* Structs that a function fills: bytes behind the size that the caller knows are not changed, and a small size is
   refused. */
#define CHECK_STRUCT(TYPE, CALL)                                                              \
    do {                                                                                      \
        struct {                                                                              \
            TYPE value;                                                                       \
            unsigned char later[32];                                                          \
        } mine;                                                                               \
        memset(&mine, 0x5a, sizeof mine);                                                     \
        mine.value.struct_size = sizeof mine;                                                 \
        TYPE* const given = &mine.value;                                                      \
        assert_ok(CALL);                                                                      \
        assert_int_equal(mine.value.struct_size, sizeof mine);                                \
        for (size_t i = 0; i < sizeof mine.later; ++i) assert_int_equal(mine.later[i], 0x5a); \
        const size_t wrong[] = {0, sizeof(size_t), sizeof(TYPE) - 1, 5000};                   \
        for (size_t i = 0; i < 4; ++i) {                                                      \
            mine.value.struct_size = wrong[i];                                                \
            assert_fails(CALL, MNN_ERROR_VERSION_MISMATCH);                                   \
        }                                                                                     \
    } while (0)

static void structs(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    mnn_tensor_t* input = first_input(session);
    CHECK_STRUCT(mnn_cpu_properties_t, mnn_cpu_info(given));
    CHECK_STRUCT(mnn_session_properties_t, mnn_session_info(session, given));
    CHECK_STRUCT(mnn_session_properties_t, mnn_session_path_info(session, 0, given));
    CHECK_STRUCT(mnn_statistics_t, mnn_session_statistics(session, given));
    CHECK_STRUCT(mnn_tensor_properties_t, mnn_tensor_info(input, given));
    CHECK_STRUCT(mnn_model_properties_t, mnn_interpreter_info(net, given));
    CHECK_STRUCT(mnn_declaration_t, mnn_interpreter_input_info(net, 0, given));
    CHECK_STRUCT(mnn_declaration_t, mnn_interpreter_output_info(net, 0, given));
    assert_fails(mnn_cpu_info(NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_session_info(session, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_session_statistics(session, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_tensor_info(input, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_interpreter_info(net, NULL), MNN_ERROR_NULL_ARGUMENT);
    mnn_session_properties_t info = {.struct_size = sizeof info};
    mnn_tensor_properties_t tensor = {.struct_size = sizeof tensor};
    assert_fails(mnn_session_info(NULL, &info), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_session_info((mnn_session_t*)net, &info), MNN_ERROR_BAD_HANDLE);
    assert_fails(mnn_tensor_info((mnn_tensor_t*)session, &tensor), MNN_ERROR_BAD_HANDLE);
    assert_ok(mnn_session_destroy(&session));
    assert_fails(mnn_tensor_info(input, &tensor), MNN_ERROR_BAD_HANDLE);
}

/* The instruction sets are those that a configuration accepts, and the best one is the default. */
static void processor(void** state) {
    (void)state;
    mnn_cpu_properties_t cpu = {.struct_size = sizeof cpu};
    assert_ok(mnn_cpu_info(&cpu));
    assert_true(cpu.logical_cores >= 1);
    assert_in_range(cpu.int8_products + 1, 0, 2);
    assert_in_range(cpu.bf16_products + 1, 0, 2);
    assert_in_range(cpu.fp16_arithmetic + 1, 0, 2);
    assert_true(cpu.isas[0] && cpu.features[0] != ' ');
    size_t count = 0;
    char* rest = cpu.isas;
    for (char* isa = strtok_r(cpu.isas, " ", &rest); isa; isa = strtok_r(NULL, " ", &rest), ++count) {
        mnn_schedule_config_t config = default_config();
        config.cpu_isa = count == 0 ? NULL : isa;
        mnn_session_t* session = NULL;
        mnn_session_properties_t info = {.struct_size = sizeof info};
        assert_ok(mnn_session_create(net, &config, &session));
        assert_ok(mnn_session_info(session, &info));
        assert_string_equal(info.cpu_isa, isa);
        assert_ok(mnn_session_destroy(&session));
    }
    assert_true(count >= 1);
}

static mnn_session_properties_t properties_of(const mnn_schedule_config_t* config) {
    mnn_session_t* session = NULL;
    assert_ok(mnn_session_create(net, config, &session));
    const mnn_session_properties_t info = session_info_of(session);
    assert_ok(mnn_session_destroy(&session));
    return info; /* its strings are no longer valid */
}

static void settings(void** state) {
    (void)state;
    mnn_schedule_config_t config = default_config();
    mnn_session_properties_t info = properties_of(NULL);
    assert_int_equal(info.forward_type, MNN_FORWARD_CPU);
    assert_int_equal(info.wanted_forward_type, MNN_FORWARD_CPU);
    assert_null(info.reason);
    assert_null(info.device);
    assert_int_equal(info.threads, 1);
    assert_int_equal(info.wanted_threads, 1);
    assert_int_equal(info.precision, MNN_PRECISION_NORMAL);
    assert_null(info.precision_reason);
    assert_int_equal(info.memory, MNN_MEMORY_NORMAL);
    assert_null(info.memory_reason);
    assert_int_equal(info.gpu_mode, 0);

    config.threads = 3;
    config.precision = MNN_PRECISION_HIGH;
    config.memory = MNN_MEMORY_LOW;
    config.gpu_mode = MNN_GPU_RECORD_OP;
    info = properties_of(&config);
    assert_int_equal(info.threads, 3);
    assert_int_equal(info.wanted_threads, 3);
    assert_int_equal(info.precision, MNN_PRECISION_HIGH);
    assert_int_equal(info.memory, MNN_MEMORY_LOW);
    assert_int_equal(info.gpu_mode, 0); /* of the CPU */

    config.memory = MNN_MEMORY_HIGH;
    info = properties_of(&config);
    assert_int_equal(info.memory, MNN_MEMORY_NORMAL);
    assert_int_equal(info.wanted_memory, MNN_MEMORY_HIGH);
    assert_non_null(info.memory_reason);

    /* No instruction set of x86 below AVX-512 has products of bf16. On Arm they belong to the lowest one. */
#ifndef __aarch64__
    config.precision = MNN_PRECISION_LOW_BF16;
    config.cpu_isa = MNN_C_LOWEST_ISA;
    info = properties_of(&config);
    assert_int_equal(info.wanted_precision, MNN_PRECISION_LOW);
    assert_int_equal(info.precision, MNN_PRECISION_NORMAL);
    assert_non_null(info.precision_reason);
    mnn_cpu_properties_t cpu = {.struct_size = sizeof cpu};
    assert_ok(mnn_cpu_info(&cpu));
    config.cpu_isa = NULL;
    info = properties_of(&config);
    const bool low = cpu.bf16_products == 1 && strstr(cpu.isas, "avx512");
    assert_int_equal(info.precision, low ? MNN_PRECISION_LOW : MNN_PRECISION_NORMAL);
    assert_true(low == !info.precision_reason);
#endif
}

/* A requested backend that is missing, or does not run an operator, is explained for the session and for each operator.
   */
static void fallback(void** state) {
    (void)state;
    mnn_schedule_config_t config = default_config();
    config.forward_type = MNN_FORWARD_VULKAN;
    config.device = "no device has this name";
    config.allow_fallback = 1;
    mnn_session_t* session = NULL;
    assert_ok(mnn_session_create(net, &config, &session));
    mnn_session_properties_t info = {.struct_size = sizeof info};
    assert_ok(mnn_session_info(session, &info));
    assert_int_equal(info.forward_type, MNN_FORWARD_CPU);
    assert_int_equal(info.wanted_forward_type, MNN_FORWARD_VULKAN);
    assert_true(info.reason && info.reason[0]);
    size_t count = 0;
    assert_ok(mnn_session_op_count(session, &count));
    assert_true(count > 0);
    for (size_t i = 0; i < count; ++i) {
        mnn_op_info_t op = {.struct_size = sizeof op};
        assert_ok(mnn_session_op_info(session, i, &op));
        assert_string_equal(op.reason, info.reason);
    }
    assert_ok(mnn_session_destroy(&session));
}

static int32_t stop(void* user_data, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors, size_t count) {
    (void)user_data, (void)op, (void)tensors, (void)count;
    return MNN_OP_STOP;
}

static void statistics(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    mnn_statistics_t now = statistics_of(session);
    assert_int_equal(now.plans, 1);
    assert_int_equal(now.failed_plans, 0);
    assert_int_equal(now.stage_plans, 1);
    assert_true(now.last_plan_ns > 0 && now.total_plan_ns == now.last_plan_ns);
    assert_int_equal(now.runs + now.failed_runs + now.last_run_ns + now.total_run_ns, 0);
    assert_int_equal(now.device_allocations, 0);
    assert_int_equal(now.cache_read + now.cache_written, 0);

    uint64_t total = 0;
    for (int i = 1; i <= 3; ++i) {
        assert_ok(mnn_session_run(session));
        now = statistics_of(session);
        assert_int_equal(now.runs, i);
        assert_true(now.last_run_ns > 0);
        total += now.last_run_ns;
        assert_int_equal(now.total_run_ns, total);
    }
    assert_fails(run_watched(session, stop, NULL, NULL), MNN_ERROR_CALLBACK_STOP);
    now = statistics_of(session);
    assert_int_equal(now.runs, 3);
    assert_int_equal(now.failed_runs, 1);
    assert_int_equal(now.total_run_ns, total);

    const int32_t wrong[] = {1, 2, 8, 8}, two[] = {2, 1, 8, 8};
    assert_ok(mnn_session_resize_input(session, first_input(session), wrong, 4));
    assert_fails(mnn_session_run(session), MNN_ERROR_BAD_STATE); /* does not begin */
    assert_fails(mnn_session_resize(session), MNN_ERROR_COMPUTE_SIZE);
    now = statistics_of(session);
    assert_int_equal(now.failed_runs, 1);
    assert_int_equal(now.failed_plans, 1);
    assert_ok(mnn_session_resize_input(session, first_input(session), two, 4));
    assert_ok(mnn_session_resize(session));
    assert_ok(mnn_session_resize(session)); /* nothing changed */
    now = statistics_of(session);
    assert_int_equal(now.plans, 2);
    assert_int_equal(now.stage_plans, 2);
    assert_true(now.total_plan_ns > now.last_plan_ns);
    assert_ok(mnn_session_destroy(&session));
}

static void model(void** state) {
    (void)state;
    mnn_model_properties_t info = {.struct_size = sizeof info};
    assert_ok(mnn_interpreter_info(net, &info));
    size_t size = 0;
    free(read_whole_file(MNN_C_DIGITS_MODEL, &size));
    assert_int_equal(info.byte_size, size);
    assert_in_range(info.source, MNN_SOURCE_CAFFE, MNN_SOURCE_TORCH);
    assert_int_equal(info.usage, MNN_USAGE_INFERENCE);
    assert_int_equal(info.subgraph_count, 0);
    assert_int_equal(info.weightless, 0);
    const char *key = UNTOUCHED_POINTER, *value = UNTOUCHED_POINTER;
    for (size_t i = 0; i < info.metadata_count; ++i) assert_ok(mnn_interpreter_metadata(net, i, &key, &value));
    key = value = UNTOUCHED_POINTER;
    assert_fails(mnn_interpreter_metadata(net, info.metadata_count, &key, &value), MNN_ERROR_BAD_INDEX);
    assert_fails(mnn_interpreter_metadata(net, 0, NULL, &value), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_interpreter_metadata(net, 0, &key, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_ptr_equal(key, UNTOUCHED_POINTER);
    assert_ptr_equal(value, UNTOUCHED_POINTER);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions), cmocka_unit_test(structs),  cmocka_unit_test(processor),
        cmocka_unit_test(settings), cmocka_unit_test(fallback), cmocka_unit_test(statistics),
        cmocka_unit_test(model),
    };
    return cmocka_run_group_tests_name("asking", tests, open_net, close_net);
}
