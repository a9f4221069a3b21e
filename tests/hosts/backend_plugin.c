/* A shared library with a backend, which writes zeros for poolings, and an operator, which copies its input. It calls
 * nothing of the library that runs it. */
#include <mnn_c.h>
#include <stdlib.h>
#include <string.h>

static mnn_status supports(void* user_data, mnn_operator_call_t* call) {
    (void)user_data;
    return strcmp(call->node->type_name, "Pooling") == 0 ? MNN_OK : MNN_ERROR_NOT_SUPPORTED;
}

static mnn_status prepare(void* user_data, mnn_operator_call_t* call) {
    (void)user_data;
    call->state = malloc(64);
    return call->state ? MNN_OK : MNN_ERROR_OUT_OF_MEMORY;
}

static mnn_status compute(void* user_data, mnn_operator_call_t* call) {
    (void)user_data;
    memset(call->outputs[0]->data, 0, call->outputs[0]->bytes);
    return MNN_OK;
}

static void release(void* user_data, void* state) {
    (void)user_data;
    free(state);
}

__attribute__((visibility("default"))) void fill_backend(mnn_backend_t* backend);
__attribute__((visibility("default"))) void fill_operator(mnn_operator_t* op);

/* user_data belongs to the host: an int that counts the finalizer's calls. */
static void finalize(void* user_data) {
    ++*(int*)user_data;
}

void fill_backend(mnn_backend_t* backend) {
    backend->name = "zeros";
    backend->supports = supports;
    backend->prepare = prepare;
    backend->compute = compute;
    backend->release = release;
    backend->finalizer = finalize;
}

static mnn_status copy(void* user_data, mnn_operator_call_t* call) {
    (void)user_data;
    memcpy(call->outputs[0]->data, call->inputs[0]->data, call->outputs[0]->bytes);
    return MNN_OK;
}

void fill_operator(mnn_operator_t* op) {
    op->name = "SoftShrink";
    op->prepare = prepare;
    op->compute = copy;
    op->release = release;
    op->finalizer = finalize;
}
