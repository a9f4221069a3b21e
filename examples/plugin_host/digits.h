/* The work of the host: the demo's held-out images, classified through the table. */
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
 * message: out, `size` bytes; a sentence when false is returned, and nothing is to be freed then. */
bool digits_read(digits_t* digits, const char* folder, char* message, size_t size);
void digits_free(digits_t* digits);

/* Classifies all images in one run.
 * forward_type: MNN_FORWARD_*. threads: of the CPU.
 * right: out, how many have their label.
 * message: out, `size` bytes; a sentence when the status is not MNN_OK. */
mnn_status digits_classify(const plugin_t* mnn, const digits_t* digits, int32_t forward_type, int32_t threads,
                           size_t* right, char* message, size_t size);

#endif
