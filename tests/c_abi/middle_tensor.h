/* The name of a tensor about half-way through a model, where a session can be cut in two paths. */
#ifndef MNN_C_TESTS_MIDDLE_TENSOR_H
#define MNN_C_TESTS_MIDDLE_TENSOR_H

#include <stddef.h>
#include <string.h>

#include "mnn_c.h"

/* Returns NULL where the main graph has fewer than two operators that compute. */
static inline const char* middle_tensor(const mnn_interpreter_t* net) {
    const char* names[256];
    size_t operators = 0, found = 0;
    if (mnn_interpreter_op_count(net, &operators) != MNN_OK) return NULL;
    for (size_t i = 0; i < operators && found < sizeof names / sizeof *names; ++i) {
        const char* type = NULL;
        size_t outputs = 0;
        if (mnn_interpreter_op_output_count(net, i, &outputs) != MNN_OK || outputs == 0) continue;
        if (mnn_interpreter_op_type(net, i, &type) != MNN_OK) return NULL;
        if (strcmp(type, "Const") == 0 || strcmp(type, "Input") == 0) continue;
        if (mnn_interpreter_op_output_name(net, i, 0, &names[found++]) != MNN_OK) return NULL;
    }
    return found < 2 ? NULL : names[(found - 1) / 2];
}

#endif
