/* Keeps the sentence of a failure until it is passed to SQLite. */
#ifndef FAILURE_H
#define FAILURE_H

#include <mnn_c.h>
#include <stdbool.h>

typedef struct failure {
    bool out_of_memory; /* the text does not matter then */
    char text[1024];
} failure_t;

/* Both return false, so that a function can return their result. */
bool fail(failure_t* failure, const char* format, ...) __attribute__((format(printf, 2, 3)));
bool fail_out_of_memory(failure_t* failure);

/* Returns false when a call of the library failed, and keeps its sentence. */
bool succeeded(mnn_status status, failure_t* failure);

#endif
