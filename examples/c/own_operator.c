/* A program with an operator of its own: shrink.mnn has a node "SoftShrink", which the library does not know.
 *     own_operator shrink.mnn */
#include <math.h>
#include <mnn_c.h>
#include <stdio.h>

/* SoftShrink(x) = x - lambd above lambd, x + lambd below -lambd, else 0. Without a `shape` callback the output has the
 * input's shape and type. */
static mnn_status soft_shrink(void* user_data, mnn_operator_call_t* call) {
    (void)user_data;
    const mnn_host_tensor_t *in = call->inputs[0], *out = call->outputs[0];
    const mnn_attribute_t* lambd = NULL;
    if (in->type != MNN_TYPE_FLOAT32) {
        snprintf(call->message, call->message_size, "elements of type %d are not floats", (int)in->type);
        return MNN_ERROR_BAD_TYPE;
    }
    if (mnn_node_attribute(call->node, "lambd", &lambd) != MNN_OK) return MNN_ERROR_BAD_PARAMETER;
    const float* x = in->data;
    float* y = out->data;
    for (size_t i = 0; i < in->bytes / sizeof *x; i++)
        y[i] = fabsf(x[i]) > lambd->float_value ? x[i] - copysignf(lambd->float_value, x[i]) : 0;
    return MNN_OK;
}

static mnn_status add_soft_shrink(mnn_interpreter_t* net) {
    mnn_operator_t op;
    const mnn_status status = mnn_operator_init(&op, sizeof op);
    if (status != MNN_OK) return status;
    op.name = "SoftShrink";
    op.compute = soft_shrink;
    return mnn_interpreter_add_operator(net, &op);
}

int main(int argc, char** argv) {
    mnn_interpreter_t* net = NULL;
    mnn_session_t* session = NULL;
    mnn_tensor_t *in = NULL, *out = NULL;
    float x[12], y[12];
    for (int i = 0; i < 12; i++) x[i] = (float)(i - 6) / 4;
    const int ok = mnn_interpreter_create_from_file(argc > 1 ? argv[1] : "shrink.mnn", NULL, &net) == MNN_OK &&
                   add_soft_shrink(net) == MNN_OK && /* before the first session */
                   mnn_session_create(net, NULL, &session) == MNN_OK &&
                   mnn_session_input(session, "x", &in) == MNN_OK && mnn_session_output(session, "y", &out) == MNN_OK &&
                   mnn_tensor_write(in, x, sizeof x, MNN_FORMAT_NCHW) == MNN_OK && mnn_session_run(session) == MNN_OK &&
                   mnn_tensor_read(out, y, sizeof y, MNN_FORMAT_NCHW) == MNN_OK;
    if (!ok) fprintf(stderr, "%s\n", mnn_last_error());
    for (int i = 0; ok && i < 12; i++) printf("%g -> %g\n", (double)x[i], (double)y[i]);
    mnn_session_destroy(&session);
    mnn_interpreter_destroy(&net);
    return ok ? 0 : 1;
}
