/* Loads the library by hand, resolves every function of the committed list, runs a net and unloads: then no part of the
 * library may be mapped and no thread may be left. With MNN_C_LIBRARIES_STAY the system's dlclose() unmaps nothing:
 * then the same mappings serve all rounds. */
#include "process.h"
#include "support.h"

#include <dlfcn.h>

enum { ROUNDS = 20, NAME_BYTES = 128 };

static void* resolve(void* library, const char* name) {
    dlerror();
    void* symbol = dlsym(library, name);
    if (!symbol) fail_msg("%s: %s", name, dlerror());
    return symbol;
}

static size_t resolve_all(void* library) {
    FILE* list = fopen(MNN_C_EXPORTS_FILE, "r");
    assert_non_null(list);
    char name[NAME_BYTES];
    size_t count = 0;
    while (fgets(name, sizeof name, list)) {
        name[strcspn(name, "\r\n")] = '\0';
        if (strncmp(name, "mnn_", 4) != 0) continue; /* the version node, comments */
        resolve(library, name);
        ++count;
    }
    fclose(list);
    return count;
}

/* ISO C has no cast from an object pointer to a function's: the bytes are copied. */
#define RESOLVE(function)                                  \
    __typeof__(&(function)) function##_ = NULL;            \
    do {                                                   \
        void* const found_ = resolve(library, #function);  \
        memcpy(&function##_, &found_, sizeof function##_); \
    } while (0)

/* Returns false when the requested backend is missing. */
static bool run_once(void* library, int32_t forward_type, int32_t workers, float* scores) {
    RESOLVE(mnn_interpreter_create_from_file);
    RESOLVE(mnn_interpreter_destroy);
    RESOLVE(mnn_schedule_config_init);
    RESOLVE(mnn_session_create);
    RESOLVE(mnn_session_destroy);
    RESOLVE(mnn_session_input);
    RESOLVE(mnn_session_output);
    RESOLVE(mnn_session_run);
    RESOLVE(mnn_session_submit);
    RESOLVE(mnn_session_wait);
    RESOLVE(mnn_tensor_write);
    RESOLVE(mnn_tensor_read);
    RESOLVE(mnn_last_error);
    RESOLVE(mnn_device_count);
    mnn_interpreter_t* net = NULL;
    mnn_session_t* session = NULL;
    mnn_tensor_t *input = NULL, *output = NULL;
    mnn_schedule_config_t config;
    float pixels[PIXELS];
    fill_pixels(pixels, PIXELS, 50);
    assert_int_equal(mnn_schedule_config_init_(&config, sizeof config), MNN_OK);
    config.threads = workers;
    config.forward_type = forward_type;
    /* The failure leaves a sentence, whose storage belongs to the thread and must disappear with the library. */
    assert_int_equal(mnn_interpreter_create_from_file_("no-such-file.mnn", NULL, &net), MNN_ERROR_FILE_NOT_EXIST);
    assert_true(mnn_last_error_()[0] != '\0');
    assert_int_equal(mnn_interpreter_create_from_file_(MNN_C_DIGITS_MODEL, NULL, &net), MNN_OK);
    const mnn_status created = mnn_session_create_(net, &config, &session);
    size_t devices = 0; /* the record of devices is removed with the library, too */
    assert_int_equal(mnn_device_count_(forward_type, &devices), created);
    if (forward_type != MNN_FORWARD_CPU && created == MNN_ERROR_BACKEND_MISSING) {
        assert_int_equal(mnn_interpreter_destroy_(&net), MNN_OK);
        return false;
    }
    assert_int_equal(created, MNN_OK);
    assert_int_equal(mnn_session_input_(session, NULL, &input), MNN_OK);
    assert_int_equal(mnn_session_output_(session, NULL, &output), MNN_OK);
    assert_int_equal(mnn_tensor_write_(input, pixels, sizeof pixels, MNN_FORMAT_NCHW), MNN_OK);
    assert_int_equal(mnn_session_run_(session), MNN_OK);
    assert_int_equal(mnn_session_submit_(session, NULL), MNN_OK);
    assert_int_equal(mnn_session_wait_(session, -1), MNN_OK);
    assert_int_equal(mnn_tensor_read_(output, scores, CLASSES * sizeof(float), MNN_FORMAT_NCHW), MNN_OK);
    if (workers > 1) assert_true(thread_count() > 1);
    assert_int_equal(mnn_session_destroy_(&session), MNN_OK);
    assert_int_equal(mnn_interpreter_destroy_(&net), MNN_OK);
    return true;
}

static mnn_status copy_input(void* user_data, mnn_operator_call_t* call) {
    (void)user_data;
    memcpy(call->outputs[0]->data, call->inputs[0]->data, call->inputs[0]->bytes);
    return MNN_OK;
}

static void count_up(void* user_data) {
    ++*(int*)user_data;
}

/* Runs an operator of this program, which the library must let go before it is unloaded. */
static void run_own_operator(void* library) {
    RESOLVE(mnn_interpreter_create_from_file);
    RESOLVE(mnn_interpreter_destroy);
    RESOLVE(mnn_operator_init);
    RESOLVE(mnn_interpreter_add_operator);
    RESOLVE(mnn_session_create);
    RESOLVE(mnn_session_destroy);
    RESOLVE(mnn_session_run);
    mnn_interpreter_t* net = NULL;
    mnn_session_t* session = NULL;
    mnn_operator_t op;
    int finalized = 0;
    assert_int_equal(mnn_interpreter_create_from_file_(MNN_C_SHRINK_MODEL, NULL, &net), MNN_OK);
    assert_int_equal(mnn_operator_init_(&op, sizeof op), MNN_OK);
    op.name = "SoftShrink";
    op.compute = copy_input;
    op.user_data = &finalized;
    op.finalizer = count_up;
    assert_int_equal(mnn_interpreter_add_operator_(net, &op), MNN_OK);
    assert_int_equal(mnn_session_create_(net, NULL, &session), MNN_OK);
    assert_int_equal(mnn_session_run_(session), MNN_OK);
    assert_int_equal(mnn_interpreter_destroy_(&net), MNN_OK);
    assert_int_equal(mnn_session_destroy_(&session), MNN_OK);
    assert_int_equal(finalized, 1);
}

static mnn_status takes_pooling(void* user_data, mnn_operator_call_t* call) {
    (void)user_data;
    return strcmp(call->node->type_name, "Pooling") == 0 ? MNN_OK : MNN_ERROR_NOT_SUPPORTED;
}

static mnn_status zero_output(void* user_data, mnn_operator_call_t* call) {
    (void)user_data;
    memset(call->outputs[0]->data, 0, call->outputs[0]->bytes);
    return MNN_OK;
}

/* Runs a backend of this program, which the library must let go before it is unloaded. */
static void run_own_backend(void* library) {
    RESOLVE(mnn_interpreter_create_from_file);
    RESOLVE(mnn_interpreter_destroy);
    RESOLVE(mnn_backend_init);
    RESOLVE(mnn_runtime_create);
    RESOLVE(mnn_runtime_destroy);
    RESOLVE(mnn_runtime_add_backend);
    RESOLVE(mnn_schedule_config_init);
    RESOLVE(mnn_session_create);
    RESOLVE(mnn_session_destroy);
    RESOLVE(mnn_session_run);
    mnn_interpreter_t* net = NULL;
    mnn_runtime_t* runtime = NULL;
    mnn_session_t* session = NULL;
    mnn_schedule_config_t config;
    mnn_backend_t backend;
    int finalized = 0;
    assert_int_equal(mnn_interpreter_create_from_file_(MNN_C_DIGITS_MODEL, NULL, &net), MNN_OK);
    assert_int_equal(mnn_runtime_create_(NULL, &runtime), MNN_OK);
    assert_int_equal(mnn_schedule_config_init_(&config, sizeof config), MNN_OK);
    assert_int_equal(mnn_backend_init_(&backend, sizeof backend), MNN_OK);
    backend.name = "own";
    backend.supports = takes_pooling;
    backend.compute = zero_output;
    backend.user_data = &finalized;
    backend.finalizer = count_up;
    config.runtime = runtime;
    assert_int_equal(mnn_runtime_add_backend_(runtime, &backend, &config.forward_type), MNN_OK);
    assert_int_equal(mnn_session_create_(net, &config, &session), MNN_OK);
    assert_int_equal(mnn_session_run_(session), MNN_OK);
    assert_int_equal(mnn_interpreter_destroy_(&net), MNN_OK);
    assert_int_equal(mnn_runtime_destroy_(&runtime), MNN_OK);
    assert_int_equal(mnn_session_destroy_(&session), MNN_OK);
    assert_int_equal(finalized, 1);
}

static void load_run_unload(void** state) {
    (void)state;
    float first[CLASSES] = {0}, scores[CLASSES] = {0};
    int mapped = 0;
    assert_int_equal(mappings_of(MNN_C_LIBRARY_NAME), 0);
    for (int round = 0; round < ROUNDS; ++round) {
        void* library = dlopen(MNN_C_LIBRARY_PATH, (round % 2 ? RTLD_LAZY : RTLD_NOW) | RTLD_LOCAL);
        if (!library) fail_msg("%s", dlerror());
        assert_true(mappings_of(MNN_C_LIBRARY_NAME) > 0);
        assert_true(resolve_all(library) > 40);
        assert_true(run_once(library, MNN_FORWARD_CPU, round % 4 == 3 ? 3 : 1, scores));
        if (round == 0) memcpy(first, scores, sizeof first);
        assert_close(scores, first, CLASSES, 1e-4f);
        run_own_operator(library);
        run_own_backend(library);
        assert_int_equal(settled_thread_count(1), 1);
        assert_int_equal(dlclose(library), 0);
#ifdef MNN_C_LIBRARIES_STAY
        if (round == 0) mapped = mappings_of(MNN_C_LIBRARY_NAME);
        assert_true(mapped > 0);
#endif
        if (mappings_of(MNN_C_LIBRARY_NAME) != mapped)
            fail_msg("round %d: %d mappings of the library stay after dlclose, not %d", round,
                     mappings_of(MNN_C_LIBRARY_NAME), mapped);
        assert_int_equal(settled_thread_count(1), 1);
    }
}

/* The driver's own dependencies stay mapped; the library, its threads and its descriptors do not. */
static void load_run_unload_on_vulkan(void** state) {
    (void)state;
    int lines = 0, descriptors = 0;
    for (int round = 0; round < ROUNDS; ++round) {
        float scores[CLASSES] = {0};
        void* library = dlopen(MNN_C_LIBRARY_PATH, RTLD_NOW | RTLD_LOCAL);
        if (!library) fail_msg("%s", dlerror());
        const bool there = run_once(library, MNN_FORWARD_VULKAN, 1, scores);
        assert_int_equal(dlclose(library), 0);
        if (!there) skip();
        assert_int_equal(mappings_of(MNN_C_LIBRARY_NAME), 0);
        assert_int_equal(settled_thread_count(1), 1);
        if (round == 1) {
            lines = mappings_of("");
            descriptors = descriptor_count();
        }
        if (round > 1) {
            assert_int_equal(descriptor_count(), descriptors);
            /* Heap and stacks may be mapped or not. */
            assert_in_range(mappings_of(""), 0, lines + 16);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(load_run_unload), cmocka_unit_test(load_run_unload_on_vulkan)};
    return cmocka_run_group_tests_name("dlopen", tests, NULL, NULL);
}
