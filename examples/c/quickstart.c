/* The program of the README: runs digits.mnn once on an empty image.  quickstart digits.mnn */
#include <mnn_c.h>
#include <stdio.h>

int main(int argc, char** argv) {
    mnn_interpreter_t* net = NULL;
    mnn_session_t* session = NULL;
    mnn_tensor_t *in = NULL, *out = NULL;
    float image[64] = {0}, scores[10];
    int ok = mnn_interpreter_create_from_file(argc > 1 ? argv[1] : "digits.mnn", NULL, &net) == MNN_OK &&
             mnn_session_create(net, NULL, &session) == MNN_OK && /* NULL: defaults */
             mnn_session_input(session, NULL, &in) == MNN_OK &&   /* NULL: the first one */
             mnn_session_output(session, NULL, &out) == MNN_OK &&
             mnn_tensor_write(in, image, sizeof image, MNN_FORMAT_NCHW) == MNN_OK &&
             mnn_session_run(session) == MNN_OK &&
             mnn_tensor_read(out, scores, sizeof scores, MNN_FORMAT_NCHW) == MNN_OK;
    if (!ok) fprintf(stderr, "%s\n", mnn_last_error());
    for (int i = 0; ok && i < 10; i++) printf("%d: %g\n", i, scores[i]);
    mnn_session_destroy(&session);
    mnn_interpreter_destroy(&net);
    return ok ? 0 : 1;
}
