/* Whole nets over bound memory: the same bits as over the session's memory, no write to an input, and no access outside
 * of the bound memory. Models come from the command line, or the demo is used; behind --vulkan they run on a GPU (exit
 * code 77 where there is none). */
#include "guarded.h"
#include "open_extents.h"
#include "support.h"

#include <sys/wait.h>

enum { MAX_OPERANDS = 64 };

static const char* path;
static int32_t backend = MNN_FORWARD_CPU;

typedef struct {
    mnn_tensor_t* tensor;
    int32_t format; /* the tensor's own order */
    size_t count, element;
    unsigned char* values;
    guarded_t bound;
} operand_t;

static size_t element_bytes(int32_t type) {
    switch (type) {
        case MNN_TYPE_UINT8:
        case MNN_TYPE_INT8:
            return 1;
        case MNN_TYPE_INT16:
        case MNN_TYPE_UINT16:
        case MNN_TYPE_BFLOAT16:
        case MNN_TYPE_FLOAT16:
            return 2;
        default:
            return 4;
    }
}

static void describe(operand_t* operand) {
    const int32_t type = tensor_info_of(operand->tensor).type;
    operand->format = tensor_info_of(operand->tensor).format;
    if (operand->format == MNN_FORMAT_NC4HW4) operand->format = MNN_FORMAT_NCHW;
    assert_ok(mnn_tensor_element_count(operand->tensor, &operand->count));
    operand->element = element_bytes(type);
    operand->values = calloc(operand->count + 1, operand->element);
    if (type == MNN_TYPE_FLOAT32) {
        fill_pixels((float*)operand->values, operand->count, (uint32_t)operand->count);
        return;
    }
    const int32_t one = 1;
    for (size_t i = 0; i < operand->count; ++i) memcpy(operand->values + i * operand->element, &one, operand->element);
}

static size_t open_inputs(mnn_session_t* session, operand_t* inputs) {
    size_t count = 0;
    close_extents(session);
    assert_ok(mnn_session_input_count(session, &count));
    assert_true(count <= MAX_OPERANDS);
    for (size_t i = 0; i < count; ++i) {
        assert_ok(mnn_session_input_at(session, i, &inputs[i].tensor));
        describe(&inputs[i]);
    }
    return count;
}

static void compare(operand_t* outputs, size_t count, bool bound) {
    for (size_t i = 0; i < count; ++i) {
        const size_t bytes = outputs[i].count * outputs[i].element;
        unsigned char* read = malloc(bytes + 1);
        assert_ok(mnn_tensor_read(outputs[i].tensor, read, bytes, outputs[i].format));
        if (memcmp(read, outputs[i].values, bytes) != 0)
            fail_msg("%s: output %zu differs%s", path, i, bound ? " where it is bound" : "");
        if (bound && memcmp(outputs[i].bound.data, outputs[i].values, bytes) != 0)
            fail_msg("%s: output %zu is not in the bound memory", path, i);
        free(read);
    }
}

/* Whether the tensor lies in the caller's memory. */
static bool in_place(const operand_t* operand) {
    void* data = NULL;
    assert_ok(mnn_tensor_map(operand->tensor, MNN_MAP_READ, &data));
    assert_ok(mnn_tensor_unmap(operand->tensor));
    return data == operand->bound.data;
}

static void expect_in_place(const operand_t* input) {
    const int32_t type = tensor_info_of(input->tensor).type;
    if (type == MNN_TYPE_FLOAT16) return;
    if (input->count > 0 && !in_place(input)) fail_msg("%s: an input is copied", path);
}

/* Returns 77 when the inputs are not suitable. */
static int run_bound(int32_t threads) {
    static operand_t inputs[MAX_OPERANDS], outputs[MAX_OPERANDS];
    mnn_interpreter_t* net = NULL;
    mnn_session_t* session = NULL;
    mnn_schedule_config_t config;
    assert_ok(mnn_schedule_config_init(&config, sizeof config));
    config.threads = threads;
    config.forward_type = backend;
    assert_ok(mnn_interpreter_create_from_file(path, NULL, &net));
    assert_ok(mnn_session_create(net, &config, &session));
    const size_t in = open_inputs(session, inputs);
    for (size_t i = 0; i < in; ++i)
        assert_ok(mnn_tensor_write(inputs[i].tensor, inputs[i].values, inputs[i].count * inputs[i].element,
                                   inputs[i].format));
    const mnn_status first = mnn_session_run(session);
    if (first == MNN_ERROR_COMPUTE_SIZE || first == MNN_ERROR_BAD_RANGE || first == MNN_ERROR_INPUT_DATA) {
        for (size_t i = 0; i < in; ++i) free(inputs[i].values);
        assert_ok(mnn_session_destroy(&session));
        assert_ok(mnn_interpreter_destroy(&net));
        return 77;
    }
    assert_ok(first);
    size_t out = 0;
    assert_ok(mnn_session_output_count(session, &out));
    assert_true(out <= MAX_OPERANDS);
    for (size_t i = 0; i < out; ++i) {
        assert_ok(mnn_session_output_at(session, i, &outputs[i].tensor));
        describe(&outputs[i]);
        assert_ok(mnn_tensor_read(outputs[i].tensor, outputs[i].values, outputs[i].count * outputs[i].element,
                                  outputs[i].format));
    }
    for (int side = GUARD_BEHIND; side <= GUARD_BEFORE; ++side) {
        for (size_t i = 0; i < in; ++i) {
            const size_t bytes = inputs[i].count * inputs[i].element;
            guarded_t old = inputs[i].bound;
            inputs[i].bound = guarded_take(bytes, side);
            memcpy(inputs[i].bound.data, inputs[i].values, bytes);
            guarded_seal(&inputs[i].bound);
            assert_ok(mnn_session_bind_input(session, inputs[i].tensor, inputs[i].bound.data, bytes, inputs[i].format));
            if (side > 0) guarded_free(&old);
        }
        for (size_t i = 0; i < out; ++i) {
            const size_t bytes = outputs[i].count * outputs[i].element;
            guarded_t old = outputs[i].bound;
            outputs[i].bound = guarded_take(bytes, side);
            memset(outputs[i].bound.data, 0xa5, bytes);
            assert_ok(
                mnn_session_bind_output(session, outputs[i].tensor, outputs[i].bound.data, bytes, outputs[i].format));
            if (side > 0) guarded_free(&old);
        }
        for (size_t i = 0; i < in; ++i) expect_in_place(&inputs[i]);
        for (int again = 0; again < 2; ++again) {
            assert_ok(mnn_session_run(session));
            compare(outputs, out, true);
        }
    }
    /* The tensors are in the session's memory again. */
    for (size_t i = 0; i < in; ++i) {
        assert_ok(mnn_session_bind_input(session, inputs[i].tensor, NULL, 0, inputs[i].format));
        assert_ok(mnn_tensor_write(inputs[i].tensor, inputs[i].values, inputs[i].count * inputs[i].element,
                                   inputs[i].format));
        guarded_free(&inputs[i].bound);
    }
    for (size_t i = 0; i < out; ++i) {
        assert_ok(mnn_session_bind_output(session, outputs[i].tensor, NULL, 0, outputs[i].format));
        guarded_free(&outputs[i].bound);
    }
    assert_ok(mnn_session_run(session));
    compare(outputs, out, false);
    for (size_t i = 0; i < in; ++i) free(inputs[i].values);
    for (size_t i = 0; i < out; ++i) free(outputs[i].values);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&net));
    return 0;
}

static int unsuited;

/* Runs in a separate process, so that a forbidden access is one failed test; without fork() it ends this process, and
 * all tests fail. */
static void runs_over_bound_memory(int32_t threads) {
    int result = 0;
#ifdef _WIN32
    result = run_bound(threads);
#else
    fflush(stdout);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        result = run_bound(threads);
        fflush(stdout);
        _exit(result);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) fail_msg("%s: signal %d", path, WTERMSIG(status));
    result = WEXITSTATUS(status);
#endif
    if (result == 77)
        ++unsuited;
    else
        assert_int_equal(result, 0);
}

static void one_thread(void** state) {
    (void)state;
    runs_over_bound_memory(1);
}
static void two_threads(void** state) {
    (void)state;
    runs_over_bound_memory(2);
}

/* Runs in another process: where a process has used a GPU, its children cannot. */
static bool probe_devices(void) {
    const pid_t child = fork();
    if (child == 0) _exit(has_device() ? 0 : 1);
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(int argc, char** argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_thread), cmocka_unit_test(two_threads)};
    path = MNN_C_DIGITS_MODEL;
    if (argc < 2) return cmocka_run_group_tests_name(path, tests, NULL, NULL);
    int failed = 0;
    int first = 1;
    if (strcmp(argv[1], "--vulkan") == 0) {
        first = 2;
        backend = MNN_FORWARD_VULKAN;
        if (!probe_devices()) return 77;
    }
    for (int i = first; i < argc; ++i) {
        path = argv[i];
        failed += cmocka_run_group_tests_name(path, tests, NULL, NULL);
    }
    const int runs = 2 * (argc - first);
    printf("%d of %d runs do not suit these inputs\n", unsuited, runs);
    return failed != 0 || unsuited * 5 > runs;
}
