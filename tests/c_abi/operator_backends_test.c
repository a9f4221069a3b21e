/* operator_backends of a configuration: which backend takes an operator that earlier backends refuse. Cases that need a
 * Vulkan device are skipped without one. */
#include "backend.h"

#define COSINE MNN_C_CASES_FOLDER "/channel_products__cosine/model.mnn"

/* A backend that fills the results of one type of operator with a number, and refuses all others. */
struct filler {
    const char* type;
    float value;
    int asked, computed;
};

static mnn_status takes_its_type(void* user_data, mnn_operator_call_t* call) {
    struct filler* filler = user_data;
    ++filler->asked;
    if (strcmp(call->node->type_name, filler->type) == 0) return MNN_OK;
    snprintf(call->message, call->message_size, "only %s", filler->type);
    return MNN_ERROR_NOT_SUPPORTED;
}

static mnn_status fill(void* user_data, mnn_operator_call_t* call) {
    struct filler* filler = user_data;
    float* values = call->outputs[0]->data;
    for (size_t i = 0; i < call->outputs[0]->bytes / sizeof *values; ++i) values[i] = filler->value;
    ++filler->computed;
    return MNN_OK;
}

static int32_t add_filler(mnn_runtime_t* runtime, const char* name, struct filler* filler) {
    mnn_backend_t backend;
    int32_t type = 0;
    assert_ok(mnn_backend_init(&backend, sizeof backend));
    backend.name = name;
    backend.supports = takes_its_type;
    backend.compute = fill;
    backend.user_data = filler;
    assert_ok(mnn_runtime_add_backend(runtime, &backend, &type));
    return type;
}

static mnn_interpreter_t* open_cosine(void) {
    mnn_interpreter_t* model = NULL;
    assert_ok(mnn_interpreter_create_from_file(COSINE, NULL, &model));
    return model;
}

/* Writes the backends of all operators, with the reasons. */
static void places(mnn_session_t* session, char* text, size_t size) {
    size_t count = 0;
    text[0] = '\0';
    assert_ok(mnn_session_op_count(session, &count));
    for (size_t i = 0; i < count; ++i) {
        mnn_op_info_t info = {.struct_size = sizeof info};
        assert_ok(mnn_session_op_info(session, i, &info));
        const size_t used = strlen(text);
        snprintf(text + used, size - used, "%s:%s(%s) ", info.type_name, info.backend_name,
                 info.reason ? info.reason : "");
    }
}

static float first_value(mnn_session_t* session) {
    size_t bytes = 0;
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_tensor_byte_size(first_output(session), MNN_FORMAT_NCHW, &bytes));
    float* values = malloc(bytes);
    assert_ok(mnn_tensor_read(first_output(session), values, bytes, MNN_FORMAT_NCHW));
    const float value = values[0];
    free(values);
    return value;
}

static mnn_session_t* create(mnn_interpreter_t* model, mnn_runtime_t* runtime, int32_t wanted, const int32_t* list,
                             size_t count) {
    mnn_schedule_config_t config = config_of(runtime, wanted);
    config.operator_backends = list;
    config.operator_backend_count = count;
    mnn_session_t* session = NULL;
    assert_ok(mnn_session_create(model, &config, &session));
    return session;
}

static void misuse(void** state) {
    (void)state;
    struct filler filler = {"CosineSimilarity", 7, 0, 0};
    mnn_runtime_t* runtime = runtime_of(1);
    const int32_t own = add_filler(runtime, "own", &filler);
    const int32_t lists[][2] = {
        {own, own}, {MNN_FORWARD_CPU, own}, {MNN_FORWARD_AUTO, own}, {own + 1000, own}, {-1, own}};
    mnn_schedule_config_t config = config_of(runtime, MNN_FORWARD_AUTO);
    config.operator_backend_count = 1;
    assert_refused(&config, MNN_ERROR_NULL_ARGUMENT);
    config.operator_backend_count = 2;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i) {
        config.operator_backends = lists[i];
        assert_refused(&config, MNN_ERROR_INVALID_VALUE);
    }
    config.operator_backends = &own;
    config.operator_backend_count = 1;
    config.forward_type = own; /* once more */
    assert_refused(&config, MNN_ERROR_INVALID_VALUE);
    config.forward_type = MNN_FORWARD_CPU; /* which refuses nothing */
    assert_refused(&config, MNN_ERROR_INVALID_VALUE);
    assert_int_equal(filler.asked, 0);
    assert_ok(mnn_runtime_destroy(&runtime));
}

/* Two backends of the host, before the CPU. */
static void one_host_after_the_other(void** state) {
    (void)state;
    struct filler others = {"Pooling", 3, 0, 0}, mine = {"CosineSimilarity", 7, 0, 0}, later = mine;
    later.value = 9;
    char text[1024];
    mnn_runtime_t* runtime = runtime_of(1);
    const int32_t first = add_filler(runtime, "first", &others), second = add_filler(runtime, "second", &mine),
                  third = add_filler(runtime, "third", &later);
    const int32_t list[] = {second, third};
    mnn_interpreter_t* model = open_cosine();
    mnn_session_t* session = create(model, runtime, first, list, 2);
    places(session, text, sizeof text);
    assert_non_null(strstr(text, "CosineSimilarity:second"));
    assert_true(first_value(session) == 7);
    assert_true(others.asked > 0 && mine.asked > 0);
    assert_int_equal(later.asked, 0);
    assert_ok(mnn_session_destroy(&session));
    session = create(model, runtime, first, NULL, 0);
    places(session, text, sizeof text);
    assert_non_null(strstr(text, "CosineSimilarity:cpu(backend 'first' does not compute it: only Pooling)"));
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&model));
    assert_ok(mnn_runtime_destroy(&runtime));
}

/* A backend of the host behind the GPU is asked for what the GPU refuses, and takes it before the CPU. */
static void behind_a_gpu(void** state) {
    (void)state;
    if (!has_device()) skip();
    struct filler mine = {"CosineSimilarity", 7, 0, 0}, pools = {"Pooling", 3, 0, 0};
    char text[2048];
    mnn_runtime_t* runtime = runtime_of(1);
    const int32_t own = add_filler(runtime, "own", &mine), pooling = add_filler(runtime, "pooling", &pools);
    mnn_interpreter_t* model = open_cosine();
    mnn_session_t* session = create(model, runtime, MNN_FORWARD_VULKAN, &own, 1);
    places(session, text, sizeof text);
    assert_non_null(strstr(text, "CosineSimilarity:own("));
    assert_non_null(strstr(text, "Vulkan"));
    assert_true(first_value(session) == 7);
    assert_ok(mnn_session_destroy(&session));
    session = create(model, runtime, MNN_FORWARD_VULKAN, &pooling, 1);
    places(session, text, sizeof text);
    assert_non_null(strstr(text, "CosineSimilarity:cpu("));
    assert_true(pools.asked > 0);
    assert_int_equal(pools.computed, 0);
    assert_ok(mnn_session_destroy(&session));
    /* The reasons of a backend before the GPU, of the GPU and of one behind it. */
    struct filler pools_too = pools;
    const int32_t behind[] = {MNN_FORWARD_VULKAN, add_filler(runtime, "last", &pools_too)};
    session = create(model, runtime, pooling, behind, 2);
    places(session, text, sizeof text);
    assert_non_null(strstr(text, "CosineSimilarity:cpu(backend 'pooling' does not compute it: only Pooling; "));
    assert_non_null(strstr(text, "Vulkan"));
    assert_non_null(strstr(text, "backend 'last' does not compute it"));
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&model));
    /* The GPU pools itself. */
    pools.asked = 0;
    session = create(net, runtime, MNN_FORWARD_VULKAN, &pooling, 1);
    places(session, text, sizeof text);
    assert_non_null(strstr(text, "Pooling:vulkan"));
    assert_ok(mnn_session_run(session));
    assert_int_equal(pools.computed, 0);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_runtime_destroy(&runtime));
}

/* A GPU behind a backend of the host computes what that refuses. */
static void a_gpu_behind(void** state) {
    (void)state;
    if (!has_device()) skip();
    const int32_t gpu = MNN_FORWARD_VULKAN;
    struct host host;
    init_host(&host);
    char text[2048];
    float pixels[PIXELS], wanted[CLASSES], got[CLASSES];
    mnn_runtime_t* runtime = runtime_of(1);
    const int32_t own = add(runtime, &host);
    mnn_session_t* session = create(net, runtime, own, &gpu, 1);
    places(session, text, sizeof text);
    assert_non_null(strstr(text, "Pooling:own()"));
    assert_non_null(strstr(text, "Convolution:vulkan(backend 'own' does not compute it: Convolution is for others)"));
    reference_scores(4, wanted);
    fill_pixels(pixels, PIXELS, 4);
    for (int round = 0; round < 2; ++round) {
        classify(session, pixels, 1, got);
        assert_close(got, wanted, CLASSES, 1e-4f);
    }
    assert_int_equal(host.computed, 2);
    mnn_session_properties_t info = session_info_of(session);
    assert_int_equal(info.forward_type, own);
    assert_non_null(info.device);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_runtime_destroy(&runtime));
}

/* A GPU that is missing is an error where no fallback is allowed. */
static void without_a_gpu(void** state) {
    (void)state;
    const char* const variables[] = {"VK_DRIVER_FILES", "VK_ICD_FILENAMES"};
    for (size_t i = 0; i < 2; ++i) setenv(variables[i], "/nowhere/driver.json", 1);
    const int32_t gpu = MNN_FORWARD_VULKAN;
    struct host host;
    init_host(&host);
    char text[2048];
    mnn_runtime_t* runtime = runtime_of(1);
    mnn_schedule_config_t config = config_of(runtime, add(runtime, &host));
    config.operator_backends = &gpu;
    config.operator_backend_count = 1;
    assert_refused(&config, MNN_ERROR_BACKEND_MISSING);
    config.allow_fallback = 1;
    mnn_session_t* session = NULL;
    assert_ok(mnn_session_create(net, &config, &session));
    places(session, text, sizeof text);
    assert_non_null(strstr(text, "Pooling:own()"));
    assert_non_null(strstr(text, "Convolution:cpu("));
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_runtime_destroy(&runtime));
    for (size_t i = 0; i < 2; ++i) unsetenv(variables[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(misuse),        cmocka_unit_test(one_host_after_the_other),
        cmocka_unit_test(behind_a_gpu),  cmocka_unit_test(a_gpu_behind),
        cmocka_unit_test(without_a_gpu),
    };
    return cmocka_run_group_tests_name("operator_backends", tests, open_net, close_net);
}
