/* Several paths of one session over the demo net. Whole nets are cut in cut_models_test. */
#include <math.h>

#include "net_files.h"
#include "net_parts.h"

static const char* const kPooling[] = {"m"};

static void assert_refused_paths(const mnn_schedule_config_t* configs, size_t count, mnn_status wanted,
                                 const char* word) {
    mnn_session_t* session = UNTOUCHED_POINTER;
    assert_fails(mnn_session_create_paths(net, configs, count, &session), wanted);
    assert_ptr_equal(session, UNTOUCHED_POINTER);
    if (!strstr(mnn_last_error(), word)) fail_msg("'%s' is not in: %s", word, mnn_last_error());
}

static void wrong_paths(void** state) {
    (void)state;
    mnn_schedule_config_t configs[MNN_MAX_PATHS + 1];
    for (size_t i = 0; i <= MNN_MAX_PATHS; ++i) configs[i] = default_config();
    mnn_session_t* session = UNTOUCHED_POINTER;
    assert_refused_paths(configs, 0, MNN_ERROR_BAD_RANGE, "0");
    assert_refused_paths(configs, MNN_MAX_PATHS + 1, MNN_ERROR_BAD_RANGE, "65");
    assert_refused_paths(NULL, 1, MNN_ERROR_NULL_ARGUMENT, "configs");
    assert_fails(mnn_session_create_paths(net, configs, 1, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_session_create_paths(NULL, configs, 1, &session), MNN_ERROR_NULL_ARGUMENT);
    assert_ptr_equal(session, UNTOUCHED_POINTER);
    /* Both paths are the whole net. */
    assert_refused_paths(configs, 2, MNN_ERROR_BAD_FORMAT, "path 1");
    configs[1].threads = -1;
    configs[0] = by_names(NULL, 0, kM, 1);
    assert_refused_paths(configs, 2, MNN_ERROR_BAD_RANGE, "path 1");
    static const char* const unknown[] = {"no such tensor"};
    configs[1] = by_names(unknown, 1, NULL, 0);
    assert_refused_paths(configs, 2, MNN_ERROR_NOT_FOUND,
                         "path 1: the model has no tensor 'no such tensor'; its outputs are '");
    configs[1] = default_config();
    configs[1].cpu_isa = "abacus";
    assert_refused_paths(configs, 2, MNN_ERROR_NOT_FOUND, "path 1");
    configs[1] = default_config();
    configs[1].struct_size = sizeof configs[1] + 8;
    assert_refused_paths(configs, 2, MNN_ERROR_VERSION_MISMATCH, "configs[1]");
    configs[1] = default_config();
    configs[0].struct_size = 0;
    assert_refused_paths(configs, 2, MNN_ERROR_VERSION_MISMATCH, "configs[0]");
    /* An operator may be in one path only. */
    configs[0] = by_operators(kConvolutions, 2);
    configs[1] = by_operators(kConvolutions, 2);
    assert_refused_paths(configs, 2, MNN_ERROR_INVALID_VALUE, "path 1: operator 'c1'");
    /* A path must not compute an input of an earlier one: the pooling reads r2, the result of the convolutions. */
    configs[0] = by_operators(kPooling, 1);
    configs[1] = by_operators(kConvolutions, 2);
    assert_refused_paths(configs, 2, MNN_ERROR_INVALID_VALUE, "'r2'");
    mnn_cancel_t *token = NULL, *other = NULL;
    assert_ok(mnn_cancel_create(&token));
    assert_ok(mnn_cancel_create(&other));
    configs[0] = by_names(NULL, 0, kM, 1);
    configs[1] = default_config();
    configs[0].cancel = token;
    configs[1].cancel = other;
    assert_refused_paths(configs, 2, MNN_ERROR_INVALID_VALUE, "cancel");
    configs[0].cancel = NULL;
    assert_ok(mnn_cancel_trigger(other));
    assert_refused_paths(configs, 2, MNN_ERROR_CANCELLED, "");
    assert_ok(mnn_cancel_destroy(&token));
    assert_ok(mnn_cancel_destroy(&other));
    mnn_session_properties_t info = {.struct_size = sizeof info};
    session = open_session(net);
    assert_ok(mnn_session_path_info(session, 0, &info));
    assert_fails(mnn_session_path_info(session, 1, &info), MNN_ERROR_BAD_INDEX);
    assert_ok(mnn_session_destroy(&session));
}

/* Three paths: c1; c2 and the pooling; the rest. */
static mnn_session_t* three_paths(int32_t first, int32_t second, int32_t third) {
    mnn_schedule_config_t configs[] = {by_names(NULL, 0, kR1, 1), by_names(NULL, 0, kM, 1), default_config()};
    configs[0].forward_type = first;
    configs[1].forward_type = second;
    configs[1].threads = 2;
    configs[2].forward_type = third;
    mnn_session_t* session = NULL;
    assert_ok(mnn_session_create_paths(net, configs, 3, &session));
    return session;
}

static void resize_batch(mnn_session_t* session, int32_t batch) {
    const int32_t dims[] = {batch, 1, 8, 8};
    assert_ok(mnn_session_resize_input(session, first_input(session), dims, 4));
    assert_ok(mnn_session_resize(session));
}

static void one_after_another(void** state) {
    (void)state;
    enum { MAX_BATCH = 5 };
    float wanted[MAX_BATCH * CLASSES], got[MAX_BATCH * CLASSES], pixels[MAX_BATCH * PIXELS], pooled[MAX_BATCH * POOLED];
    mnn_session_t* session = three_paths(MNN_FORWARD_CPU, MNN_FORWARD_CPU, MNN_FORWARD_CPU);
    size_t count = 0, ops = 0;
    const char *name = NULL, *order[] = {"r1", "m", "scores"};
    assert_ok(mnn_session_input_count(session, &count));
    assert_int_equal(count, 1);
    assert_input(session, 0, "image", 1);
    assert_ok(mnn_session_output_count(session, &count));
    assert_int_equal(count, 3);
    for (size_t i = 0; i < 3; ++i) {
        mnn_tensor_t* tensor = NULL;
        assert_ok(mnn_session_output_at(session, i, &tensor));
        assert_ok(mnn_tensor_name(tensor, &name));
        assert_string_equal(name, order[i]);
    }
    const int32_t batches[] = {1, MAX_BATCH, 2, MAX_BATCH};
    for (size_t k = 0; k < 4; ++k) {
        const int32_t batch = batches[k];
        mnn_session_t* whole = batch_session(batch);
        fill_pixels(pixels, (size_t)batch * PIXELS, (uint32_t)k);
        classify(whole, pixels, (size_t)batch, wanted);
        assert_ok(mnn_session_destroy(&whole));
        pooled_of(pixels, batch, pooled);
        resize_batch(session, batch);
        for (int again = 0; again < 2; ++again) {
            mnn_tensor_t* scores = NULL;
            assert_ok(mnn_tensor_write(first_input(session), pixels, (size_t)batch * PIXELS * sizeof(float),
                                       MNN_FORMAT_NCHW));
            assert_ok(mnn_session_run(session));
            assert_output(session, "m", pooled, (size_t)batch * POOLED);
            assert_ok(mnn_session_output(session, "scores", &scores));
            assert_ok(mnn_tensor_read(scores, got, (size_t)batch * CLASSES * sizeof(float), MNN_FORMAT_NCHW));
            assert_memory_equal(got, wanted, (size_t)batch * CLASSES * sizeof(float));
        }
    }
    /* Each operator is in one of the paths. */
    const char* once[] = {"c1", "c2"};
    assert_ok(mnn_session_op_count(session, &ops));
    for (size_t k = 0; k < 2; ++k) {
        size_t found = 0;
        for (size_t i = 0; i < ops; ++i) {
            mnn_op_info_t info = {.struct_size = sizeof info};
            assert_ok(mnn_session_op_info(session, i, &info));
            found += strcmp(info.name, once[k]) == 0;
        }
        assert_int_equal(found, 1);
    }
    mnn_session_properties_t info = {.struct_size = sizeof info};
    assert_ok(mnn_session_path_info(session, 1, &info));
    assert_int_equal(info.wanted_threads, 2);
    assert_ok(mnn_session_path_info(session, 2, &info));
    assert_int_equal(info.wanted_threads, 1);
    assert_ok(mnn_session_destroy(&session));
}

/* Inputs and outputs of different paths in the caller's memory. */
static void bound(void** state) {
    (void)state;
    float wanted[CLASSES], pixels[PIXELS], pooled[POOLED], bound_pooled[POOLED], scores[CLASSES];
    mnn_session_t* session = three_paths(MNN_FORWARD_CPU, MNN_FORWARD_CPU, MNN_FORWARD_CPU);
    mnn_tensor_t *m = NULL, *last = NULL;
    assert_ok(mnn_session_output(session, "m", &m));
    assert_ok(mnn_session_output(session, "scores", &last));
    fill_pixels(pixels, PIXELS, 21);
    reference_scores(21, wanted);
    pooled_of(pixels, 1, pooled);
    assert_ok(mnn_session_bind_input(session, first_input(session), pixels, sizeof pixels, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_bind_output(session, m, bound_pooled, sizeof bound_pooled, MNN_FORMAT_NCHW));
    assert_fails(mnn_session_bind_output(session, last, bound_pooled + 1, sizeof scores, MNN_FORMAT_NCHW),
                 MNN_ERROR_INVALID_VALUE);
    assert_ok(mnn_session_bind_output(session, last, scores, sizeof scores, MNN_FORMAT_NCHW));
    for (int again = 0; again < 2; ++again) {
        memset(bound_pooled, 0, sizeof bound_pooled);
        memset(scores, 0, sizeof scores);
        assert_ok(mnn_session_run(session));
        assert_memory_equal(bound_pooled, pooled, sizeof pooled);
        assert_memory_equal(scores, wanted, sizeof wanted);
    }
    /* After this, runs leave the memory that was bound alone, and the next path reads m where it lies now. */
    assert_ok(mnn_session_bind_output(session, m, NULL, 0, MNN_FORMAT_NCHW));
    memset(bound_pooled, 0, sizeof bound_pooled);
    memset(scores, 0, sizeof scores);
    assert_ok(mnn_session_run(session));
    for (size_t i = 0; i < POOLED; ++i) assert_true(bound_pooled[i] == 0);
    assert_memory_equal(scores, wanted, sizeof wanted);
    assert_output(session, "m", pooled, POOLED);
    assert_ok(mnn_session_trim(session));
    assert_ok(mnn_session_run(session));
    assert_memory_equal(scores, wanted, sizeof wanted);
    assert_ok(mnn_session_destroy(&session));
}

/* An output of a later path that has the elements of its input keeps them when the input's memory is released. */
static void outputs_apart_from_inputs(void** state) {
    (void)state;
    static const char *const m = "m", *const y = "y";
    const float x[] = {1, -2, 3, -4}, wanted[] = {-1, 2, -3, 4};
    float bound_m[4];
    mnn_interpreter_t* views = open_net_of("views");
    mnn_schedule_config_t configs[] = {by_names(NULL, 0, &m, 1), by_names(&m, 1, &y, 1)};
    mnn_session_t* session = NULL;
    mnn_tensor_t* first = NULL;
    assert_ok(mnn_session_create_paths(views, configs, 2, &session));
    assert_ok(mnn_session_output(session, m, &first));
    assert_ok(mnn_session_bind_output(session, first, bound_m, sizeof bound_m, MNN_FORMAT_NCHW));
    assert_ok(mnn_tensor_write(first_input(session), x, sizeof x, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_session_bind_output(session, first, NULL, 0, MNN_FORMAT_NCHW));
    memset(bound_m, 0, sizeof bound_m);
    assert_output(session, y, wanted, 4);
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_session_trim(session));
    assert_output(session, y, wanted, 4);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&views));
}

/* Whether an output has the elements of its input may change with the values of a run. */
static void outputs_that_become_views(void** state) {
    (void)state;
    static const char *const m = "m", *const y = "y";
    static const char* const fed[] = {"m", "s"};
    const float x[] = {1, -2, 3, -4}, wanted[] = {-1, 2, -3, 4};
    float bound_m[4];
    mnn_interpreter_t* repeats = open_net_of("repeats");
    mnn_schedule_config_t configs[] = {by_names(NULL, 0, &m, 1), by_names(fed, 2, &y, 1)};
    mnn_session_t* session = NULL;
    mnn_tensor_t *first = NULL, *input = NULL;
    assert_ok(mnn_session_create_paths(repeats, configs, 2, &session));
    assert_ok(mnn_session_output(session, m, &first));
    assert_ok(mnn_session_bind_output(session, first, bound_m, sizeof bound_m, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_input(session, "x", &input));
    assert_ok(mnn_tensor_write(input, x, sizeof x, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_input(session, "s", &input));
    for (int32_t count = 2; count >= 1; --count) {
        assert_ok(mnn_tensor_write(input, &count, sizeof count, MNN_FORMAT_NCHW));
        assert_ok(mnn_session_run(session));
    }
    assert_ok(mnn_session_bind_output(session, first, NULL, 0, MNN_FORMAT_NCHW));
    memset(bound_m, 0, sizeof bound_m);
    assert_output(session, y, wanted, 4);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&repeats));
}

/* A later path also has an input of the caller: r2 instead of the result of c2. */
static void several_fed(void** state) {
    (void)state;
    float wanted[CLASSES], pixels[PIXELS], pooled[POOLED];
    static const char* const r2[] = {"r2"};
    mnn_schedule_config_t configs[] = {by_names(NULL, 0, kR1, 1), by_names(kM, 1, NULL, 0)};
    mnn_session_t* session = NULL;
    mnn_tensor_t *image = NULL, *r1 = NULL;
    size_t count = 0;
    fill_pixels(pixels, PIXELS, 3);
    reference_scores(3, wanted);
    pooled_of(pixels, 1, pooled);
    assert_ok(mnn_session_create_paths(net, configs, 2, &session));
    assert_ok(mnn_session_input_count(session, &count));
    assert_int_equal(count, 2);
    assert_input(session, 0, "m", 1);
    assert_input(session, 1, "image", 1);
    assert_ok(mnn_session_input(session, "image", &image));
    assert_ok(mnn_tensor_write(first_input(session), pooled, sizeof pooled, MNN_FORMAT_NCHW));
    assert_ok(mnn_tensor_write(image, pixels, sizeof pixels, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
    assert_output(session, "scores", wanted, CLASSES);
    assert_ok(mnn_session_output(session, "r1", &r1));
    assert_ok(mnn_session_destroy(&session));
    /* The second path does not compute an input of the first path. */
    configs[0] = by_names(r2, 1, kM, 1);
    configs[1] = default_config();
    configs[1].save_tensors = r2;
    configs[1].save_tensor_count = 1;
    assert_ok(mnn_session_create_paths(net, configs, 2, &session));
    assert_input(session, 0, "r2", 1);
    assert_input(session, 1, "image", 0);
    assert_ok(mnn_session_output_count(session, &count));
    assert_int_equal(count, 3);
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_session_destroy(&session));
}

struct names {
    char text[1024];
};

static int32_t add_name(void* user_data, const mnn_op_info_t* info, const mnn_tensor_t* const* tensors, size_t count) {
    (void)tensors;
    (void)count;
    struct names* names = user_data;
    const size_t used = strlen(names->text);
    snprintf(names->text + used, sizeof names->text - used, "%s ", info->name);
    return MNN_OP_RUN;
}

static void failures_name_the_path(void** state) {
    (void)state;
    mnn_session_t* session = three_paths(MNN_FORWARD_CPU, MNN_FORWARD_CPU, MNN_FORWARD_CPU);
    float wanted[CLASSES], pixels[PIXELS];
    reference_scores(8, wanted);
    fill_pixels(pixels, PIXELS, 8);
    /* One channel too many for c1. */
    assert_ok(mnn_session_resize_input(session, first_input(session), (int32_t[]){1, 2, 8, 8}, 4));
    assert_true(mnn_session_resize(session) != MNN_OK);
    assert_non_null(strstr(mnn_last_error(), "path 0"));
    assert_true(mnn_session_run(session) != MNN_OK);
    /* These pictures give the last path a number of elements other than 512. */
    assert_ok(mnn_session_resize_input(session, first_input(session), (int32_t[]){1, 1, 16, 16}, 4));
    assert_true(mnn_session_resize(session) != MNN_OK);
    if (!strstr(mnn_last_error(), "path 2")) fail_msg("no path in: %s", mnn_last_error());
    resize_batch(session, 1);
    assert_ok(mnn_tensor_write(first_input(session), pixels, sizeof pixels, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
    assert_output(session, "scores", wanted, CLASSES);
    /* Callbacks see the operators of all paths, in order. */
    struct names names = {""};
    assert_ok(run_watched(session, NULL, add_name, &names));
    const char *c1 = strstr(names.text, "c1"), *c2 = strstr(names.text, "c2");
    assert_true(c1 && c2 && c1 < c2);
    assert_ok(mnn_session_destroy(&session));
}

static void on_two_backends(void** state) {
    (void)state;
    if (!has_device()) skip();
    float wanted[CLASSES], pixels[PIXELS], got[CLASSES];
    reference_scores(17, wanted);
    fill_pixels(pixels, PIXELS, 17);
    const int32_t cpu = MNN_FORWARD_CPU, gpu = MNN_FORWARD_VULKAN;
    const int32_t orders[][3] = {{gpu, cpu, gpu}, {cpu, gpu, cpu}, {gpu, gpu, gpu}};
    for (size_t k = 0; k < 3; ++k) {
        mnn_session_t* session = three_paths(orders[k][0], orders[k][1], orders[k][2]);
        for (size_t i = 0; i < 3; ++i) {
            mnn_session_properties_t info = {.struct_size = sizeof info};
            assert_ok(mnn_session_path_info(session, i, &info));
            assert_int_equal(info.forward_type, orders[k][i]);
        }
        for (int32_t batch = 2; batch > 0; --batch) {
            resize_batch(session, batch);
            mnn_tensor_t* scores = NULL;
            float both[2 * PIXELS], all[2 * CLASSES];
            memcpy(both, pixels, sizeof pixels);
            memcpy(both + PIXELS, pixels, sizeof pixels);
            assert_ok(mnn_tensor_write(first_input(session), both, (size_t)batch * sizeof pixels, MNN_FORMAT_NCHW));
            assert_ok(mnn_session_run(session));
            assert_ok(mnn_session_output(session, "scores", &scores));
            assert_ok(mnn_tensor_read(scores, all, (size_t)batch * sizeof got, MNN_FORMAT_NCHW));
            for (int32_t row = 0; row < batch; ++row)
                for (size_t i = 0; i < CLASSES; ++i)
                    if (fabsf(all[row * CLASSES + (int32_t)i] - wanted[i]) > 1e-3f)
                        fail_msg("order %zu: score %zu is %f, wanted %f", k, i, (double)all[row * CLASSES + (int32_t)i],
                                 (double)wanted[i]);
        }
        assert_ok(mnn_session_destroy(&session));
    }
}

/* Sums of one input and a constant each, in two paths: both read the input, and a written constant is used by the path
 * that reads it. */
static void constants_of_paths(void** state) {
    (void)state;
    enum { VALUES = 6 };
    mnn_interpreter_t* sums = open_case("source__types");
    static const char* const first[] = {"sum_int32"};
    mnn_schedule_config_t configs[] = {by_names(NULL, 0, first, 1), default_config()};
    mnn_session_t* session = NULL;
    size_t count = 0, written = 0;
    float x[VALUES] = {1, 2, 3, 4, 5, 6}, wanted[VALUES];
    for (int i = 0; i < VALUES; ++i) wanted[i] = x[i] + 1000;
    assert_ok(mnn_session_create_paths(sums, configs, 2, &session));
    assert_ok(mnn_session_input_count(session, &count));
    assert_int_equal(count, 1);
    assert_ok(mnn_session_constant_count(session, &count));
    for (size_t i = 0; i < count; ++i) {
        const char* name = NULL;
        mnn_tensor_t* constant = NULL;
        size_t elements = 0;
        assert_ok(mnn_session_constant_name(session, i, &name));
        assert_ok(mnn_session_constant(session, name, &constant));
        assert_ok(mnn_tensor_element_count(constant, &elements));
        const int32_t type = tensor_info_of(constant).type;
        if (elements != VALUES || (type != MNN_TYPE_FLOAT32 && type != MNN_TYPE_INT32)) continue;
        const double thousand[VALUES] = {1000, 1000, 1000, 1000, 1000, 1000};
        assert_ok(mnn_tensor_write_as(constant, thousand, sizeof thousand, MNN_TYPE_DOUBLE, MNN_FORMAT_NCHW));
        ++written;
    }
    assert_true(written >= 2);
    assert_ok(mnn_session_resize(session));
    assert_ok(mnn_tensor_write(first_input(session), x, sizeof x, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
    assert_output(session, "sum_int32", wanted, VALUES);
    assert_output(session, "sum_float", wanted, VALUES);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&sums));
}

/* The rows of a table that a condition chooses: their number is known only in a run, which plans the paths after it. */
static void shapes_of_a_run(void** state) {
    (void)state;
    enum { ROWS = 3, COLUMNS = 2 };
    mnn_interpreter_t* compress = open_case("onnx__compress_0");
    static const char* const places[] = {"Where3"};
    static const char* const flat[] = {"Reshape4"};
    mnn_schedule_config_t configs[] = {by_names(NULL, 0, places, 1), by_names(NULL, 0, flat, 1), default_config()};
    mnn_session_t* session = NULL;
    mnn_tensor_t *table = NULL, *condition = NULL, *output = NULL;
    const float values[ROWS * COLUMNS] = {1, 2, 3, 4, 5, 6};
    const int32_t conditions[][ROWS] = {{0, 1, 1}, {1, 1, 1}, {0, 0, 1}, {0, 1, 0}};
    float bound[ROWS * COLUMNS];
    int32_t dims[MNN_MAX_RANK];
    size_t rank = 0;
    assert_ok(mnn_session_create_paths(compress, configs, 3, &session));
    assert_ok(mnn_session_input(session, "input", &table));
    assert_ok(mnn_session_input(session, "condition", &condition));
    assert_ok(mnn_session_output(session, "output", &output));
    assert_fails(mnn_tensor_shape(output, dims, MNN_MAX_RANK, &rank), MNN_ERROR_BAD_STATE);
    assert_ok(mnn_session_bind_output(session, output, bound, sizeof bound, MNN_FORMAT_NCHW));
    assert_ok(mnn_tensor_write(table, values, sizeof values, MNN_FORMAT_NCHW));
    for (size_t k = 0; k < sizeof conditions / sizeof *conditions; ++k) {
        int32_t rows = 0;
        assert_ok(mnn_tensor_write(condition, conditions[k], sizeof conditions[k], MNN_FORMAT_NCHW));
        for (int again = 0; again < 2; ++again) {
            memset(bound, 0, sizeof bound);
            assert_ok(mnn_session_run(session));
            rows = 0;
            for (int i = 0; i < ROWS; ++i)
                if (conditions[k][i]) {
                    assert_memory_equal(bound + rows * COLUMNS, values + i * COLUMNS, COLUMNS * sizeof *bound);
                    ++rows;
                }
        }
        assert_ok(mnn_tensor_shape(output, dims, MNN_MAX_RANK, &rank));
        assert_int_equal(dims[0], rows);
    }
    assert_ok(mnn_session_resize(session));
    assert_ok(mnn_session_trim(session));
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&compress));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_of_paths),
        cmocka_unit_test(shapes_of_a_run),
        cmocka_unit_test(wrong_paths),
        cmocka_unit_test(one_after_another),
        cmocka_unit_test(bound),
        cmocka_unit_test(outputs_apart_from_inputs),
        cmocka_unit_test(outputs_that_become_views),
        cmocka_unit_test(several_fed),
        cmocka_unit_test(failures_name_the_path),
        cmocka_unit_test(on_two_backends),
    };
    return cmocka_run_group_tests_name("paths", tests, open_net, close_net);
}
