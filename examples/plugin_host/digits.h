/* Classifies the demo's held-out images through the table; this is the work of the host. */
#ifndef DIGITS_H
#define DIGITS_H

#include <stdint.h>

#include "plugin.h"

typedef struct digits {
    char model[1024]; /* path */
    float* pixels;    /* count x 1 x 8 x 8, 0 to 1 */
    unsigned char* labels;
    size_t count;
} digits_t;

/* Reads the images and labels of examples/digits.
 * message: receives a sentence of at most `size` bytes when the result is false; nothing needs freeing then. */
bool digits_read(digits_t* digits, const char* folder, char* message, size_t size);
void digits_free(digits_t* digits);

/* Classifies all images in one run.
 * forward_type: MNN_FORWARD_*. threads: number of CPU threads.
 * right: receives the number of correct images.
 * message: receives a sentence of at most `size` bytes when the status is not MNN_OK. */
mnn_status digits_classify(const plugin_t* mnn, const digits_t* digits, int32_t forward_type, int32_t threads,
                           size_t* right, char* message, size_t size);

#endif
