/* The information that sessions on a GPU return, the cache that belongs to a model, and constants on a GPU. */
#include <unistd.h>

#include "digits_net.h"

enum { SKIPPED = 77 };

static mnn_session_t* on_vulkan(mnn_interpreter_t* model, int32_t gpu_mode, int32_t precision) {
    mnn_schedule_config_t config = default_config();
    mnn_session_t* session = NULL;
    config.forward_type = MNN_FORWARD_VULKAN;
    config.gpu_mode = gpu_mode;
    config.precision = precision;
    assert_ok(mnn_session_create(model, &config, &session));
    return session;
}

static void properties(void** state) {
    (void)state;
    const int32_t fixed = MNN_GPU_TUNING_NONE | MNN_GPU_MEMORY_BUFFER;
    const int32_t tuned = MNN_GPU_MEMORY_BUFFER | MNN_GPU_RECORD_BATCH;
    const struct {
        int32_t wanted, got;
    } modes[] = {{0, fixed | MNN_GPU_RECORD_BATCH},
                 {MNN_GPU_RECORD_BATCH, fixed | MNN_GPU_RECORD_BATCH},
                 {MNN_GPU_RECORD_OP, fixed | MNN_GPU_RECORD_OP},
                 {MNN_GPU_TUNING_NONE, fixed | MNN_GPU_RECORD_BATCH},
                 {MNN_GPU_TUNING_FAST, tuned | MNN_GPU_TUNING_FAST},
                 {MNN_GPU_TUNING_NORMAL, tuned | MNN_GPU_TUNING_NORMAL},
                 {MNN_GPU_TUNING_WIDE, tuned | MNN_GPU_TUNING_WIDE},
                 {MNN_GPU_TUNING_HEAVY, tuned | MNN_GPU_TUNING_HEAVY}};
    size_t devices = 0;
    assert_ok(mnn_device_count(MNN_FORWARD_VULKAN, &devices));
    for (size_t i = 0; i < sizeof modes / sizeof *modes; ++i) {
        mnn_session_t* session = on_vulkan(net, modes[i].wanted, MNN_PRECISION_LOW);
        mnn_session_properties_t info = {.struct_size = sizeof info};
        assert_ok(mnn_session_info(session, &info));
        assert_int_equal(info.forward_type, MNN_FORWARD_VULKAN);
        assert_int_equal(info.wanted_forward_type, MNN_FORWARD_VULKAN);
        assert_null(info.reason);
        assert_int_equal(info.gpu_mode, modes[i].got);
        assert_non_null(info.cpu_isa);
        assert_non_null(info.device);
        bool found = false;
        for (size_t k = 0; k < devices; ++k) {
            mnn_device_properties_t device = {.struct_size = sizeof device};
            assert_ok(mnn_device_info(MNN_FORWARD_VULKAN, k, &device));
            if (strcmp(device.name, info.device) != 0) continue;
            found = true;
            assert_int_equal(info.precision, device.fp16_storage ? MNN_PRECISION_LOW : MNN_PRECISION_NORMAL);
            assert_true((info.precision_reason == NULL) == (device.fp16_storage == 1));
        }
        assert_true(found);
        mnn_statistics_t statistics = {.struct_size = sizeof statistics};
        assert_ok(mnn_session_statistics(session, &statistics));
        assert_true(statistics.device_allocations > 0);
        const uint64_t before = statistics.device_allocations;
        for (int run = 0; run < 3; ++run) assert_ok(mnn_session_run(session));
        assert_ok(mnn_session_statistics(session, &statistics));
        assert_int_equal(statistics.device_allocations, before); /* runs allocate none */
        assert_int_equal(statistics.stage_plans, 1);
        assert_ok(mnn_session_trim(session));
        assert_ok(mnn_session_statistics(session, &statistics));
        assert_int_equal(statistics.device_allocations, before); /* there was nothing to give back */
        assert_ok(mnn_session_destroy(&session));
    }
}

/* With memory Low weights of convolutions stay codes; more memory would change nothing. */
static void memory_modes(void** state) {
    (void)state;
    const struct {
        int32_t wanted, got;
    } modes[] = {
        {MNN_MEMORY_NORMAL, MNN_MEMORY_NORMAL}, {MNN_MEMORY_LOW, MNN_MEMORY_LOW}, {MNN_MEMORY_HIGH, MNN_MEMORY_NORMAL}};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; ++i) {
        mnn_schedule_config_t config = default_config();
        mnn_session_t* session = NULL;
        config.forward_type = MNN_FORWARD_VULKAN;
        config.memory = modes[i].wanted;
        assert_ok(mnn_session_create(net, &config, &session));
        mnn_session_properties_t info = {.struct_size = sizeof info};
        assert_ok(mnn_session_info(session, &info));
        assert_int_equal(info.wanted_memory, modes[i].wanted);
        assert_int_equal(info.memory, modes[i].got);
        assert_int_equal(info.memory_reason != NULL, modes[i].got != modes[i].wanted);
        assert_ok(mnn_session_destroy(&session));
    }
}

static int32_t look(void* user_data, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors, size_t count) {
    (void)op;
    int* found = user_data;
    for (size_t i = 0; i < count; ++i) {
        mnn_tensor_properties_t info = {.struct_size = sizeof info};
        if (mnn_tensor_info(tensors[i], &info) != MNN_OK) return MNN_OP_STOP;
        float value[4096];
        const bool readable = mnn_tensor_read(tensors[i], value, sizeof value, MNN_FORMAT_NCHW) == MNN_OK;
        if (readable == (info.forward_type == MNN_FORWARD_VULKAN)) return MNN_OP_STOP;
        *found += info.forward_type == MNN_FORWARD_VULKAN;
    }
    return MNN_OP_RUN;
}

static void where_tensors_lie(void** state) {
    (void)state;
    mnn_session_t* session = on_vulkan(net, 0, MNN_PRECISION_NORMAL);
    int found = 0;
    assert_ok(run_watched(session, look, look, &found));
    assert_true(found > 0);
    mnn_tensor_properties_t info = {.struct_size = sizeof info};
    assert_ok(mnn_tensor_info(first_output(session), &info));
    assert_int_equal(info.forward_type, MNN_FORWARD_CPU);
    assert_ok(mnn_session_destroy(&session));
}

static void check_cache(mnn_interpreter_t* model, const char* path, int32_t precision, int32_t read, int32_t written) {
    assert_ok(mnn_interpreter_set_cache_file(model, path));
    mnn_session_t* session = on_vulkan(model, 0, precision);
    mnn_statistics_t statistics = {.struct_size = sizeof statistics};
    bool accepted = false;
    assert_ok(mnn_session_statistics(session, &statistics));
    assert_ok(mnn_session_cache_accepted(session, &accepted));
    assert_int_equal(statistics.cache_read, read);
    assert_int_equal(statistics.cache_written, written);
    assert_int_equal(accepted, read);
    assert_ok(mnn_session_destroy(&session));
}

/* The cache file of another model, or of another configuration, is not used: it would prevent new pipelines from being
   saved. */
static void cache_belongs_to_a_model(void** state) {
    (void)state;
    char path[] = "/tmp/mnn_cache_XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    mnn_interpreter_t *same = open_digits(), *other = open_case("softmax__axes");
    check_cache(net, path, MNN_PRECISION_NORMAL, 0, 1);
    check_cache(net, path, MNN_PRECISION_NORMAL, 1, 0);
    check_cache(same, path, MNN_PRECISION_NORMAL, 1, 0); /* the same model, loaded again */
    check_cache(other, path, MNN_PRECISION_NORMAL, 0, 1);
    check_cache(net, path, MNN_PRECISION_NORMAL, 0, 1);
    check_cache(net, path, MNN_PRECISION_LOW, 0, 1);
    check_cache(net, path, MNN_PRECISION_LOW, 1, 0);
    assert_ok(mnn_interpreter_set_cache_file(net, NULL));
    assert_ok(mnn_interpreter_destroy(&other));
    assert_ok(mnn_interpreter_destroy(&same));
    unlink(path);
}

/* Operators of stages that a run plans are reported as undecided until then, and afterwards with the reason why the GPU
   does not run them. */
static void undecided_operators(void** state) {
    (void)state;
    mnn_interpreter_t* model = open_case("select__nonzero");
    mnn_session_t* session = on_vulkan(model, 0, MNN_PRECISION_NORMAL);
    size_t inputs = 0;
    assert_ok(mnn_session_input_count(session, &inputs));
    for (size_t i = 0; i < inputs; ++i) { /* if no device is found, nothing runs */
        mnn_tensor_t* input = NULL;
        double ones[256];
        size_t elements = 0;
        assert_ok(mnn_session_input_at(session, i, &input));
        assert_ok(mnn_tensor_element_count(input, &elements));
        assert_true(elements <= 256);
        for (size_t k = 0; k < elements; ++k) ones[k] = 1;
        assert_ok(mnn_tensor_write_as(input, ones, elements * sizeof *ones, MNN_TYPE_DOUBLE, MNN_FORMAT_NCHW));
    }
    for (int run = 0; run < 2; ++run) {
        size_t count = 0, on_cpu = 0;
        assert_ok(mnn_session_op_count(session, &count));
        assert_true(count > 0);
        for (size_t i = 0; i < count; ++i) {
            mnn_op_info_t op = {.struct_size = sizeof op};
            assert_ok(mnn_session_op_info(session, i, &op));
            if (strcmp(op.backend_name, "cpu") == 0 && !op.host_shape) {
                assert_true(op.reason && op.reason[0]);
                ++on_cpu;
            } else if (strcmp(op.backend_name, "vulkan") == 0) {
                assert_null(op.reason);
            } else if (!op.host_shape) {
                assert_string_equal(op.backend_name, "");
                assert_int_equal(run, 0);
            }
        }
        if (run == 1) assert_true(on_cpu > 0); /* the device has no kernel for Where */
        assert_ok(mnn_session_run(session));
    }
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&model));
}

/* Counts the measured operators in a session's cache, which has the names of their kernels as text. */
static size_t measured(mnn_session_t* session) {
    size_t bytes = 0, count = 0;
    assert_ok(mnn_session_cache(session, NULL, 0, &bytes));
    char* cache = malloc(bytes);
    assert_non_null(cache);
    assert_ok(mnn_session_cache(session, cache, bytes, &bytes));
    const char* const kinds[] = {"conv_gemm ", "conv_gemm_", "matmul ", "matmul_"};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k)
        for (size_t i = 0; i + strlen(kinds[k]) < bytes; ++i)
            count += memcmp(cache + i, kinds[k], strlen(kinds[k])) == 0;
    free(cache);
    return count;
}

static size_t measured_with(int32_t gpu_mode, int32_t operators, const float* wanted) {
    float pixels[PIXELS], scores[CLASSES];
    mnn_session_t* session = NULL;
    mnn_schedule_config_t config = default_config();
    config.forward_type = MNN_FORWARD_VULKAN;
    config.gpu_mode = gpu_mode;
    config.tuning_operators = operators;
    assert_ok(mnn_session_create(net, &config, &session));
    fill_pixels(pixels, PIXELS, 3);
    classify(session, pixels, 1, scores);
    assert_close(scores, wanted, CLASSES, 1e-4f);
    const size_t count = measured(session);
    /* A further plan measures no operator beyond the limit. */
    const int32_t dims[] = {3, 1, 8, 8};
    assert_ok(mnn_session_resize_input(session, first_input(session), dims, 4));
    assert_ok(mnn_session_resize(session));
    if (operators > 0 && (size_t)operators == count) assert_int_equal(measured(session), count);
    if (operators == 0 && gpu_mode) assert_true(measured(session) > count);
    assert_ok(mnn_session_destroy(&session));
    return count;
}

/* tuning_operators limits how many operators are measured. */
static void tuned_operators(void** state) {
    (void)state;
    float wanted[CLASSES];
    reference_scores(3, wanted);
    mnn_schedule_config_t config = default_config();
    mnn_session_t* session = UNTOUCHED_POINTER;
    for (int i = 0; i < 2; ++i) {
        config.tuning_operators = i ? -1 : INT32_MIN;
        assert_fails(mnn_session_create(net, &config, &session), MNN_ERROR_INVALID_VALUE);
        assert_non_null(strstr(mnn_last_error(), "tuning_operators"));
    }
    session = on_vulkan(net, MNN_GPU_TUNING_FAST, MNN_PRECISION_NORMAL);
    mnn_session_properties_t info = {.struct_size = sizeof info};
    assert_ok(mnn_session_info(session, &info));
    assert_ok(mnn_session_destroy(&session));
    if (info.gpu_mode & MNN_GPU_TUNING_NONE) skip(); /* the device has no clock */
    assert_int_equal(measured_with(0, 0, wanted), 0);
    assert_int_equal(measured_with(0, 7, wanted), 0);
    const size_t all = measured_with(MNN_GPU_TUNING_FAST, 0, wanted);
    assert_true(all >= 2);
    for (size_t i = 1; i <= all; ++i) assert_int_equal(measured_with(MNN_GPU_TUNING_FAST, (int32_t)i, wanted), i);
    assert_int_equal(measured_with(MNN_GPU_TUNING_FAST, INT32_MAX, wanted), all);
    /* Products of matrices count like convolutions. */
    mnn_interpreter_t* model = open_case("matmul__constant_right");
    size_t counts[4];
    const int32_t limits[4] = {0, 1, 2, 1000};
    for (int i = 0; i < 4; ++i) {
        config = default_config();
        config.forward_type = MNN_FORWARD_VULKAN;
        config.gpu_mode = MNN_GPU_TUNING_FAST;
        config.tuning_operators = limits[i];
        assert_ok(mnn_session_create(model, &config, &session));
        counts[i] = measured(session);
        assert_ok(mnn_session_destroy(&session));
    }
    assert_ok(mnn_interpreter_destroy(&model));
    assert_true(counts[0] > 2);
    assert_int_equal(counts[1], 1);
    assert_int_equal(counts[2], 2);
    assert_int_equal(counts[3], counts[0]);
}

static void products(mnn_session_t* session, float* values) {
    for (size_t i = 0; i < 10; ++i) {
        mnn_tensor_t* input = NULL;
        float data[512];
        size_t count = 0;
        assert_ok(mnn_session_input_at(session, i, &input));
        assert_ok(mnn_tensor_element_count(input, &count));
        fill_pixels(data, count, (uint32_t)i + 1);
        assert_ok(mnn_tensor_write(input, data, count * sizeof *data, MNN_FORMAT_NCHW));
    }
    assert_ok(mnn_session_run(session));
    mnn_tensor_t* output = NULL;
    assert_ok(mnn_session_output(session, "odd", &output));
    assert_ok(mnn_tensor_read(output, values, 15 * sizeof *values, MNN_FORMAT_NCHW));
}

static void constants(void** state) {
    (void)state;
    mnn_interpreter_t* model = open_case("matmul__constant_right");
    mnn_session_t *session = on_vulkan(model, 0, MNN_PRECISION_NORMAL), *later = NULL;
    float base[15], got[15], factor = 1;
    products(session, base);
    for (int round = 0; round < 2; ++round) {
        size_t count = 0, elements = 0;
        assert_ok(mnn_session_constant_count(session, &count));
        for (size_t i = 0; i < count; ++i) {
            const char* name = NULL;
            mnn_tensor_t* tensor = NULL;
            float values[64];
            assert_ok(mnn_session_constant_name(session, i, &name));
            assert_ok(mnn_session_constant(session, name, &tensor));
            assert_ok(mnn_tensor_element_count(tensor, &elements));
            assert_true(elements <= 64);
            assert_ok(mnn_tensor_read(tensor, values, elements * sizeof *values, MNN_FORMAT_NCHW));
            for (size_t k = 0; k < elements; ++k) values[k] *= 2;
            assert_ok(mnn_tensor_write(tensor, values, elements * sizeof *values, MNN_FORMAT_NCHW));
        }
        factor *= 2;
        assert_ok(mnn_session_resize(session));
        products(session, got);
        for (int i = 0; i < 15; ++i) assert_true(got[i] == factor * base[i]);
    }
    assert_ok(mnn_interpreter_update_constants(model, session));
    later = on_vulkan(model, 0, MNN_PRECISION_NORMAL);
    products(later, got);
    for (int i = 0; i < 15; ++i) assert_true(got[i] == factor * base[i]);
    assert_ok(mnn_session_destroy(&later));
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&model));
}

typedef struct {
    int operators, measured;
} times_t;

static int32_t note_time(void* user_data, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors, size_t count) {
    times_t* times = user_data;
    (void)tensors;
    (void)count;
    ++times->operators;
    if (op->device_ms >= 0) ++times->measured;
    assert_true(op->device_ms < 60000);
    return MNN_OP_RUN;
}

/* Operators of the GPU are measured on request, in both ways of recording, also after a resize; the results stay the
 * same. */
static void times_of_the_device(void** state) {
    (void)state;
    for (int mode = 0; mode < 2; ++mode) {
        mnn_session_t* session = on_vulkan(net, mode ? MNN_GPU_RECORD_OP : MNN_GPU_RECORD_BATCH, MNN_PRECISION_NORMAL);
        mnn_run_options_t options;
        assert_ok(mnn_run_options_init(&options, sizeof options));
        assert_int_equal(options.device_times, 0);
        for (int32_t batch = 1; batch < 4; batch += 2) {
            const int32_t dims[] = {batch, 1, 8, 8};
            float pixels[3 * PIXELS], want[3 * CLASSES], got[3 * CLASSES];
            const size_t bytes = (size_t)batch * CLASSES * sizeof *want;
            mnn_tensor_t* input = first_input(session);
            assert_ok(mnn_session_resize_input(session, input, dims, 4));
            assert_ok(mnn_session_resize(session));
            fill_pixels(pixels, (size_t)batch * PIXELS, 5);
            assert_ok(mnn_tensor_write(input, pixels, (size_t)batch * PIXELS * sizeof *pixels, MNN_FORMAT_NCHW));
            assert_ok(mnn_session_run(session));
            mnn_tensor_t* output = first_output(session);
            assert_ok(mnn_tensor_read(output, want, bytes, MNN_FORMAT_NCHW));
            for (int timed = 0; timed < 2; ++timed) {
                times_t times = {0, 0};
                options.after = note_time;
                options.user_data = &times;
                options.device_times = timed;
                assert_ok(mnn_session_run_with_options(session, &options));
                assert_true(times.operators > 3);
                if (!timed) assert_int_equal(times.measured, 0);
                /* A queue may have no clock: then no operator is measured. */
                if (timed) assert_true(times.measured == 0 || times.measured == times.operators);
                assert_ok(mnn_tensor_read(output, got, bytes, MNN_FORMAT_NCHW));
                assert_memory_equal(got, want, bytes);
            }
        }
        options.device_times = 2;
        assert_fails(mnn_session_run_with_options(session, &options), MNN_ERROR_INVALID_VALUE);
        assert_ok(mnn_session_destroy(&session));
    }
}

int main(void) {
    if (!has_device()) {
        print_message("skipped: %s\n", mnn_last_error());
        return SKIPPED;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(properties),          cmocka_unit_test(memory_modes),
        cmocka_unit_test(where_tensors_lie),   cmocka_unit_test(cache_belongs_to_a_model),
        cmocka_unit_test(undecided_operators), cmocka_unit_test(tuned_operators),
        cmocka_unit_test(constants),           cmocka_unit_test(times_of_the_device),
    };
    return cmocka_run_group_tests_name("asking on Vulkan", tests, open_net, close_net);
}
