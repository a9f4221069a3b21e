/* A run whose shapes have not changed allocates no memory from the heap or the system; neither does a submitted run,
 * nor binding other memory of the same size. Models come from the command line, or the demo is used. */
#include "counted_memory.h"
#include "kept_net.h"
#include "middle_tensor.h"
#include "open_extents.h"
#include "support.h"

static const char* path;

/* Closes open extents and fills the inputs with ones, which every model of the tests takes. */
static void feed(mnn_session_t* session) {
    size_t inputs = 0;
    close_extents(session);
    assert_ok(mnn_session_input_count(session, &inputs));
    for (size_t i = 0; i < inputs; ++i) {
        mnn_tensor_t* input = NULL;
        size_t count = 0;
        assert_ok(mnn_session_input_at(session, i, &input));
        assert_ok(mnn_tensor_element_count(input, &count));
        int32_t* ones = malloc((count + 1) * sizeof *ones);
        for (size_t k = 0; k < count; ++k) ones[k] = 1;
        assert_ok(mnn_tensor_write_as(input, ones, count * sizeof *ones, MNN_TYPE_INT32, MNN_FORMAT_NCHW));
        free(ones);
    }
}

static int unsuited; /* runs */

enum { MAX_OPERANDS = 64 };

/* The inputs or the outputs of a session, with memory for two bindings of each. */
struct operands {
    mnn_tensor_t* tensors[MAX_OPERANDS];
    size_t count, bytes[MAX_OPERANDS];
    int32_t formats[MAX_OPERANDS];
    void* memory[2][MAX_OPERANDS];
};

static void find_operands(mnn_session_t* session, bool outputs, struct operands* found) {
    assert_ok(outputs ? mnn_session_output_count(session, &found->count)
                      : mnn_session_input_count(session, &found->count));
    assert_true(found->count <= MAX_OPERANDS);
    for (size_t i = 0; i < found->count; ++i) {
        assert_ok(outputs ? mnn_session_output_at(session, i, &found->tensors[i])
                          : mnn_session_input_at(session, i, &found->tensors[i]));
        found->formats[i] = tensor_info_of(found->tensors[i]).format;
        assert_ok(mnn_tensor_byte_size(found->tensors[i], found->formats[i], &found->bytes[i]));
        for (int k = 0; k < 2; ++k) {
            found->memory[k][i] = malloc(found->bytes[i] + 1);
            assert_ok(mnn_tensor_read(found->tensors[i], found->memory[k][i], found->bytes[i], found->formats[i]));
        }
    }
}

static void free_operands(struct operands* found) {
    for (size_t i = 0; i < found->count; ++i)
        for (int k = 0; k < 2; ++k) free(found->memory[k][i]);
}

static void run_bound(mnn_session_t* session, const struct operands* in, const struct operands* out, int k) {
    for (size_t i = 0; i < in->count; ++i)
        assert_ok(mnn_session_bind_input(session, in->tensors[i], in->memory[k][i], in->bytes[i], in->formats[i]));
    for (size_t i = 0; i < out->count; ++i)
        assert_ok(mnn_session_bind_output(session, out->tensors[i], out->memory[k][i], out->bytes[i], out->formats[i]));
    assert_ok(mnn_session_run(session));
}

static void bindings_take_nothing(mnn_session_t* session) {
    struct operands in, out;
    find_operands(session, false, &in);
    find_operands(session, true, &out);
    run_bound(session, &in, &out, 0);
    const unsigned long before = requests;
    for (int i = 1; i < 4; ++i) run_bound(session, &in, &out, i % 2);
    if (requests != before)
        fail_msg("%s: binding and running 3 times asked %lu times for memory", path, requests - before);
    free_operands(&in);
    free_operands(&out);
}

static void submit_and_wait(mnn_session_t* session) {
    assert_ok(mnn_session_submit(session, NULL));
    assert_ok(mnn_session_wait(session, -1));
}

/* Checks submitted runs after the first one, which creates the thread. */
static void submits_take_nothing(mnn_session_t* session) {
    submit_and_wait(session);
    const unsigned long before = requests;
    for (int i = 0; i < 3; ++i) submit_and_wait(session);
    if (requests != before) fail_msg("%s: 3 submitted runs asked %lu times for memory", path, requests - before);
}

static mnn_status copy_input(void* user_data, mnn_operator_call_t* call) {
    (void)user_data;
    memcpy(call->outputs[0]->data, call->inputs[0]->data, call->inputs[0]->bytes);
    return MNN_OK;
}

static mnn_status take_some(void* user_data, mnn_operator_call_t* call) {
    static const char* const types[] = {"ReLU", "UnaryOp", "Pooling", "Softmax"};
    (void)user_data;
    for (size_t i = 0; i < sizeof types / sizeof *types; ++i)
        if (strcmp(call->node->type_name, types[i]) == 0) return MNN_OK;
    return MNN_ERROR_NOT_SUPPORTED;
}

static mnn_status zero_output(void* user_data, mnn_operator_call_t* call) {
    (void)user_data;
    memset(call->outputs[0]->data, 0, call->outputs[0]->bytes);
    return MNN_OK;
}

/* Makes the sessions of the configuration run on a backend of this program. */
static mnn_runtime_t* add_backend(mnn_schedule_config_t* config) {
    mnn_backend_t backend;
    assert_ok(mnn_runtime_create(NULL, &config->runtime));
    assert_ok(mnn_backend_init(&backend, sizeof backend));
    backend.name = "own";
    backend.supports = take_some;
    backend.compute = zero_output;
    assert_ok(mnn_runtime_add_backend(config->runtime, &backend, &config->forward_type));
    return config->runtime;
}

/* Creates a session with one path, or with two that meet half-way. Null where there is no such place. */
static mnn_session_t* create(mnn_interpreter_t* net, int32_t threads, size_t paths, bool own_backend) {
    mnn_schedule_config_t configs[2];
    mnn_session_t* session = NULL;
    const char* middle = middle_tensor(net);
    for (size_t i = 0; i < 2; ++i) {
        assert_ok(mnn_schedule_config_init(&configs[i], sizeof configs[i]));
        configs[i].threads = threads;
    }
    if (paths == 1) {
        mnn_runtime_t* runtime = own_backend ? add_backend(configs) : NULL;
        assert_ok(mnn_session_create(net, configs, &session));
        assert_ok(mnn_runtime_destroy(&runtime));
        return session;
    }
    if (!middle) return NULL;
    configs[0].outputs = &middle;
    configs[0].output_count = 1;
    const mnn_status made = mnn_session_create_paths(net, configs, 2, &session);
    if (made != MNN_ERROR_BAD_FORMAT) assert_ok(made);
    return session;
}

static void runs_take_nothing(int32_t threads, size_t paths, bool own_backend) {
    mnn_interpreter_t* net = NULL;
    assert_ok(mnn_interpreter_create_from_file(path, NULL, &net));
    mnn_operator_t own; /* for the nets that have a node of this operator */
    assert_ok(mnn_operator_init(&own, sizeof own));
    own.name = "SoftShrink";
    own.compute = copy_input;
    assert_ok(mnn_interpreter_add_operator(net, &own));
    mnn_session_t* session = create(net, threads, paths, own_backend);
    if (!session) {
        assert_ok(mnn_interpreter_destroy(&net));
        return;
    }
    feed(session);
    /* The first runs plan loops and branches. Shapes and indices of ones do not suit every net. */
    const mnn_status first = mnn_session_run(session);
    if (first == MNN_ERROR_COMPUTE_SIZE || first == MNN_ERROR_BAD_RANGE || first == MNN_ERROR_INPUT_DATA) {
        ++unsuited;
        assert_ok(mnn_session_destroy(&session));
        assert_ok(mnn_interpreter_destroy(&net));
        return;
    }
    assert_ok(first);
    assert_ok(mnn_session_run(session));
    const unsigned long before = requests;
    for (int i = 0; i < 3; ++i) assert_ok(mnn_session_run(session));
    if (requests != before) fail_msg("%s: 3 runs asked %lu times for memory", path, requests - before);
    submits_take_nothing(session);
    bindings_take_nothing(session);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&net));
}

static void one_thread(void** state) {
    (void)state;
    runs_take_nothing(1, 1, false);
}
static void two_threads(void** state) {
    (void)state;
    runs_take_nothing(2, 1, false);
}
static void two_paths(void** state) {
    (void)state;
    runs_take_nothing(2, 2, false);
}
static void own_backend(void** state) {
    (void)state;
    runs_take_nothing(1, 1, true);
}

/* In each run the state grows by a token and the mask by a key, both below the capacity. */
static void kept_rows_take_nothing(void** state) {
    (void)state;
    mnn_interpreter_t* of = NULL;
    assert_ok(mnn_interpreter_create_from_file(MNN_C_NETS_FOLDER "/kept.mnn", NULL, &of));
    mnn_session_t* session = open_session(of);
    struct tokens all;
    /* No run of many tokens, whose mask would have memory for all later ones. */
    for (int past = 0; past < 2; ++past) {
        make_tokens(&all, 3, past + 1);
        go_on(session, &all, past);
    }
    assert_ok(mnn_session_state_reserve(session, 400));
    const unsigned long before = requests;
    for (int past = 2; past < 400; ++past) {
        make_tokens(&all, 3, past + 1);
        feed_kept(session, &all, past);
        assert_ok(mnn_session_run(session));
    }
    assert_int_equal(requests, before);
    expect_kept(session, &all, 399, 2e-6);
    /* The next page. */
    assert_int_equal(state_of(session).capacity, 512);
    const unsigned long full = requests;
    for (int past = 400; past < 513; ++past) {
        make_tokens(&all, 3, past + 1);
        feed_kept(session, &all, past);
        assert_ok(mnn_session_run(session));
        assert_int_equal(requests > full, past == 512);
    }
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&of));
}

/* Shapes alternate between two, whose plans the session keeps. */
static void kept_plans_take_nothing(void** state) {
    (void)state;
    mnn_interpreter_t* of = NULL;
    assert_ok(mnn_interpreter_create_from_file(MNN_C_DIGITS_MODEL, NULL, &of));
    mnn_session_t* session = open_session(of);
    unsigned long before = 0;
    for (int i = 0; i < 10; ++i) {
        if (i == 4) before = requests;
        const int32_t shape[] = {i % 2 == 0 ? 1 : 5, 1, 8, 8};
        assert_ok(mnn_session_resize_input(session, first_input(session), shape, 4));
        assert_ok(mnn_session_resize(session));
        assert_ok(mnn_session_run(session));
    }
    if (requests != before) fail_msg("6 changes of shape asked %lu times for memory", requests - before);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&of));
}

static void the_counter_counts(void** state) {
    (void)state;
    const unsigned long before = requests;
    mnn_interpreter_t* net = NULL;
    assert_ok(mnn_interpreter_create_from_file(path, NULL, &net));
    assert_true(requests > before);
    assert_ok(mnn_interpreter_destroy(&net));
}

int main(int argc, char** argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_counter_counts), cmocka_unit_test(one_thread),
                                       cmocka_unit_test(two_threads), cmocka_unit_test(two_paths),
                                       cmocka_unit_test(own_backend)};
    int failed = 0;
    count_requests();
    if (argc < 2) {
        const char* const own[] = {MNN_C_DIGITS_MODEL, MNN_C_SHRINK_MODEL};
        for (size_t i = 0; i < sizeof own / sizeof *own; ++i) {
            path = own[i];
            failed += cmocka_run_group_tests_name(path, tests, NULL, NULL);
        }
        const struct CMUnitTest kept[] = {cmocka_unit_test(kept_rows_take_nothing),
                                          cmocka_unit_test(kept_plans_take_nothing)};
        failed += cmocka_run_group_tests_name("kept", kept, NULL, NULL);
        return failed != 0;
    }
    for (int i = 1; i < argc; ++i) {
        path = argv[i];
        failed += cmocka_run_group_tests_name(path, tests, NULL, NULL);
    }
    const int runs = 4 * (argc - 1);
    printf("%d of %d runs do not suit inputs of ones\n", unsuited, runs);
    return failed != 0 || unsuited * 10 > runs;
}
