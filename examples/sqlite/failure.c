/* Formats the sentence of a failure and passes it to SQLite. */
#include "failure.h"

#include <stdarg.h>
#include <stdio.h>

bool fail(failure_t* failure, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    failure->out_of_memory = false;
    vsnprintf(failure->text, sizeof failure->text, format, arguments);
    va_end(arguments);
    return false;
}

bool fail_out_of_memory(failure_t* failure) {
    failure->out_of_memory = true;
    return false;
}

bool succeeded(mnn_status status, failure_t* failure) {
    if (status == MNN_OK) return true;
    if (status == MNN_ERROR_OUT_OF_MEMORY) return fail_out_of_memory(failure);
    return fail(failure, "%s (%s)", mnn_last_error(), mnn_status_name(status));
}
