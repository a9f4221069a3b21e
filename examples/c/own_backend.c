/* A program with a backend of its own: it computes the convolutions and the pooling of the digits model as plain loops;
 * the library's CPU backend computes the rest. An accelerator would take the weights in `prepare` and start its work in
 * `compute`.
 *     own_backend digits.mnn */
#include <float.h>
#include <mnn_c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Kernel, stride and padding of a square window without dilation. */
struct window {
    int32_t kernel, stride, pad;
};

static int32_t number(const mnn_attribute_t* const* list, size_t count, const char* key) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i]->key, key) == 0)
            return list[i]->type == MNN_TYPE_BOOL ? list[i]->bool_value : list[i]->int_value;
    return 0;
}

/* Returns whether the loops below support the window. */
static int read_window(const mnn_attribute_t* const* list, size_t count, struct window* window) {
    window->kernel = number(list, count, "kernelX");
    window->stride = number(list, count, "strideX");
    window->pad = number(list, count, "padX");
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i]->key, "pads") == 0 && list[i]->int_count > 0) return 0; /* a pad for each side */
    return window->kernel == number(list, count, "kernelY") && window->stride == number(list, count, "strideY") &&
           window->pad == number(list, count, "padY");
}

/* The parameters of a convolution that each run uses. */
struct convolution {
    struct window window;
    int relu;
    float *weights, *bias; /* [outputs][inputs][kernel][kernel], [outputs] */
};

/* Returns the parameters of a convolution, which are a table inside of its table. */
static const mnn_attribute_t* common_of(const mnn_node_t* node) {
    const mnn_attribute_t* common = NULL;
    return mnn_node_attribute(node, "common", &common) == MNN_OK ? common : NULL;
}

static mnn_status supports(void* user_data, mnn_operator_call_t* call) {
    (void)user_data;
    const mnn_node_t* node = call->node;
    const mnn_attribute_t* const* list = node->attributes;
    size_t count = node->attribute_count;
    struct window window;
    int fits = call->inputs[0]->type == MNN_TYPE_FLOAT32 && call->inputs[0]->rank == 4 &&
               call->inputs[0]->format != MNN_FORMAT_NHWC;
    if (strcmp(node->type_name, "Convolution") == 0) {
        const mnn_attribute_t* common = common_of(node);
        if (!common) return MNN_ERROR_NOT_SUPPORTED;
        list = common->attributes;
        count = common->attribute_count;
        fits = fits && call->input_count == 1 && number(list, count, "group") == 1 &&
               number(list, count, "dilateX") == 1 && number(list, count, "dilateY") == 1 &&
               number(list, count, "padMode") == 0 && number(list, count, "relu6") == 0;
    } else if (strcmp(node->type_name, "Pooling") == 0) {
        fits = fits && number(list, count, "type") == 0 && number(list, count, "padType") == 0 &&
               !number(list, count, "isGlobal");
    } else {
        snprintf(call->message, call->message_size, "it has no loops for %s", node->type_name);
        return MNN_ERROR_NOT_SUPPORTED;
    }
    if (fits && read_window(list, count, &window)) return MNN_OK;
    snprintf(call->message, call->message_size, "it has no loops for such a window");
    return MNN_ERROR_NOT_SUPPORTED;
}

static float* copy_of(const mnn_host_tensor_t* tensor) {
    float* copy = malloc(tensor->bytes + 1);
    if (copy && tensor->bytes > 0) memcpy(copy, tensor->data, tensor->bytes);
    return copy;
}

static void release(void* user_data, void* state) {
    (void)user_data;
    struct convolution* made = state;
    free(made->weights);
    free(made->bias);
    free(made);
}

static mnn_status prepare(void* user_data, mnn_operator_call_t* call) {
    if (strcmp(call->node->type_name, "Convolution") != 0) return MNN_OK;
    const mnn_attribute_t* common = common_of(call->node);
    struct convolution* made = calloc(1, sizeof *made);
    if (!made) return MNN_ERROR_OUT_OF_MEMORY;
    read_window(common->attributes, common->attribute_count, &made->window);
    made->relu = number(common->attributes, common->attribute_count, "relu");
    made->weights = copy_of(call->weights[0]); /* copied, because the library's weights last as long as this call */
    made->bias = copy_of(call->weights[1]);
    if (!made->weights || !made->bias) {
        release(user_data, made);
        return MNN_ERROR_OUT_OF_MEMORY;
    }
    call->state = made;
    return MNN_OK;
}

/* Returns the element of a map, or `outside` beyond its borders. */
static float at(const float* map, const int32_t* dims, int32_t y, int32_t x, float outside) {
    return y < 0 || x < 0 || y >= dims[2] || x >= dims[3] ? outside : map[y * dims[3] + x];
}

static float convolve(const struct convolution* of, const float* image, const int32_t* in, int32_t o, int32_t y,
                      int32_t x) {
    const int32_t k = of->window.kernel;
    float sum = of->bias[o];
    for (int32_t c = 0; c < in[1]; c++)
        for (int32_t v = 0; v < k; v++)
            for (int32_t u = 0; u < k; u++)
                sum += of->weights[((o * in[1] + c) * k + v) * k + u] *
                       at(image + c * in[2] * in[3], in, y * of->window.stride + v - of->window.pad,
                          x * of->window.stride + u - of->window.pad, 0);
    return of->relu && sum < 0 ? 0 : sum;
}

static float largest(const struct window* of, const float* map, const int32_t* in, int32_t y, int32_t x) {
    float best = -FLT_MAX;
    for (int32_t v = 0; v < of->kernel; v++)
        for (int32_t u = 0; u < of->kernel; u++) {
            const float value = at(map, in, y * of->stride + v - of->pad, x * of->stride + u - of->pad, -FLT_MAX);
            if (value > best) best = value;
        }
    return best;
}

static mnn_status compute(void* user_data, mnn_operator_call_t* call) {
    (void)user_data;
    const int32_t *in = call->inputs[0]->dims, *out = call->outputs[0]->dims;
    const float* input = call->inputs[0]->data;
    float* output = call->outputs[0]->data;
    struct window window;
    read_window(call->node->attributes, call->node->attribute_count, &window); /* the window of a pooling */
    for (int32_t n = 0; n < out[0]; n++)
        for (int32_t o = 0; o < out[1]; o++)
            for (int32_t y = 0; y < out[2]; y++)
                for (int32_t x = 0; x < out[3]; x++)
                    *output++ = call->state ? convolve(call->state, input + n * in[1] * in[2] * in[3], in, o, y, x)
                                            : largest(&window, input + (n * in[1] + o) * in[2] * in[3], in, y, x);
    return MNN_OK;
}

/* Opens a session of the runtime that computes with the backend. */
static mnn_status open_session(mnn_interpreter_t* net, mnn_runtime_t* runtime, mnn_session_t** session) {
    mnn_backend_t backend;
    mnn_schedule_config_t config;
    mnn_status status = mnn_backend_init(&backend, sizeof backend);
    if (status == MNN_OK) status = mnn_schedule_config_init(&config, sizeof config);
    if (status != MNN_OK) return status;
    backend.name = "loops";
    backend.supports = supports;
    backend.prepare = prepare;
    backend.compute = compute;
    backend.release = release;
    config.runtime = runtime;
    status = mnn_runtime_add_backend(runtime, &backend, &config.forward_type);
    return status == MNN_OK ? mnn_session_create(net, &config, session) : status;
}

static int print_operators(mnn_session_t* session) {
    size_t count = 0;
    if (mnn_session_op_count(session, &count) != MNN_OK) return 0;
    for (size_t i = 0; i < count; i++) {
        mnn_op_info_t op = {.struct_size = sizeof op};
        if (mnn_session_op_info(session, i, &op) != MNN_OK) return 0;
        printf("%-24s %-12s %s\n", op.name, op.type_name, op.backend_name);
    }
    return 1;
}

int main(int argc, char** argv) {
    mnn_interpreter_t* net = NULL;
    mnn_runtime_t* runtime = NULL;
    mnn_session_t* session = NULL;
    mnn_tensor_t *in = NULL, *out = NULL;
    float image[64], scores[10];
    for (int i = 0; i < 64; i++) image[i] = (float)(i * 7 % 16) / 16;
    const int ok =
        mnn_interpreter_create_from_file(argc > 1 ? argv[1] : "digits.mnn", NULL, &net) == MNN_OK &&
        mnn_runtime_create(NULL, &runtime) == MNN_OK && open_session(net, runtime, &session) == MNN_OK &&
        mnn_session_input(session, NULL, &in) == MNN_OK && mnn_session_output(session, NULL, &out) == MNN_OK &&
        mnn_tensor_write(in, image, sizeof image, MNN_FORMAT_NCHW) == MNN_OK && mnn_session_run(session) == MNN_OK &&
        mnn_tensor_read(out, scores, sizeof scores, MNN_FORMAT_NCHW) == MNN_OK && print_operators(session);
    if (!ok) fprintf(stderr, "%s\n", mnn_last_error());
    for (int i = 0; ok && i < 10; i++) printf("%d: %.3f\n", i, (double)scores[i]);
    mnn_session_destroy(&session);
    mnn_runtime_destroy(&runtime);
    mnn_interpreter_destroy(&net);
    return ok ? 0 : 1;
}
