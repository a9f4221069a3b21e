/* Runs a net RUNS times with one thread: run_net MODEL RUNS [low] [weights]. "low" selects MNN_PRECISION_LOW, "weights"
 * selects MNN_MEMORY_LOW. The inputs are floats of -1 to 1. instructions.py starts it under an emulator. */
#include <mnn_c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mnn_status fill_inputs(mnn_session_t* session) {
    size_t inputs = 0;
    mnn_status status = mnn_session_input_count(session, &inputs);
    for (size_t i = 0; status == MNN_OK && i < inputs; i++) {
        mnn_tensor_t* input = NULL;
        size_t count = 0;
        status = mnn_session_input_at(session, i, &input);
        if (status == MNN_OK) status = mnn_tensor_element_count(input, &count);
        float* values = status == MNN_OK ? malloc((count + 1) * sizeof(float)) : NULL;
        if (!values) return status == MNN_OK ? MNN_ERROR_OUT_OF_MEMORY : status;
        unsigned state = 1; /* of the generator in Numerical Recipes */
        for (size_t k = 0; k < count; k++) {
            state = state * 1664525u + 1013904223u;
            values[k] = (float)(state >> 8) / 8388608.0F - 1.0F;
        }
        status = mnn_tensor_write(input, values, count * sizeof(float), MNN_FORMAT_NCHW);
        free(values);
    }
    return status;
}

int main(int argc, char** argv) {
    mnn_interpreter_t* net = NULL;
    mnn_session_t* session = NULL;
    mnn_schedule_config_t config;
    if (argc < 3) return fprintf(stderr, "usage: run_net MODEL RUNS [low] [weights]\n"), 2;
    mnn_status status = mnn_schedule_config_init(&config, sizeof config);
    config.threads = 1;
    for (int i = 3; i < argc; i++) {
        if (!strcmp(argv[i], "low")) config.precision = MNN_PRECISION_LOW;
        if (!strcmp(argv[i], "weights")) config.memory = MNN_MEMORY_LOW;
    }
    if (status == MNN_OK) status = mnn_interpreter_create_from_file(argv[1], NULL, &net);
    if (status == MNN_OK) status = mnn_session_create(net, &config, &session);
    if (status == MNN_OK) status = fill_inputs(session);
    for (int i = 0; status == MNN_OK && i < atoi(argv[2]); i++) status = mnn_session_run(session);
    if (status != MNN_OK) fprintf(stderr, "run_net: %s\n", mnn_last_error());
    mnn_session_destroy(&session);
    mnn_interpreter_destroy(&net);
    return status != MNN_OK;
}
