/* Reads the images of the demo and finds the best of ten scores. */
#include "digits.h"

#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 8, PIXELS = SIDE * SIDE, CLASSES = 10, MAX_IMAGES = 10000 };

/* Reads at most `capacity` bytes of a file; returns 0 when it cannot be read. */
static size_t read_bytes(const char* folder, const char* name, unsigned char* bytes, size_t capacity) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE* file = fopen(path, "rb");
    if (!file) return 0;
    const size_t count = fread(bytes, 1, capacity, file);
    fclose(file);
    return count;
}

bool digits_read(digits_t* digits, const char* folder, char* message, size_t size) {
    snprintf(digits->model, sizeof digits->model, "%s/digits.mnn", folder);
    const size_t capacity = (size_t)MAX_IMAGES * PIXELS;
    unsigned char* const images = malloc(capacity);
    digits->pixels = malloc(capacity * sizeof(float));
    digits->labels = malloc(MAX_IMAGES);
    digits->count = 0;
    if (!images || !digits->pixels || !digits->labels) {
        snprintf(message, size, "no memory for the images");
    } else {
        const size_t bytes = read_bytes(folder, "test_images.bin", images, capacity);
        const size_t labels = read_bytes(folder, "test_labels.bin", digits->labels, MAX_IMAGES);
        for (size_t i = 0; i < bytes; i++) digits->pixels[i] = (float)images[i] / 16.0F;
        if (labels > 0 && bytes == labels * PIXELS)
            digits->count = labels;
        else
            snprintf(message, size, "'%s': %zu bytes of images do not fit %zu labels", folder, bytes, labels);
    }
    free(images);
    if (digits->count == 0) digits_free(digits);
    return digits->count > 0;
}

void digits_free(digits_t* digits) {
    free(digits->pixels);
    free(digits->labels);
    digits->pixels = NULL;
    digits->labels = NULL;
}

static int best_class(const float* scores) {
    int best = 0;
    for (int i = 1; i < CLASSES; i++)
        if (scores[i] > scores[best]) best = i;
    return best;
}

/* Runs all images as one batch. */
static mnn_status run(const plugin_t* mnn, mnn_session_t* session, const digits_t* digits, float* scores) {
    const int32_t shape[] = {(int32_t)digits->count, 1, SIDE, SIDE};
    mnn_tensor_t *input = NULL, *output = NULL;
    mnn_status status = mnn->session_input(session, "image", &input);
    if (status == MNN_OK) status = mnn->session_output(session, "scores", &output);
    if (status == MNN_OK) status = mnn->session_resize_input(session, input, shape, 4);
    if (status == MNN_OK) status = mnn->session_resize(session);
    if (status == MNN_OK)
        status = mnn->tensor_write(input, digits->pixels, digits->count * PIXELS * sizeof(float), MNN_FORMAT_NCHW);
    if (status == MNN_OK) status = mnn->session_run(session);
    if (status == MNN_OK)
        status = mnn->tensor_read(output, scores, digits->count * CLASSES * sizeof(float), MNN_FORMAT_NCHW);
    return status;
}

mnn_status digits_classify(const plugin_t* mnn, const digits_t* digits, int32_t forward_type, int32_t threads,
                           size_t* right, char* message, size_t size) {
    float* const scores = malloc(digits->count * CLASSES * sizeof(float));
    if (!scores) {
        snprintf(message, size, "no memory for the scores");
        return MNN_ERROR_OUT_OF_MEMORY;
    }
    mnn_interpreter_t* net = NULL;
    mnn_session_t* session = NULL;
    mnn_schedule_config_t config;
    mnn_status status = mnn->schedule_config_init(&config, sizeof config);
    config.forward_type = forward_type;
    config.threads = threads;
    if (status == MNN_OK) status = mnn->interpreter_create_from_file(digits->model, NULL, &net);
    if (status == MNN_OK) status = mnn->session_create(net, &config, &session);
    if (status == MNN_OK) status = run(mnn, session, digits, scores);
    /* The sentence is copied now: the next call replaces it, and dlclose() unloads it. */
    if (status != MNN_OK) snprintf(message, size, "%s (%s)", mnn->last_error(), mnn->status_name(status));
    mnn->session_destroy(&session);
    mnn->interpreter_destroy(&net);
    if (status == MNN_OK) {
        *right = 0;
        for (size_t i = 0; i < digits->count; i++) *right += best_class(scores + i * CLASSES) == digits->labels[i];
    }
    free(scores);
    return status;
}
