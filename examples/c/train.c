/*
 * Trains a net in the library: each run of examples/digits/training.mnn is one step of gradient descent, because
 * operators of that net write its weights. Trains on 440 digits, stores the net, and lets the stored file classify 100
 * others.
 *
 *     train [FOLDER [OUTPUT]]      FOLDER holds training.mnn, test_images.bin and test_labels.bin;
 *                                  OUTPUT (trained.mnn) gets the net with its new weights
 *
 * Exit code 0 when at least 85 of the 100 were right.
 */
#include <mnn_c.h>
#include <stdint.h>
#include <stdio.h>

enum { PIXELS = 64, CLASSES = 10, IMAGES = 540, TRAINED = 440, BATCH = 32, STEPS = 200 };

static unsigned char images[IMAGES * PIXELS], labels[IMAGES]; /* pixels are 0 to 16 */

static int failed(const char* doing) {
    fprintf(stderr, "train: %s: %s\n", doing, mnn_last_error());
    return 1;
}

static int read_file(const char* folder, const char* name, unsigned char* bytes, size_t size) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE* file = fopen(path, "rb");
    const int whole = file && fread(bytes, 1, size, file) == size;
    if (file) fclose(file);
    if (!whole) fprintf(stderr, "train: cannot read '%s'\n", path);
    return whole;
}

static void pixels(int image, float* out) {
    for (int i = 0; i < PIXELS; i++) out[i] = (float)images[image * PIXELS + i] / 16;
}

/* Runs one step after another; the session keeps the weights between them. */
static int train(mnn_session_t* session) {
    static float batch[BATCH * PIXELS];
    int32_t wanted[BATCH];
    float loss = 0, rate = 0.05f;
    mnn_tensor_t *in = NULL, *label = NULL, *speed = NULL, *out = NULL;
    if (mnn_session_input(session, "images", &in) || mnn_session_input(session, "labels", &label) ||
        mnn_session_input(session, "rate", &speed) || mnn_session_output(session, "loss", &out) ||
        mnn_tensor_write(speed, &rate, sizeof rate, MNN_FORMAT_NCHW))
        return failed("finding the tensors of the training");
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < BATCH; i++) {
            const int image = (step * BATCH + i) * 7 % TRAINED; /* 7 and 440 have no common divisor */
            pixels(image, batch + i * PIXELS);
            wanted[i] = labels[image];
        }
        if (mnn_tensor_write(in, batch, sizeof batch, MNN_FORMAT_NCHW) ||
            mnn_tensor_write(label, wanted, sizeof wanted, MNN_FORMAT_NCHW) || mnn_session_run(session) ||
            mnn_tensor_read(out, &loss, sizeof loss, MNN_FORMAT_NCHW))
            return failed("running a step of the training");
        if (step % 20 == 0 || step == STEPS - 1) printf("step %3d   loss %.4f\n", step, (double)loss);
    }
    return 0;
}

/* Computes the named output alone: labels, gradients and the operators that write weights are left out. */
static int classify(const char* path, int* right) {
    static float batch[(IMAGES - TRAINED) * PIXELS], scores[(IMAGES - TRAINED) * CLASSES];
    static const char* const names[] = {"probabilities"};
    const int32_t shape[] = {IMAGES - TRAINED, 1, 8, 8};
    mnn_interpreter_t* net = NULL;
    mnn_session_t* session = NULL;
    mnn_tensor_t *in = NULL, *out = NULL;
    mnn_schedule_config_t config;
    if (mnn_schedule_config_init(&config, sizeof config)) return failed("making a configuration");
    config.outputs = names;
    config.output_count = 1;
    for (int i = TRAINED; i < IMAGES; i++) pixels(i, batch + (i - TRAINED) * PIXELS);
    int code = 0;
    if (mnn_interpreter_create_from_file(path, NULL, &net) || mnn_session_create(net, &config, &session) ||
        mnn_session_input(session, "images", &in) || mnn_session_resize_input(session, in, shape, 4) ||
        mnn_session_resize(session) || mnn_tensor_write(in, batch, sizeof batch, MNN_FORMAT_NCHW) ||
        mnn_session_run(session) || mnn_session_output(session, NULL, &out) ||
        mnn_tensor_read(out, scores, sizeof scores, MNN_FORMAT_NCHW))
        code = failed("running the stored net");
    for (int i = 0; code == 0 && i < IMAGES - TRAINED; i++) {
        int best = 0;
        for (int c = 1; c < CLASSES; c++)
            if (scores[i * CLASSES + c] > scores[i * CLASSES + best]) best = c;
        *right += best == labels[TRAINED + i];
    }
    mnn_session_destroy(&session);
    mnn_interpreter_destroy(&net);
    return code;
}

int main(int argc, char** argv) {
    const char* folder = argc > 1 ? argv[1] : "examples/digits";
    const char* output = argc > 2 ? argv[2] : "trained.mnn";
    char path[1024];
    int code = 0, right = 0;
    mnn_interpreter_t* net = NULL;
    mnn_session_t* session = NULL;
    if (!read_file(folder, "test_images.bin", images, sizeof images) ||
        !read_file(folder, "test_labels.bin", labels, sizeof labels))
        return 1;
    snprintf(path, sizeof path, "%s/training.mnn", folder);
    if (mnn_interpreter_create_from_file(path, NULL, &net) || mnn_session_create(net, NULL, &session))
        code = failed(path);
    if (code == 0) code = train(session);
    if (code == 0 && (mnn_interpreter_update_constants(net, session) || mnn_interpreter_save(net, output)))
        code = failed(output);
    mnn_session_destroy(&session);
    mnn_interpreter_destroy(&net);
    if (code == 0) code = classify(output, &right);
    if (code) return code;
    printf("%s: %d of %d digits right\n", output, right, IMAGES - TRAINED);
    return right >= 85 ? 0 : 1;
}
