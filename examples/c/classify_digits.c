/*
 * The demo: classifies the held-out images of examples/digits through the C ABI, draws a few of them as text
 * beside the prediction, and prints the accuracy over all of them.
 *
 *     classify_digits [FOLDER]      FOLDER holds digits.mnn, test_images.bin and test_labels.bin
 *
 * Exit code 0 when everything ran and at least 95 % were right.
 */
#include <mnn_c.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 8, PIXELS = SIDE * SIDE, CLASSES = 10, DRAWN = 6, MAX_IMAGES = 100000 };

static int library_failed(const char* doing, mnn_status status) {
    fprintf(stderr, "classify_digits: %s: %s (%s)\n", doing, mnn_last_error(), mnn_status_name(status));
    return 1;
}

/* Reads the complete file at `folder/name`; returns NULL with a sentence on stderr when it cannot be read. The caller
 * frees it. */
static unsigned char* read_file(const char* folder, const char* name, size_t* size) {
    char path[1024];
    unsigned char* bytes = NULL;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE* file = fopen(path, "rb");
    if (file) {
        bytes = malloc((size_t)MAX_IMAGES * PIXELS);
        if (bytes) *size = fread(bytes, 1, (size_t)MAX_IMAGES * PIXELS, file);
        fclose(file);
    }
    if (!bytes) fprintf(stderr, "classify_digits: cannot read '%s'\n", path);
    return bytes;
}

static int best_class(const float* scores) {
    int best = 0;
    for (int i = 1; i < CLASSES; i++)
        if (scores[i] > scores[best]) best = i;
    return best;
}

/* Pixels are 0 to 16. */
static void draw(const unsigned char* image, int predicted, int label, const float* scores) {
    static const char shades[] = " .:-=+*#%@";
    for (int y = 0; y < SIDE; y++) {
        printf("    ");
        for (int x = 0; x < SIDE; x++) {
            const char shade = shades[image[y * SIDE + x] > 16 ? 9 : image[y * SIDE + x] * 9 / 16];
            printf("%c%c", shade, shade);
        }
        if (y == 3) printf("     predicted %d   score %.2f", predicted, (double)scores[predicted]);
        if (y == 4) printf("     label     %d   %s", label, predicted == label ? "right" : "WRONG");
        printf("\n");
    }
    printf("\n");
}

static int classify(mnn_session_t* session, const unsigned char* images, const unsigned char* labels, size_t count) {
    mnn_tensor_t *input = NULL, *output = NULL;
    mnn_status status = mnn_session_input(session, "image", &input);
    if (status != MNN_OK) return library_failed("finding the input", status);
    status = mnn_session_output(session, "scores", &output);
    if (status != MNN_OK) return library_failed("finding the output", status);

    size_t right = 0;
    for (size_t i = 0; i < count; i++) {
        const unsigned char* image = images + i * PIXELS;
        float pixels[PIXELS], scores[CLASSES];
        for (int p = 0; p < PIXELS; p++) pixels[p] = (float)image[p] / 16.0F;
        status = mnn_tensor_write(input, pixels, sizeof pixels, MNN_FORMAT_NCHW);
        if (status != MNN_OK) return library_failed("writing the input", status);
        status = mnn_session_run(session);
        if (status != MNN_OK) return library_failed("running", status);
        status = mnn_tensor_read(output, scores, sizeof scores, MNN_FORMAT_NCHW);
        if (status != MNN_OK) return library_failed("reading the output", status);
        const int predicted = best_class(scores);
        right += predicted == labels[i];
        if (i < DRAWN) draw(image, predicted, labels[i], scores);
    }
    printf("%zu of %zu held-out images right: accuracy %.2f %%\n", right, count, 100.0 * (double)right / (double)count);
    return (double)right < 0.95 * (double)count;
}

static int run_demo(const char* folder, const unsigned char* images, const unsigned char* labels, size_t count) {
    char path[1024];
    mnn_interpreter_t* interpreter = NULL;
    mnn_session_t* session = NULL;
    snprintf(path, sizeof path, "%s/digits.mnn", folder);
    mnn_status status = mnn_interpreter_create_from_file(path, NULL, &interpreter);
    if (status != MNN_OK) return library_failed("loading the model", status);
    status = mnn_session_create(interpreter, NULL, &session);
    const int failed =
        status != MNN_OK ? library_failed("creating the session", status) : classify(session, images, labels, count);
    mnn_session_destroy(&session);
    mnn_interpreter_destroy(&interpreter);
    return failed;
}

int main(int argc, char** argv) {
    if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
        fprintf(stderr, "usage: classify_digits [FOLDER]   (default: examples/digits)\n");
        return 2;
    }
    const char* folder = argc == 2 ? argv[1] : "examples/digits";
    size_t image_bytes = 0, label_bytes = 0;
    unsigned char* images = read_file(folder, "test_images.bin", &image_bytes);
    unsigned char* labels = images ? read_file(folder, "test_labels.bin", &label_bytes) : NULL;
    int failed = 1;
    if (labels && (label_bytes == 0 || image_bytes != label_bytes * PIXELS))
        fprintf(stderr, "classify_digits: %zu bytes of images do not fit %zu labels\n", image_bytes, label_bytes);
    else if (labels)
        failed = run_demo(folder, images, labels, label_bytes);
    free(labels);
    free(images);
    return failed;
}
