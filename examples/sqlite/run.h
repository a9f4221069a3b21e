/* Takes a blob as input and returns an output. */
#ifndef RUN_H
#define RUN_H

#include "nets.h"

typedef struct result {
    void* data; /* row-major elements; the caller frees them with sqlite3_free() */
    size_t bytes;
    size_t elements;
    size_t items; /* the batch: the first extent, where input and output share it; else 1 */
    int32_t type; /* MNN_TYPE_* */
} result_t;

/* Runs a model file. The blob holds the input's elements, row-major in the input's own order and type. An extent that
 * the model leaves open, or else a first extent of 1, follows from the size of the blob.
 * output: a name; NULL: the first output. */
bool run_model(nets_t* nets, const char* path, const void* blob, size_t bytes, const char* output, result_t* result,
               failure_t* failure);

#endif
