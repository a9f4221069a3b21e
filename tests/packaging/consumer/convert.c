/* A program that has libmnn_c_onnx: it converts an ONNX model and runs the result. It prints "the net is right" where
 * the values are what the model says. */
#include <mnn_c_onnx.h>
#include <stdio.h>

/* IR version 9; x [1, 4] -> Relu -> y; opset 18. */
static const unsigned char kModel[] = {
    8,   9,  58, 56, 10, 12, 10, 1,  120, 18, 1, 121, 34, 4,  82, 101, 108, 117, 90, 19, 10, 1,
    120, 18, 14, 10, 12, 8,  1,  18, 8,   10, 2, 8,   1,  10, 2,  8,   4,   98,  19, 10, 1,  121,
    18,  14, 10, 12, 8,  1,  18, 8,  10,  2,  8, 1,   10, 2,  8,  4,   66,  4,   10, 0,  16, 18,
};

static int failed(const char* what) {
    fprintf(stderr, "%s: %s / %s\n", what, mnn_onnx_last_error(), mnn_last_error());
    return 1;
}

int main(void) {
    const float given[] = {1, -2, 3, -4};
    float got[4] = {0};
    mnn_onnx_result_t* result = NULL;
    mnn_interpreter_t* net = NULL;
    mnn_session_t* session = NULL;
    mnn_tensor_t *in = NULL, *out = NULL;
    const void* data = NULL;
    size_t size = 0;
    if (mnn_onnx_convert_memory(kModel, sizeof kModel, NULL, &result) != MNN_OK ||
        mnn_onnx_result_data(result, &data, &size) != MNN_OK)
        return failed("mnn_onnx_convert_memory");
    if (mnn_interpreter_create_from_memory(data, size, NULL, &net) != MNN_OK ||
        mnn_session_create(net, NULL, &session) != MNN_OK || mnn_session_input(session, NULL, &in) != MNN_OK ||
        mnn_session_output(session, NULL, &out) != MNN_OK ||
        mnn_tensor_write(in, given, sizeof given, MNN_FORMAT_NCHW) != MNN_OK || mnn_session_run(session) != MNN_OK ||
        mnn_tensor_read(out, got, sizeof got, MNN_FORMAT_NCHW) != MNN_OK)
        return failed("the net");
    for (int i = 0; i < 4; ++i)
        if (got[i] != (given[i] > 0 ? given[i] : 0)) return failed("the values");
    mnn_session_destroy(&session);
    mnn_interpreter_destroy(&net);
    mnn_onnx_result_destroy(&result);
    puts("the net is right");
    return 0;
}
