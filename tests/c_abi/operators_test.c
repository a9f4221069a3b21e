/* mnn_interpreter_add_operator(): registration and its misuse, on a model that a converter wrote. */
#include "support.h"

#include <math.h>

enum { COUNT = 12 };

struct host {
    int computed, finalized;
};

static mnn_status soft_shrink(void* user_data, mnn_operator_call_t* call) {
    struct host* host = user_data;
    ++host->computed;
    const float lambd = call->node->attributes[0]->float_value;
    const float* x = call->inputs[0]->data;
    float* y = call->outputs[0]->data;
    for (size_t i = 0; i < call->inputs[0]->bytes / sizeof *x; ++i)
        y[i] = fabsf(x[i]) > lambd ? x[i] - copysignf(lambd, x[i]) : 0;
    return MNN_OK;
}

static void finalize(void* user_data) {
    struct host* host = user_data;
    ++host->finalized;
}

static mnn_interpreter_t* open_shrink(void) {
    mnn_interpreter_t* net = NULL;
    assert_ok(mnn_interpreter_create_from_file(MNN_C_SHRINK_MODEL, NULL, &net));
    return net;
}

static mnn_operator_t shrink_operator(struct host* host) {
    mnn_operator_t op;
    assert_ok(mnn_operator_init(&op, sizeof op));
    op.name = "SoftShrink";
    op.compute = soft_shrink;
    op.user_data = host;
    op.finalizer = finalize;
    return op;
}

/* added: the number that the last operator adds. */
static void check_sums(mnn_session_t* session, int runs, double added) {
    for (int run = 0; run < runs; ++run) {
        float x[COUNT], y[COUNT];
        for (int i = 0; i < COUNT; ++i) x[i] = (float)(i * 7 % COUNT - 6) / 4 + (float)run;
        assert_ok(mnn_tensor_write(first_input(session), x, sizeof x, MNN_FORMAT_NCHW));
        assert_ok(mnn_session_run(session));
        assert_ok(mnn_tensor_read(first_output(session), y, sizeof y, MNN_FORMAT_NCHW));
        for (int i = 0; i < COUNT; ++i) {
            const double twice = 2 * (double)x[i];
            const double shrunk = twice > 0.5 ? twice - 0.5 : twice < -0.5 ? twice + 0.5 : 0;
            if (fabs((double)y[i] - (shrunk + added)) > 1e-6) fail_msg("%g gave %g", (double)x[i], (double)y[i]);
        }
    }
}

static void check_runs(mnn_session_t* session, int runs) {
    check_sums(session, runs, 1);
}

static void runs_a_converted_model(void** state) {
    (void)state;
    struct host host = {0, 0};
    mnn_interpreter_t* net = open_shrink();
    mnn_session_t* session = UNTOUCHED_POINTER;
    assert_fails(mnn_session_create(net, NULL, &session), MNN_ERROR_NOT_SUPPORTED);
    assert_non_null(strstr(mnn_last_error(), "'SoftShrink'"));
    assert_non_null(strstr(mnn_last_error(), "'shrunk'"));
    assert_ptr_equal(session, UNTOUCHED_POINTER);
    const mnn_operator_t op = shrink_operator(&host);
    assert_ok(mnn_interpreter_add_operator(net, &op));
    session = open_session(net);
    mnn_session_t* second = open_session(net);
    check_runs(session, 3);
    check_runs(second, 2);
    assert_int_equal(host.computed, 5);
    mnn_op_info_t info = {.struct_size = sizeof info};
    assert_ok(mnn_session_op_info(session, 1, &info));
    assert_string_equal(info.type_name, "SoftShrink");
    assert_string_equal(info.name, "shrunk");
    assert_ok(mnn_session_destroy(&second));
    assert_ok(mnn_interpreter_destroy(&net));
    check_runs(session, 1);
    assert_int_equal(host.finalized, 0);
    assert_ok(mnn_session_destroy(&session));
    assert_int_equal(host.finalized, 1);
}

/* Sessions that begin with constants of another session have the operator, too. */
static void updated_constants(void** state) {
    (void)state;
    struct host host = {0, 0};
    mnn_interpreter_t* net = open_shrink();
    const mnn_operator_t op = shrink_operator(&host);
    assert_ok(mnn_interpreter_add_operator(net, &op));
    mnn_session_t* before = open_session(net);
    mnn_session_t* session = open_session(net);
    mnn_tensor_t* one = NULL;
    const float three[] = {3, 3, 3, 3};
    assert_ok(mnn_session_constant(session, "one", &one));
    assert_ok(mnn_tensor_write(one, three, sizeof three, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_resize(session));
    check_sums(session, 2, 3);
    assert_ok(mnn_interpreter_update_constants(net, session));
    mnn_session_t* after = open_session(net);
    check_sums(after, 2, 3);
    check_sums(before, 2, 1);
    assert_ok(mnn_session_destroy(&before));
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&net));
    assert_int_equal(host.finalized, 0);
    check_sums(after, 1, 3);
    assert_ok(mnn_session_destroy(&after));
    assert_int_equal(host.finalized, 1);
    assert_int_equal(host.computed, 7);
}

static void misuse(void** state) {
    (void)state;
    struct host host = {0, 0};
    mnn_interpreter_t *net = open_shrink(), *none = NULL;
    mnn_operator_t op;
    assert_fails(mnn_operator_init(NULL, sizeof op), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_operator_init(&op, sizeof op - 1), MNN_ERROR_VERSION_MISMATCH);
    assert_fails(mnn_operator_init(&op, 5000), MNN_ERROR_VERSION_MISMATCH);
    op = shrink_operator(&host);
    assert_fails(mnn_interpreter_add_operator(NULL, &op), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_interpreter_add_operator(net, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_interpreter_add_operator((mnn_interpreter_t*)&op, &op), MNN_ERROR_BAD_HANDLE);

    mnn_operator_t wrong = op;
    wrong.struct_size = 0;
    assert_fails(mnn_interpreter_add_operator(net, &wrong), MNN_ERROR_VERSION_MISMATCH);
    wrong = op;
    wrong.name = NULL;
    assert_fails(mnn_interpreter_add_operator(net, &wrong), MNN_ERROR_NULL_ARGUMENT);
    wrong = op;
    wrong.compute = NULL;
    assert_fails(mnn_interpreter_add_operator(net, &wrong), MNN_ERROR_NULL_ARGUMENT);
    const char* const taken[] = {"", "ReLU", "Convolution", "If", "Const"};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; ++i) {
        wrong = op;
        wrong.name = taken[i];
        assert_fails(mnn_interpreter_add_operator(net, &wrong), MNN_ERROR_INVALID_VALUE);
    }
    wrong = op;
    wrong.content_inputs = UINT64_C(1) << 32;
    assert_fails(mnn_interpreter_add_operator(net, &wrong), MNN_ERROR_INVALID_VALUE);

    struct { /* of a later version */
        mnn_operator_t known;
        uint64_t unknown;
    } longer = {op, 1};
    longer.known.struct_size = sizeof longer;
    assert_fails(mnn_interpreter_add_operator(net, &longer.known), MNN_ERROR_VERSION_MISMATCH);
    longer.unknown = 0;
    assert_ok(mnn_interpreter_add_operator(net, &longer.known));
    assert_fails(mnn_interpreter_add_operator(net, &op), MNN_ERROR_INVALID_VALUE); /* twice */

    mnn_session_t* session = open_session(net);
    op.name = "Late";
    assert_fails(mnn_interpreter_add_operator(net, &op), MNN_ERROR_BAD_STATE);
    assert_ok(mnn_session_destroy(&session));
    assert_fails(mnn_interpreter_add_operator(net, &op), MNN_ERROR_BAD_STATE);

    const mnn_node_t empty = {.struct_size = sizeof empty, .name = "n"};
    const mnn_attribute_t* found = UNTOUCHED_POINTER;
    assert_fails(mnn_node_attribute(NULL, "a", &found), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_node_attribute(&empty, NULL, &found), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_node_attribute(&empty, "a", NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_node_attribute(&empty, "a", &found), MNN_ERROR_NOT_FOUND);
    assert_ptr_equal(found, UNTOUCHED_POINTER);

    assert_int_equal(host.finalized, 0);
    assert_ok(mnn_interpreter_destroy(&net));
    assert_int_equal(host.finalized, 1); /* the one that was registered */
    assert_fails(mnn_interpreter_add_operator(none, &op), MNN_ERROR_NULL_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(runs_a_converted_model), cmocka_unit_test(updated_constants),
                                       cmocka_unit_test(misuse)};
    return cmocka_run_group_tests_name("operators", tests, NULL, NULL);
}
