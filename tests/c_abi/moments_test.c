/* Calls at the wrong moment: which calls are allowed while a call is inside a session, from its callbacks and from
 * other threads. The others return MNN_ERROR_BUSY and change nothing. */
#include "digits_net.h"
#include "submitted.h"

static mnn_runtime_t* runtime; /* used by no session */
static const int32_t kTwo[] = {2, 1, 8, 8};

struct scene {
    mnn_session_t* session;
    mnn_tensor_t *input, *output;
    const mnn_tensor_t* shown; /* by a callback */
    mnn_status reads;          /* the status of functions that read the session */
    mnn_status waits;          /* the status of mnn_session_wait(); 0: it is not called */
    const char* inside;        /* the text that the sentence must have; NULL: anything */
    char wrong[256];           /* the first call with another status */
    int calls;
};

/* cmocka's assertions may be used by the main thread only. */
static void expect(struct scene* scene, mnn_status got, mnn_status wanted, const char* call) {
    const bool named = wanted != MNN_ERROR_BUSY || !scene->inside || strstr(mnn_last_error(), scene->inside);
    if ((got != wanted || !named) && scene->wrong[0] == '\0')
        snprintf(scene->wrong, sizeof scene->wrong, "%s gave %s: %s", call, mnn_status_name(got),
                 got == MNN_OK ? "" : mnn_last_error());
}
#define EXPECT(call, wanted) expect(scene, (call), (wanted), #call)

static void change_it(struct scene* scene) {
    mnn_session_t* session = scene->session;
    float values[PIXELS] = {0};
    void* data = UNTOUCHED_POINTER;
    EXPECT(mnn_session_run(session), MNN_ERROR_BUSY);
    EXPECT(mnn_session_run_with_options(session, NULL), MNN_ERROR_BUSY);
    EXPECT(mnn_session_submit(session, NULL), MNN_ERROR_BUSY);
    if (scene->waits) EXPECT(mnn_session_wait(session, 0), scene->waits);
    EXPECT(mnn_session_resize(session), MNN_ERROR_BUSY);
    EXPECT(mnn_session_resize_with_options(session, NULL), MNN_ERROR_BUSY);
    EXPECT(mnn_session_trim(session), MNN_ERROR_BUSY);
    EXPECT(mnn_session_resize_input(session, scene->input, kTwo, 4), MNN_ERROR_BUSY);
    EXPECT(mnn_session_bind_input(session, scene->input, values, sizeof values, MNN_FORMAT_NCHW), MNN_ERROR_BUSY);
    EXPECT(mnn_session_bind_output(session, scene->output, values, sizeof values, MNN_FORMAT_NCHW), MNN_ERROR_BUSY);
    EXPECT(mnn_session_bind_input_buffer(session, scene->input, NULL), MNN_ERROR_BUSY);
    EXPECT(mnn_session_bind_output_buffer(session, scene->output, NULL), MNN_ERROR_BUSY);
    mnn_tensor_t* constant = NULL;
    EXPECT(mnn_session_constant(session, "nothing", &constant), MNN_ERROR_BUSY);
    EXPECT(mnn_tensor_write(scene->input, values, sizeof values, MNN_FORMAT_NCHW), MNN_ERROR_BUSY);
    EXPECT(mnn_tensor_write_as(scene->input, values, sizeof values, MNN_TYPE_FLOAT32, MNN_FORMAT_NCHW), MNN_ERROR_BUSY);
    EXPECT(mnn_tensor_map(scene->input, MNN_MAP_WRITE, &data), MNN_ERROR_BUSY);
    EXPECT(mnn_tensor_map(scene->output, MNN_MAP_READ, &data), MNN_ERROR_BUSY);
    EXPECT(mnn_tensor_unmap(scene->input), MNN_ERROR_BUSY);
    mnn_session_t* copy = session;
    EXPECT(mnn_session_destroy(&copy), MNN_ERROR_BUSY);
    if (copy != session || data != UNTOUCHED_POINTER) snprintf(scene->wrong, sizeof scene->wrong, "a busy call wrote");
}

static void read_it(struct scene* scene) {
    mnn_session_t* session = scene->session;
    float values[PIXELS];
    int32_t dims[MNN_MAX_RANK];
    size_t size = 0;
    double flops = 0;
    mnn_op_info_t info = {.struct_size = sizeof info};
    EXPECT(mnn_tensor_read(scene->input, values, sizeof values, MNN_FORMAT_NCHW), scene->reads);
    EXPECT(mnn_tensor_read_as(scene->input, values, sizeof values, MNN_TYPE_FLOAT32, MNN_FORMAT_NCHW), scene->reads);
    EXPECT(mnn_tensor_shape(scene->output, dims, MNN_MAX_RANK, &size), scene->reads);
    EXPECT(mnn_tensor_element_count(scene->output, &size), scene->reads);
    EXPECT(mnn_tensor_byte_size(scene->output, MNN_FORMAT_NCHW, &size), scene->reads);
    mnn_tensor_properties_t tensor = {.struct_size = sizeof tensor};
    EXPECT(mnn_tensor_info(scene->output, &tensor), scene->reads);
    EXPECT(mnn_tensor_nchw(scene->input, dims), scene->reads);
    mnn_device_buffer_t buffer = {.struct_size = sizeof buffer, .kind = MNN_BUFFER_VULKAN};
    EXPECT(mnn_tensor_device_buffer(scene->input, &buffer),
           scene->reads == MNN_OK ? MNN_ERROR_NOT_SUPPORTED : scene->reads); /* on the CPU */
    EXPECT(mnn_tensor_print(scene->input, 1, NULL, 0, &size), scene->reads);
    EXPECT(mnn_interpreter_update_constants(net, session), scene->reads);
    EXPECT(mnn_interpreter_update_cache_file(net, session),
           scene->reads == MNN_OK ? MNN_ERROR_BAD_STATE : scene->reads); /* there is no file */
    EXPECT(mnn_session_op_count(session, &size), scene->reads);
    EXPECT(mnn_session_op_info(session, 0, &info), scene->reads);
    EXPECT(mnn_session_flops(session, &flops, NULL), scene->reads);
    EXPECT(mnn_session_cache(session, NULL, 0, &size), scene->reads);
    EXPECT(mnn_session_report(session, "algorithms", NULL, 0, &size), scene->reads);
    EXPECT(mnn_session_report(session, "graph", NULL, 0, &size), scene->reads);
    EXPECT(mnn_interpreter_report(net, "graph", NULL, 0, &size), MNN_OK);
    if (scene->shown) {
        EXPECT(mnn_tensor_byte_size(scene->shown, MNN_FORMAT_NCHW, &size), scene->reads);
        float* bytes = malloc(size);
        EXPECT(mnn_tensor_read(scene->shown, bytes, size, MNN_FORMAT_NCHW), scene->reads);
        free(bytes);
    }
}

static void always(struct scene* scene) {
    const mnn_session_t* session = scene->session;
    const char* name = NULL;
    mnn_tensor_t* tensor = NULL;
    size_t count = 0;
    bool flag = true;
    EXPECT(mnn_tensor_name(scene->output, &name), MNN_OK);
    EXPECT(mnn_session_input(session, "image", &tensor), MNN_OK);
    EXPECT(mnn_session_output_at(session, 0, &tensor), MNN_OK);
    if (tensor != scene->output) snprintf(scene->wrong, sizeof scene->wrong, "a look-up found another tensor");
    EXPECT(mnn_session_input_count(session, &count), MNN_OK);
    EXPECT(mnn_session_output_count(session, &count), MNN_OK);
    EXPECT(mnn_session_needs_resize(session, &flag), MNN_OK);
    EXPECT(mnn_session_cache_accepted(session, &flag), MNN_OK);
    mnn_session_properties_t info = {.struct_size = sizeof info};
    mnn_statistics_t statistics = {.struct_size = sizeof statistics};
    EXPECT(mnn_session_info(session, &info), MNN_OK);
    EXPECT(mnn_session_path_info(session, 0, &info), MNN_OK);
    EXPECT(mnn_session_statistics(session, &statistics), MNN_OK);
    mnn_device_buffer_t buffer;
    EXPECT(mnn_device_buffer_init(&buffer, sizeof buffer), MNN_OK);
    mnn_declaration_t declaration = {.struct_size = sizeof declaration};
    EXPECT(mnn_interpreter_input_info(net, 0, &declaration), MNN_OK);
    EXPECT(mnn_interpreter_output_info(net, 0, &declaration), MNN_OK);
    mnn_interpreter_t* released = NULL;
    EXPECT(mnn_interpreter_create_from_file(MNN_C_DIGITS_MODEL, NULL, &released), MNN_OK);
    EXPECT(mnn_interpreter_release_model(released), MNN_OK);
    EXPECT(mnn_interpreter_destroy(&released), MNN_OK);
    EXPECT(mnn_session_constant_count(session, &count), MNN_OK);
    EXPECT(mnn_session_constant_name(session, 0, &name), MNN_OK);
    if (info.forward_type != MNN_FORWARD_CPU || info.reason || statistics.arena_bytes == 0)
        snprintf(scene->wrong, sizeof scene->wrong, "forward type %d, arena %llu", info.forward_type,
                 (unsigned long long)statistics.arena_bytes);
}

static mnn_status take_nothing(void* user_data, mnn_operator_call_t* call) {
    (void)user_data, (void)call;
    return MNN_ERROR_NOT_SUPPORTED;
}

/* Calls with a runtime that a session may have, which need no session. */
static void of_runtimes(struct scene* scene) {
    static int added; /* atomic */
    char name[32];
    mnn_backend_t backend;
    int32_t type = 0;
    snprintf(name, sizeof name, "backend %d", __atomic_add_fetch(&added, 1, __ATOMIC_RELAXED));
    EXPECT(mnn_backend_init(&backend, sizeof backend), MNN_OK);
    backend.name = name;
    backend.supports = backend.compute = take_nothing;
    EXPECT(mnn_runtime_add_backend(runtime, &backend, &type), MNN_OK);
    if (type < MNN_FORWARD_USER) snprintf(scene->wrong, sizeof scene->wrong, "forward type %d", type);
}

static int32_t in_callback(void* user_data, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors, size_t count) {
    (void)op;
    struct scene* scene = user_data;
    ++scene->calls;
    scene->shown = count > 0 ? tensors[0] : NULL;
    scene->reads = MNN_OK;
    scene->waits = MNN_ERROR_BUSY;
    change_it(scene);
    read_it(scene);
    always(scene);
    of_runtimes(scene);
    scene->shown = NULL;
    return MNN_OP_RUN;
}

static struct scene open_scene(void) {
    struct scene scene = {.session = open_session(net)};
    float pixels[PIXELS];
    scene.input = first_input(scene.session);
    scene.output = first_output(scene.session);
    fill_pixels(pixels, PIXELS, 3);
    assert_ok(mnn_tensor_write(scene.input, pixels, sizeof pixels, MNN_FORMAT_NCHW));
    return scene;
}

/* The session is unchanged: its run gives the former result. */
static void close_scene(struct scene* scene) {
    if (scene->wrong[0]) fail_msg("%s", scene->wrong);
    float wanted[CLASSES], got[CLASSES];
    bool needed = true;
    reference_scores(3, wanted);
    assert_ok(mnn_session_needs_resize(scene->session, &needed));
    assert_false(needed);
    assert_ok(mnn_session_run(scene->session));
    assert_ok(mnn_tensor_read(scene->output, got, sizeof got, MNN_FORMAT_NCHW));
    assert_memory_equal(got, wanted, sizeof got);
    assert_ok(mnn_session_destroy(&scene->session));
}

static void from_callbacks(void** state) {
    (void)state;
    struct scene scene = open_scene();
    scene.inside = "mnn_session_run_with_options";
    assert_ok(run_watched(scene.session, in_callback, in_callback, &scene));
    assert_true(scene.calls > 2);
    close_scene(&scene);
}

static void* all_of_it(void* data) {
    struct scene* scene = data;
    scene->reads = MNN_ERROR_BUSY;
    scene->waits = MNN_ERROR_BAD_STATE;
    change_it(scene);
    read_it(scene);
    always(scene);
    of_runtimes(scene);
    return NULL;
}

static int32_t let_another_thread(void* user_data, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors,
                                  size_t count) {
    (void)op;
    struct scene* scene = user_data;
    if (scene->calls++ > 0) return MNN_OP_RUN;
    scene->shown = count > 0 ? tensors[0] : NULL;
    pthread_t thread;
    if (pthread_create(&thread, NULL, all_of_it, scene) != 0 || pthread_join(thread, NULL) != 0) return -1;
    scene->shown = NULL;
    return MNN_OP_RUN;
}

static void from_another_thread(void** state) {
    (void)state;
    struct scene scene = open_scene();
    scene.inside = "mnn_session_run_with_options";
    assert_ok(run_watched(scene.session, let_another_thread, NULL, &scene));
    assert_true(scene.calls > 1);
    close_scene(&scene);
}

/* The same from the callbacks of a submitted run, and while it runs on its thread. */
static void in_done(void* user_data, mnn_status status) {
    struct scene* scene = user_data;
    expect(scene, status, MNN_OK, "a submitted run");
    in_callback(scene, NULL, NULL, 0);
}

static void from_callbacks_of_a_submitted_run(void** state) {
    (void)state;
    struct scene scene = open_scene();
    scene.inside = "mnn_session_submit";
    mnn_run_options_t options = default_run_options();
    options.before = options.after = in_callback;
    options.done = in_done;
    options.user_data = &scene;
    assert_ok(mnn_session_submit(scene.session, &options));
    assert_ok(mnn_session_wait(scene.session, -1));
    assert_true(scene.calls > 3);
    close_scene(&scene);
}

static void beside_a_submitted_run(void** state) {
    (void)state;
    struct scene scene = open_scene();
    struct gate gate = CLOSED_GATE;
    scene.inside = "mnn_session_submit";
    scene.reads = MNN_ERROR_BUSY;
    scene.waits = MNN_ERROR_TIMEOUT;
    assert_ok(submit_gated(scene.session, &gate));
    await_gate(&gate);
    change_it(&scene);
    read_it(&scene);
    always(&scene);
    open_gate(&gate);
    assert_ok(mnn_session_wait(scene.session, -1));
    close_scene(&scene);
}

/* Another session may be used in a callback, also with its own callbacks. */
static int32_t use_another(void* user_data, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors, size_t count) {
    (void)op, (void)tensors, (void)count;
    struct scene* other = user_data;
    if (other->calls > 0) return MNN_OP_RUN;
    other->inside = NULL;
    expect(other, run_watched(other->session, in_callback, NULL, other), MNN_OK, "a run inside of a callback");
    return MNN_OP_RUN;
}

static void another_session(void** state) {
    (void)state;
    struct scene outer = open_scene(), inner = open_scene();
    assert_ok(run_watched(outer.session, use_another, NULL, &inner));
    assert_true(inner.calls > 1);
    close_scene(&inner);
    close_scene(&outer);
}

/* A tensor of a callback is invalid after the callback. */
static int32_t keep_shown(void* user_data, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors, size_t count) {
    (void)op;
    const mnn_tensor_t** kept = user_data;
    if (!*kept && count > 0) *kept = tensors[0];
    return MNN_OP_RUN;
}

static void shown_tensors_end(void** state) {
    (void)state;
    struct scene scene = open_scene();
    const mnn_tensor_t* kept = NULL;
    size_t bytes = 0;
    assert_ok(run_watched(scene.session, keep_shown, NULL, &kept));
    assert_non_null(kept);
    assert_fails(mnn_tensor_byte_size(kept, MNN_FORMAT_NCHW, &bytes), MNN_ERROR_BAD_HANDLE);
    close_scene(&scene);
}

static int open_all(void** state) {
    return mnn_runtime_create(NULL, &runtime) == MNN_OK ? open_net(state) : -1;
}

static int close_all(void** state) {
    return mnn_runtime_destroy(&runtime) == MNN_OK ? close_net(state) : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_callbacks),
        cmocka_unit_test(from_another_thread),
        cmocka_unit_test(from_callbacks_of_a_submitted_run),
        cmocka_unit_test(beside_a_submitted_run),
        cmocka_unit_test(another_session),
        cmocka_unit_test(shown_tensors_end),
    };
    return cmocka_run_group_tests_name("moments", tests, open_all, close_all);
}
