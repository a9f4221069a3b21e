/* mnn_schedule_config_* and mnn_session_*. */
#include "digits_net.h"

static mnn_schedule_config_t default_config(void) {
    mnn_schedule_config_t config;
    assert_ok(mnn_schedule_config_init(&config, sizeof config));
    return config;
}

/* The digits model whose input leaves dimension `axis` open; the caller frees it. */
static unsigned char* open_model(int axis, size_t* size) {
    unsigned char* bytes = read_whole_file(MNN_C_DIGITS_MODEL, size);
    assert_non_null(bytes);
    const int32_t dims[] = {4, 1, 1, 8, 8}; /* the wire's vector: its length, then the extents */
    const int32_t open = -1;
    size_t found = 0;
    for (size_t at = 0; at + sizeof dims <= *size; at += 4)
        if (memcmp(bytes + at, dims, sizeof dims) == 0) {
            memcpy(bytes + at + 4 * (size_t)(axis + 1), &open, sizeof open);
            ++found;
        }
    assert_int_equal(found, 1);
    return bytes;
}

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
    const size_t small[] = {0, 1, sizeof(size_t), sizeof zero - 1};
    for (size_t i = 0; i < sizeof small / sizeof *small; ++i)
        assert_fails(mnn_schedule_config_init(&mine.config, small[i]), MNN_ERROR_VERSION_MISMATCH);
    for (size_t i = 0; i < sizeof mine; ++i) assert_int_equal(((unsigned char*)&mine)[i], 0x5a);
    assert_fails(mnn_schedule_config_init(NULL, sizeof zero), MNN_ERROR_NULL_ARGUMENT);
}

static void assert_refused(const mnn_schedule_config_t* config, mnn_status wanted) {
    mnn_session_t* session = UNTOUCHED_POINTER;
    assert_fails(mnn_session_create(net, config, &session), wanted);
    assert_ptr_equal(session, UNTOUCHED_POINTER);
}

static void config_values(void** state) {
    (void)state;
    const int32_t odd[] = {-1, 1000, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; ++i) {
#define FIELD(field, told)                               \
    do {                                                 \
        mnn_schedule_config_t config = default_config(); \
        config.field = odd[i];                           \
        assert_refused(&config, told);                   \
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
    const size_t wrong[] = {0, sizeof(size_t), sizeof config - 1, 4097, 1 << 20, SIZE_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        config.struct_size = wrong[i];
        assert_refused(&config, MNN_ERROR_VERSION_MISMATCH);
    }
    /* A field that this version does not know is not lost without a word. */
    struct {
        mnn_schedule_config_t config;
        unsigned char later[32];
    } longer;
    assert_ok(mnn_schedule_config_init(&longer.config, sizeof longer));
    longer.later[31] = 1;
    assert_refused(&longer.config, MNN_ERROR_VERSION_MISMATCH);
    /* The CPU has no devices to choose among. */
    config = default_config();
    config.device = "0";
    assert_refused(&config, MNN_ERROR_INVALID_VALUE);
}

/* All listed values of every mode work, and give the scores within what the precision promises. */
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
    for (int32_t power = MNN_POWER_HIGH; power <= MNN_POWER_LOW; ++power) {
        mnn_schedule_config_t config = default_config();
        config.power = power;
        assert_refused(&config, MNN_ERROR_NOT_SUPPORTED);
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
        if (i > 0 && status != MNN_OK) { /* this machine or build has it not */
            assert_fails(status, MNN_ERROR_NOT_FOUND);
            assert_null(session);
            continue;
        }
        assert_ok(status);
        classify(session, pixels, 1, got);
        assert_close(got, wanted, CLASSES, 1e-4f);
        assert_ok(mnn_session_destroy(&session));
    }
}

/* Where the Vulkan loader looks for drivers, each time that it is opened. */
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
        mnn_session_op_info_t info = {.struct_size = sizeof info};
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
    mnn_session_memory_t need = {.struct_size = sizeof need};
    assert_ok(mnn_session_memory(measured, &need));
    assert_ok(mnn_session_destroy(&measured));
    assert_true(need.weight_bytes > 0);
    config.max_loop_iterations = 0;
    const uint64_t scarce[] = {need.weight_bytes - 1, need.weight_bytes + need.arena_bytes - 1};
    for (size_t i = 0; i < 2; ++i) {
        config.max_memory_bytes = scarce[i];
        assert_refused(&config, MNN_ERROR_LIMIT_EXCEEDED);
    }

    /* Enough for one image, not for a hundred thousand; the session recovers. */
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
    assert_fails(mnn_session_run(session), MNN_ERROR_BAD_STATE);
    assert_ok(mnn_session_resize_input(session, first_input(session), one, 4));
    assert_ok(mnn_session_resize(session));
    float wanted[CLASSES], got[CLASSES], pixels[PIXELS];
    reference_scores(9, wanted);
    fill_pixels(pixels, PIXELS, 9);
    classify(session, pixels, 1, got);
    assert_memory_equal(got, wanted, sizeof got);
    mnn_session_memory_t memory = {.struct_size = sizeof memory};
    assert_ok(mnn_session_memory(session, &memory));
    assert_true(memory.peak_bytes <= 4u << 20);
    assert_ok(mnn_session_destroy(&session));
}

static void output_names(void** state) {
    (void)state;
    mnn_schedule_config_t config = default_config();
    const char* unknown[] = {"scores", "no such tensor"};
    const char* with_null[] = {"scores", NULL};
    config.outputs = unknown;
    config.output_count = 2;
    assert_refused(&config, MNN_ERROR_NOT_FOUND);
    assert_non_null(strstr(mnn_last_error(), "no such tensor"));
    config.outputs = with_null;
    assert_refused(&config, MNN_ERROR_NULL_ARGUMENT);
    config.outputs = NULL;
    assert_refused(&config, MNN_ERROR_NULL_ARGUMENT);
    config = default_config();
    config.save_tensors = unknown;
    config.save_tensor_count = 2;
    assert_refused(&config, MNN_ERROR_NOT_FOUND);
    config.save_tensors = with_null;
    assert_refused(&config, MNN_ERROR_NULL_ARGUMENT);
    config.save_tensors = NULL;
    assert_refused(&config, MNN_ERROR_NULL_ARGUMENT);
}

static void save_tensors(void** state) {
    (void)state;
    float wanted[CLASSES], got[CLASSES], pixels[PIXELS], pooled[32 * 4 * 4], alone[32 * 4 * 4];
    reference_scores(10, wanted);
    fill_pixels(pixels, PIXELS, 10);
    /* "m" is the pooling's result, 32 planes of 4x4 behind a relu; "image" is the input itself. */
    const char* names[] = {"m", "image"};
    mnn_schedule_config_t config = default_config();
    config.save_tensors = names;
    config.save_tensor_count = 2;
    mnn_session_t* session = NULL;
    assert_ok(mnn_session_create(net, &config, &session));
    size_t count = 0, rank = 0, elements = 0;
    assert_ok(mnn_session_output_count(session, &count));
    assert_int_equal(count, 3);
    const char* order[] = {"scores", "m", "image"};
    for (size_t i = 0; i < 3; ++i) {
        mnn_tensor_t *at = NULL, *named = NULL;
        const char* name = NULL;
        assert_ok(mnn_session_output_at(session, i, &at));
        assert_ok(mnn_tensor_name(at, &name));
        assert_string_equal(name, order[i]);
        assert_ok(mnn_session_output(session, order[i], &named));
        assert_ptr_equal(at, named);
    }
    classify(session, pixels, 1, got);
    assert_memory_equal(got, wanted, sizeof got);
    mnn_tensor_t* saved = NULL;
    int32_t dims[MNN_MAX_RANK];
    assert_ok(mnn_session_output(session, "m", &saved));
    assert_ok(mnn_tensor_shape(saved, dims, MNN_MAX_RANK, &rank));
    assert_int_equal(rank, 4);
    assert_ok(mnn_tensor_element_count(saved, &elements));
    assert_int_equal(elements, 512);
    assert_ok(mnn_tensor_read(saved, pooled, sizeof pooled, MNN_FORMAT_NCHW));
    size_t positive = 0;
    for (size_t i = 0; i < 512; ++i) {
        assert_true(pooled[i] >= 0);
        positive += pooled[i] > 0;
    }
    assert_true(positive > 50);
    float image[PIXELS];
    assert_ok(mnn_session_output(session, "image", &saved));
    assert_ok(mnn_tensor_read(saved, image, sizeof image, MNN_FORMAT_NCHW));
    assert_memory_equal(image, pixels, sizeof image);
    assert_ok(mnn_session_destroy(&session));
    /* The only output now; what comes behind it is not computed. */
    config = default_config();
    config.outputs = names;
    config.output_count = 1;
    assert_ok(mnn_session_create(net, &config, &session));
    assert_ok(mnn_session_output_count(session, &count));
    assert_int_equal(count, 1);
    assert_fails(mnn_session_output(session, "scores", &saved), MNN_ERROR_NOT_FOUND);
    assert_ok(mnn_tensor_write(first_input(session), pixels, sizeof pixels, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_tensor_read(first_output(session), alone, sizeof alone, MNN_FORMAT_NCHW));
    assert_memory_equal(alone, pooled, sizeof alone);
    assert_ok(mnn_session_destroy(&session));
    /* A name that is an output already is no second one. */
    const char* twice[] = {"scores", "scores"};
    config.outputs = twice;
    config.output_count = 2;
    config.save_tensors = twice;
    config.save_tensor_count = 2;
    assert_ok(mnn_session_create(net, &config, &session));
    assert_ok(mnn_session_output_count(session, &count));
    assert_int_equal(count, 1);
    assert_ok(mnn_session_destroy(&session));
}

/* Every tensor that an operator of the file makes can be saved. */
static void save_any_tensor(void** state) {
    (void)state;
    const char* names[] = {"Concat29",
                           "Const28",
                           "SliceTf27",
                           "Unsqueeze26",
                           "BinaryOp22",
                           "Rank20",
                           "Shape17",
                           "ConvertTensor16",
                           "scores__matmul_converted",
                           "Reshape14",
                           "Concat13",
                           "f",
                           "r1",
                           "r2",
                           "image___tr4c1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        mnn_schedule_config_t config = default_config();
        config.save_tensors = &names[i];
        config.save_tensor_count = 1;
        mnn_session_t* session = NULL;
        assert_ok(mnn_session_create(net, &config, &session));
        float pixels[PIXELS] = {0}, scores[CLASSES], values[4096];
        mnn_tensor_t* saved = NULL;
        classify(session, pixels, 1, scores);
        assert_ok(mnn_session_output(session, names[i], &saved));
        assert_ok(mnn_tensor_read(saved, values, sizeof values, MNN_FORMAT_NCHW));
        assert_ok(mnn_session_destroy(&session));
    }
}

static void destroy_order(void** state) {
    (void)state;
    assert_ok(mnn_session_destroy(NULL));
    mnn_session_t* none = NULL;
    assert_ok(mnn_session_destroy(&none));
    float wanted[CLASSES], got[CLASSES], pixels[PIXELS];
    reference_scores(11, wanted);
    fill_pixels(pixels, PIXELS, 11);
    mnn_interpreter_t* mine = open_digits();
    mnn_session_t *first = open_session(mine), *second = open_session(mine);
    assert_ok(mnn_interpreter_destroy(&mine));
    assert_null(mine);
    classify(first, pixels, 1, got);
    assert_memory_equal(got, wanted, sizeof got);
    assert_ok(mnn_session_destroy(&first));
    assert_null(first);
    assert_ok(mnn_session_destroy(&first));
    memset(got, 0, sizeof got);
    const int32_t two[] = {2, 1, 8, 8}, one[] = {1, 1, 8, 8};
    assert_ok(mnn_session_resize_input(second, first_input(second), two, 4));
    assert_ok(mnn_session_resize(second));
    assert_ok(mnn_session_resize_input(second, first_input(second), one, 4));
    assert_ok(mnn_session_resize(second));
    classify(second, pixels, 1, got);
    assert_memory_equal(got, wanted, sizeof got);
    assert_ok(mnn_session_destroy(&second));
}

static void find_tensors(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    size_t count = 0;
    mnn_tensor_t *tensor = NULL, *same = NULL;
    assert_ok(mnn_session_input_count(session, &count));
    assert_int_equal(count, 1);
    assert_ok(mnn_session_input(session, "image", &tensor));
    assert_ok(mnn_session_input(session, NULL, &same));
    assert_ptr_equal(tensor, same);
    assert_ok(mnn_session_input_at(session, 0, &same));
    assert_ptr_equal(tensor, same);
    assert_ok(mnn_session_output_count(session, &count));
    assert_int_equal(count, 1);
    assert_ok(mnn_session_output(session, "scores", &tensor));
    assert_ok(mnn_session_output(session, NULL, &same));
    assert_ptr_equal(tensor, same);
    assert_ok(mnn_session_output_at(session, 0, &same));
    assert_ptr_equal(tensor, same);
    same = UNTOUCHED_POINTER;
    const char* wrong[] = {"", "imag", "images", "scores", "\xff\xfe"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i)
        assert_fails(mnn_session_input(session, wrong[i], &same), MNN_ERROR_NOT_FOUND);
    assert_fails(mnn_session_input(session, "nothing", &same), MNN_ERROR_NOT_FOUND);
    assert_non_null(strstr(mnn_last_error(), "nothing"));
    assert_non_null(strstr(mnn_last_error(), "image"));
    assert_fails(mnn_session_output(session, "image", &same), MNN_ERROR_NOT_FOUND);
    assert_non_null(strstr(mnn_last_error(), "scores"));
    /* The sentence itself as a name. */
    assert_fails(mnn_session_output(session, mnn_last_error(), &same), MNN_ERROR_NOT_FOUND);
    assert_fails(mnn_session_input_at(session, 1, &same), MNN_ERROR_BAD_INDEX);
    assert_fails(mnn_session_input_at(session, SIZE_MAX, &same), MNN_ERROR_BAD_INDEX);
    assert_fails(mnn_session_output_at(session, 1, &same), MNN_ERROR_BAD_INDEX);
    assert_fails(mnn_session_output_at(session, SIZE_MAX, &same), MNN_ERROR_BAD_INDEX);
    assert_ptr_equal(same, UNTOUCHED_POINTER);
    assert_ok(mnn_session_destroy(&session));
}

static void null_arguments(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    mnn_tensor_t* input = first_input(session);
    const int32_t dims[] = {1, 1, 8, 8};
    bool complete = false;
#define NULL_OUT(call) assert_fails(call, MNN_ERROR_NULL_ARGUMENT)
    NULL_OUT(mnn_session_create(net, NULL, NULL));
    NULL_OUT(mnn_session_input_count(session, NULL));
    NULL_OUT(mnn_session_input(session, "image", NULL));
    NULL_OUT(mnn_session_input_at(session, 0, NULL));
    NULL_OUT(mnn_session_output_count(session, NULL));
    NULL_OUT(mnn_session_output(session, "scores", NULL));
    NULL_OUT(mnn_session_output_at(session, 0, NULL));
    NULL_OUT(mnn_session_resize_input(session, NULL, dims, 4));
    NULL_OUT(mnn_session_resize_input(session, input, NULL, 4));
    NULL_OUT(mnn_session_needs_resize(session, NULL));
    NULL_OUT(mnn_session_memory(session, NULL));
    NULL_OUT(mnn_session_flops(session, NULL, &complete));
    NULL_OUT(mnn_session_op_count(session, NULL));
    NULL_OUT(mnn_session_op_info(session, 0, NULL));
#undef NULL_OUT
    assert_ok(mnn_session_destroy(&session));
}

/* Every function gets NULL, an interpreter and a tensor where a session belongs. */
static void wrong_handles(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    mnn_tensor_t* input = first_input(session);
    mnn_session_t* wrong[] = {NULL, (mnn_session_t*)net, (mnn_session_t*)input};
    for (size_t i = 0; i < 3; ++i) {
        mnn_session_t* h = wrong[i];
        const mnn_status told = h ? MNN_ERROR_BAD_HANDLE : MNN_ERROR_NULL_ARGUMENT;
        size_t count = UNTOUCHED_SIZE;
        mnn_tensor_t* tensor = UNTOUCHED_POINTER;
        unsigned char flag = 0x5a;
        int32_t number = UNTOUCHED_INT;
        double flops = -5;
        mnn_session_memory_t memory = {.struct_size = sizeof memory, .arena_bytes = 77};
        mnn_session_op_info_t info = {.struct_size = sizeof info, .host_shape = 77};
        const int32_t dims[] = {1, 1, 8, 8};
        assert_fails(mnn_session_input_count(h, &count), told);
        assert_fails(mnn_session_input(h, NULL, &tensor), told);
        assert_fails(mnn_session_input_at(h, 0, &tensor), told);
        assert_fails(mnn_session_output_count(h, &count), told);
        assert_fails(mnn_session_output(h, NULL, &tensor), told);
        assert_fails(mnn_session_output_at(h, 0, &tensor), told);
        assert_fails(mnn_session_resize_input(h, input, dims, 4), told);
        assert_fails(mnn_session_needs_resize(h, (bool*)&flag), told);
        assert_fails(mnn_session_resize(h), told);
        assert_fails(mnn_session_run(h), told);
        assert_fails(mnn_session_run_with_options(h, NULL), told);
        assert_fails(mnn_session_resize_with_options(h, NULL), told);
        assert_fails(mnn_session_forward_type(h, &number, NULL), told);
        assert_fails(mnn_session_memory(h, &memory), told);
        assert_fails(mnn_session_flops(h, &flops, (bool*)&flag), told);
        assert_fails(mnn_session_op_count(h, &count), told);
        assert_fails(mnn_session_op_info(h, 0, &info), told);
        assert_int_equal(count, UNTOUCHED_SIZE);
        assert_ptr_equal(tensor, UNTOUCHED_POINTER);
        assert_int_equal(flag, 0x5a);
        assert_true(flops == -5);
        assert_int_equal(memory.arena_bytes, 77);
        assert_int_equal(info.host_shape, 77);
    }
    assert_ok(mnn_session_destroy(&session));
}

static void assert_shape(const mnn_tensor_t* tensor, const int32_t* wanted, size_t wanted_rank) {
    int32_t dims[MNN_MAX_RANK];
    size_t rank = 0;
    assert_ok(mnn_tensor_shape(tensor, dims, MNN_MAX_RANK, &rank));
    assert_int_equal(rank, wanted_rank);
    assert_memory_equal(dims, wanted, rank * sizeof *dims);
}

static void inputs_are_zeros_until_they_are_written(void** state) {
    (void)state;
    float pixels[3 * PIXELS];
    const float zeros[3 * PIXELS] = {0};
    const int32_t large[] = {3, 1, 8, 8}, small[] = {1, 1, 8, 8};
    mnn_session_t* session = open_session(net);
    mnn_tensor_t* input = first_input(session);
    for (int round = 0; round < 3; ++round) {
        const size_t bytes = (round % 2 ? 3 : 1) * PIXELS * sizeof(float);
        assert_ok(mnn_session_resize_input(session, input, round % 2 ? large : small, 4));
        assert_ok(mnn_session_resize(session));
        assert_ok(mnn_tensor_read(input, pixels, bytes, MNN_FORMAT_NCHW));
        assert_memory_equal(pixels, zeros, bytes);
        fill_pixels(pixels, bytes / sizeof(float), 5);
        assert_ok(mnn_tensor_write(input, pixels, bytes, MNN_FORMAT_NCHW));
    }
    assert_ok(mnn_session_destroy(&session));
}

static void resize_there_and_back(void** state) {
    (void)state;
    enum { BATCH = 3 };
    float one[CLASSES], again[CLASSES], pixels[BATCH * PIXELS], many[BATCH * CLASSES];
    fill_pixels(pixels, BATCH * PIXELS, 12);
    mnn_session_t* session = open_session(net);
    mnn_tensor_t *input = first_input(session), *output = first_output(session);
    const int32_t small[] = {1, 1, 8, 8}, large[] = {BATCH, 1, 8, 8};
    bool needed = true;
    classify(session, pixels, 1, one);
    /* The shape it has: nothing to do, and the results stay. */
    assert_ok(mnn_session_resize_input(session, input, small, 4));
    assert_ok(mnn_session_needs_resize(session, &needed));
    assert_false(needed);
    assert_ok(mnn_session_resize(session));
    assert_ok(mnn_tensor_read(output, again, sizeof again, MNN_FORMAT_NCHW));
    assert_memory_equal(again, one, sizeof one);
    for (int round = 0; round < 3; ++round) {
        assert_ok(mnn_session_resize_input(session, input, large, 4));
        assert_ok(mnn_session_needs_resize(session, &needed));
        assert_true(needed);
        assert_shape(input, large, 4);
        /* Until the resize the session answers nothing about what it would compute. */
        size_t count = UNTOUCHED_SIZE, rank = UNTOUCHED_SIZE;
        int32_t number = UNTOUCHED_INT, dims[MNN_MAX_RANK] = {UNTOUCHED_INT};
        double flops = -5;
        mnn_session_memory_t memory = {.struct_size = sizeof memory, .arena_bytes = 77};
        mnn_session_op_info_t info = {.struct_size = sizeof info, .host_shape = 77};
        assert_fails(mnn_session_run(session), MNN_ERROR_BAD_STATE);
        assert_fails(mnn_tensor_write(input, pixels, sizeof pixels, MNN_FORMAT_NCHW), MNN_ERROR_BAD_STATE);
        assert_fails(mnn_tensor_read(output, again, sizeof again, MNN_FORMAT_NCHW), MNN_ERROR_BAD_STATE);
        assert_fails(mnn_tensor_read(input, many, sizeof many, MNN_FORMAT_NCHW), MNN_ERROR_BAD_STATE);
        assert_fails(mnn_tensor_shape(output, dims, MNN_MAX_RANK, &rank), MNN_ERROR_BAD_STATE);
        assert_fails(mnn_tensor_type(output, &number), MNN_ERROR_BAD_STATE);
        assert_fails(mnn_tensor_format(output, &number), MNN_ERROR_BAD_STATE);
        assert_fails(mnn_tensor_element_count(output, &count), MNN_ERROR_BAD_STATE);
        assert_fails(mnn_tensor_byte_size(output, MNN_FORMAT_NCHW, &count), MNN_ERROR_BAD_STATE);
        assert_fails(mnn_session_memory(session, &memory), MNN_ERROR_BAD_STATE);
        assert_fails(mnn_session_flops(session, &flops, NULL), MNN_ERROR_BAD_STATE);
        assert_fails(mnn_session_op_count(session, &count), MNN_ERROR_BAD_STATE);
        assert_fails(mnn_session_op_info(session, 0, &info), MNN_ERROR_BAD_STATE);
        assert_int_equal(count, UNTOUCHED_SIZE);
        assert_int_equal(rank, UNTOUCHED_SIZE);
        assert_int_equal(number, UNTOUCHED_INT);
        assert_int_equal(dims[0], UNTOUCHED_INT);
        assert_true(flops == -5);
        assert_int_equal(memory.arena_bytes, 77);
        assert_int_equal(info.host_shape, 77);
        assert_memory_equal(again, one, sizeof one);
        assert_ok(mnn_session_resize(session));
        assert_ok(mnn_session_needs_resize(session, &needed));
        assert_false(needed);
        /* No run yet with this shape. */
        assert_fails(mnn_tensor_read(output, many, sizeof many, MNN_FORMAT_NCHW), MNN_ERROR_BAD_STATE);
        classify(session, pixels, BATCH, many);
        const int32_t scores[] = {BATCH, CLASSES};
        assert_shape(output, scores, 2);
        assert_close(many, one, CLASSES, 1e-5f);
        for (size_t i = 1; i < BATCH; ++i) { /* the other rows are those of their own images */
            mnn_session_t* single = open_session(net);
            classify(single, pixels + i * PIXELS, 1, again);
            assert_close(many + i * CLASSES, again, CLASSES, 1e-5f);
            assert_ok(mnn_session_destroy(&single));
        }
        assert_ok(mnn_session_resize_input(session, input, small, 4));
        assert_ok(mnn_session_resize(session));
        assert_ptr_equal(first_input(session), input);
        assert_ptr_equal(first_output(session), output);
        classify(session, pixels, 1, again);
        assert_memory_equal(again, one, sizeof one);
    }
    assert_ok(mnn_session_destroy(&session));
}

static void resize_misuse(void** state) {
    (void)state;
    mnn_session_t *session = open_session(net), *other = open_session(net);
    mnn_tensor_t* input = first_input(session);
    const int32_t good[] = {1, 1, 8, 8}, negative[] = {1, 1, -1, 8}, low[] = {INT32_MIN, 1, 8, 8};
    const int32_t huge[] = {INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX};
    const int32_t long_dims[MNN_MAX_RANK + 1] = {1, 1, 8, 8, 1, 1, 1, 1, 1, 1};
    bool needed = true;
    assert_fails(mnn_session_resize_input(session, first_input(other), good, 4), MNN_ERROR_BAD_HANDLE);
    assert_fails(mnn_session_resize_input(session, first_output(session), good, 4), MNN_ERROR_BAD_HANDLE);
    assert_fails(mnn_session_resize_input(session, (mnn_tensor_t*)session, good, 4), MNN_ERROR_BAD_HANDLE);
    assert_fails(mnn_session_resize_input(session, (mnn_tensor_t*)net, good, 4), MNN_ERROR_BAD_HANDLE);
    assert_fails(mnn_session_resize_input(session, input, negative, 4), MNN_ERROR_BAD_RANGE);
    assert_fails(mnn_session_resize_input(session, input, low, 4), MNN_ERROR_BAD_RANGE);
    assert_fails(mnn_session_resize_input(session, input, long_dims, MNN_MAX_RANK + 1), MNN_ERROR_BAD_RANGE);
    assert_fails(mnn_session_resize_input(session, input, good, SIZE_MAX), MNN_ERROR_BAD_RANGE);
    assert_fails(mnn_session_resize_input(session, input, huge, 4), MNN_ERROR_OVERFLOW);
    assert_ok(mnn_session_needs_resize(session, &needed));
    assert_false(needed);
    assert_shape(input, good, 4);
    float pixels[PIXELS], wanted[CLASSES], got[CLASSES];
    reference_scores(13, wanted);
    fill_pixels(pixels, PIXELS, 13);
    classify(session, pixels, 1, got);
    assert_memory_equal(got, wanted, sizeof got);
    assert_ok(mnn_session_destroy(&other));
    assert_ok(mnn_session_destroy(&session));
}

/* Shapes that the net refuses, or that are legal and odd: a code with a sentence, and a good shape works
 * after. */
static void resize_to_odd_shapes(void** state) {
    (void)state;
    static const struct {
        size_t rank;
        int32_t dims[MNN_MAX_RANK];
    } odd[] = {
        {0, {0}},
        {1, {64}},
        {2, {8, 8}},
        {3, {1, 8, 8}},
        {4, {1, 2, 8, 8}},
        {4, {1, 1, 9, 8}},
        {4, {1, 1, 1, 1}},
        {4, {0, 1, 8, 8}},
        {4, {1, 0, 8, 8}},
        {4, {1, 1, 0, 8}},
        {4, {1, 1, 0, 0}},
        {5, {1, 1, 8, 8}},
        {4, {1, 3, 8, 8}},
        {4, {1, 1, 16, 16}},
        {9, {1, 1, 1, 1, 1, 1, 1, 1, 1}},
        {4, {7, 1, 8, 8}},
        {4, {1, 8, 8, 1}},
        {4, {1, 1, 2, 2}},
        {4, {1, 1, 100000, 100000}},
    };
    float pixels[PIXELS], wanted[CLASSES], got[CLASSES];
    const int32_t good[] = {1, 1, 8, 8};
    reference_scores(14, wanted);
    fill_pixels(pixels, PIXELS, 14);
    mnn_schedule_config_t config = default_config();
    config.max_memory_bytes = 64u << 20;
    mnn_session_t* session = NULL;
    assert_ok(mnn_session_create(net, &config, &session));
    mnn_tensor_t* input = first_input(session);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; ++i) {
        assert_ok(mnn_session_resize_input(session, input, odd[i].dims, odd[i].rank));
        mnn_status status = mnn_session_resize(session);
        if (status == MNN_OK) {
            size_t bytes = 0;
            assert_ok(mnn_tensor_byte_size(input, MNN_FORMAT_NCHW, &bytes));
            void* zeros = calloc(bytes + 1, 1);
            assert_non_null(zeros);
            assert_ok(mnn_tensor_write(input, zeros, bytes, MNN_FORMAT_NCHW));
            free(zeros);
            status = mnn_session_run(session);
        }
        if (status != MNN_OK) assert_true(mnn_last_error()[0] != '\0');
        if (status == MNN_ERROR_INTERNAL || status == MNN_ERROR_OUT_OF_MEMORY)
            fail_msg("odd shape %zu gives %s: %s", i, mnn_status_name(status), mnn_last_error());
        assert_ok(mnn_session_resize_input(session, input, good, 4));
        assert_ok(mnn_session_resize(session));
        classify(session, pixels, 1, got);
        assert_memory_equal(got, wanted, sizeof got);
    }
    assert_ok(mnn_session_destroy(&session));
}

/* A model that leaves an extent open: everything waits for a resize. */
static void open_extents(void** state) {
    (void)state;
    size_t size = 0, rank = 0, number = UNTOUCHED_SIZE;
    unsigned char* bytes = open_model(2, &size);
    mnn_interpreter_t* open_net = NULL;
    assert_ok(mnn_interpreter_create_from_memory(bytes, size, NULL, &open_net));
    free(bytes);
    int32_t dims[MNN_MAX_RANK];
    const int32_t declared[] = {1, 1, -1, 8}, good[] = {1, 1, 8, 8};
    assert_ok(mnn_interpreter_input_shape(open_net, 0, dims, MNN_MAX_RANK, &rank));
    assert_int_equal(rank, 4);
    assert_memory_equal(dims, declared, sizeof declared);
    mnn_session_t* session = open_session(open_net);
    mnn_tensor_t* input = first_input(session);
    bool needed = false;
    assert_ok(mnn_session_needs_resize(session, &needed));
    assert_true(needed);
    assert_shape(input, declared, 4);
    assert_fails(mnn_tensor_element_count(input, &number), MNN_ERROR_BAD_STATE);
    assert_fails(mnn_tensor_byte_size(input, MNN_FORMAT_NCHW, &number), MNN_ERROR_BAD_STATE);
    assert_int_equal(number, UNTOUCHED_SIZE);
    assert_fails(mnn_session_resize(session), MNN_ERROR_BAD_STATE);
    assert_non_null(strstr(mnn_last_error(), "image"));
    assert_fails(mnn_session_run(session), MNN_ERROR_BAD_STATE);
    float pixels[PIXELS], wanted[CLASSES], got[CLASSES];
    reference_scores(15, wanted);
    fill_pixels(pixels, PIXELS, 15);
    assert_ok(mnn_session_resize_input(session, input, good, 4));
    assert_ok(mnn_session_resize(session));
    classify(session, pixels, 1, got);
    assert_memory_equal(got, wanted, sizeof got);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&open_net));
}

static void run_states(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    float pixels[PIXELS], wanted[CLASSES], got[CLASSES], back[PIXELS];
    reference_scores(16, wanted);
    fill_pixels(pixels, PIXELS, 16);
    assert_fails(mnn_tensor_read(first_output(session), got, sizeof got, MNN_FORMAT_NCHW),
                 MNN_ERROR_BAD_STATE);
    classify(session, pixels, 1, got);
    assert_memory_equal(got, wanted, sizeof got);
    /* Inputs keep their contents: runs without a new write give the same. */
    for (int i = 0; i < 5; ++i) {
        assert_ok(mnn_session_run(session));
        assert_ok(mnn_tensor_read(first_output(session), got, sizeof got, MNN_FORMAT_NCHW));
        assert_memory_equal(got, wanted, sizeof got);
        assert_ok(mnn_tensor_read(first_input(session), back, sizeof back, MNN_FORMAT_NCHW));
        assert_memory_equal(back, pixels, sizeof back);
    }
    assert_ok(mnn_session_destroy(&session));
}

static void memory_info(void** state) {
    (void)state;
    mnn_session_t *session = open_session(net), *other = open_session(net);
    struct {
        mnn_session_memory_t memory;
        unsigned char later[32];
    } mine;
    memset(&mine, 0x5a, sizeof mine);
    mine.memory.struct_size = sizeof mine;
    assert_ok(mnn_session_memory(session, &mine.memory));
    assert_int_equal(mine.memory.struct_size, sizeof mine);
    for (size_t i = 0; i < sizeof mine.later; ++i) assert_int_equal(mine.later[i], 0x5a);
    /* 9,930 floats of weights at least, however they are arranged. */
    assert_in_range(mine.memory.weight_bytes, 9930 * 4, 1 << 20);
    assert_in_range(mine.memory.arena_bytes, 1, 1 << 20);
    assert_true(mine.memory.total_bytes >= mine.memory.weight_bytes + mine.memory.arena_bytes);
    assert_true(mine.memory.peak_bytes >= mine.memory.total_bytes);
    mnn_session_memory_t second = {.struct_size = sizeof second};
    assert_ok(mnn_session_memory(other, &second));
    assert_int_equal(second.weight_bytes, mine.memory.weight_bytes); /* shared, not doubled */
    assert_int_equal(second.arena_bytes, mine.memory.arena_bytes);
    const size_t small[] = {0, sizeof(size_t), sizeof second - 1};
    for (size_t i = 0; i < 3; ++i) {
        mnn_session_memory_t memory = {.struct_size = small[i], .arena_bytes = 77};
        assert_fails(mnn_session_memory(session, &memory), MNN_ERROR_VERSION_MISMATCH);
        assert_int_equal(memory.arena_bytes, 77);
        assert_int_equal(memory.struct_size, small[i]);
    }
    const int32_t large[] = {16, 1, 8, 8};
    assert_ok(mnn_session_resize_input(other, first_input(other), large, 4));
    assert_ok(mnn_session_resize(other));
    mnn_session_memory_t grown = {.struct_size = sizeof grown};
    assert_ok(mnn_session_memory(other, &grown));
    assert_true(grown.arena_bytes > second.arena_bytes);
    assert_true(grown.peak_bytes >= grown.total_bytes && grown.total_bytes > second.total_bytes);
    assert_ok(mnn_session_destroy(&other));
    assert_ok(mnn_session_destroy(&session));
}

static void flops(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    double one = -1, same = -1, eight = -1;
    bool complete = false;
    assert_ok(mnn_session_flops(session, &one, &complete));
    assert_ok(mnn_session_flops(session, &same, NULL));
    assert_true(one == same);
    assert_true(complete);
    /* The products of the layers: 64 * (9 * 16 + 144 * 32) + 512 * 10 multiply-adds. */
    const double layers = 2.0 * (64 * (9 * 16 + 144 * 32) + 512 * 10);
    assert_true(one >= 0.9 * layers && one <= 1.2 * layers);
    const int32_t large[] = {8, 1, 8, 8};
    assert_ok(mnn_session_resize_input(session, first_input(session), large, 4));
    assert_ok(mnn_session_resize(session));
    assert_ok(mnn_session_flops(session, &eight, &complete));
    assert_true(eight >= 7.5 * one && eight <= 8.5 * one);
    assert_ok(mnn_session_destroy(&session));
}

static void op_infos(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    size_t count = 0, convolutions = 0;
    double sum = 0, total = 0;
    assert_ok(mnn_session_op_count(session, &count));
    assert_true(count >= 4);
    for (size_t i = 0; i < count; ++i) {
        struct {
            mnn_session_op_info_t info;
            unsigned char later[32];
        } mine;
        memset(&mine, 0x5a, sizeof mine);
        mine.info.struct_size = sizeof mine;
        assert_ok(mnn_session_op_info(session, i, &mine.info));
        assert_int_equal(mine.info.struct_size, sizeof mine);
        for (size_t k = 0; k < sizeof mine.later; ++k) assert_int_equal(mine.later[k], 0x5a);
        assert_non_null(mine.info.name);
        assert_true(mine.info.type_name && mine.info.type_name[0]);
        assert_string_equal(mine.info.backend_name, "cpu");
        assert_null(mine.info.reason);
        assert_in_range(mine.info.host_shape, 0, 1);
        assert_true(mine.info.flops >= 0);
        sum += mine.info.flops;
        if (strcmp(mine.info.type_name, "Convolution") == 0) {
            ++convolutions;
            assert_true(mine.info.flops > 0);
            assert_int_equal(mine.info.host_shape, 0);
        }
    }
    assert_int_equal(convolutions, 3);
    assert_ok(mnn_session_flops(session, &total, NULL));
    assert_true(sum == total);
    mnn_session_op_info_t info = {.struct_size = sizeof info, .host_shape = 77};
    assert_fails(mnn_session_op_info(session, count, &info), MNN_ERROR_BAD_INDEX);
    assert_fails(mnn_session_op_info(session, SIZE_MAX, &info), MNN_ERROR_BAD_INDEX);
    const size_t small[] = {0, sizeof(size_t), sizeof info - 8};
    for (size_t i = 0; i < 3; ++i) {
        info.struct_size = small[i];
        assert_fails(mnn_session_op_info(session, 0, &info), MNN_ERROR_VERSION_MISMATCH);
    }
    assert_int_equal(info.host_shape, 77);
    assert_null(info.name);
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
        cmocka_unit_test(output_names),
        cmocka_unit_test(save_tensors),
        cmocka_unit_test(save_any_tensor),
        cmocka_unit_test(destroy_order),
        cmocka_unit_test(find_tensors),
        cmocka_unit_test(null_arguments),
        cmocka_unit_test(wrong_handles),
        cmocka_unit_test(inputs_are_zeros_until_they_are_written),
        cmocka_unit_test(resize_there_and_back),
        cmocka_unit_test(resize_misuse),
        cmocka_unit_test(resize_to_odd_shapes),
        cmocka_unit_test(open_extents),
        cmocka_unit_test(run_states),
        cmocka_unit_test(memory_info),
        cmocka_unit_test(flops),
        cmocka_unit_test(op_infos),
    };
    return cmocka_run_group_tests_name("session", tests, open_net, close_net);
}
