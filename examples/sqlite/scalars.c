/* The scalar functions of the extension. */
#include "scalars.h"

#include <math.h>
#include <string.h>

#include "arguments.h"
#include "run.h"
SQLITE_EXTENSION_INIT3

static void report(sqlite3_context* context, const char* function, const failure_t* failure) {
    if (failure->out_of_memory) {
        sqlite3_result_error_nomem(context);
        return;
    }
    char* const text = sqlite3_mprintf("%s: %s", function, failure->text);
    if (text)
        sqlite3_result_error(context, text, -1);
    else
        sqlite3_result_error_nomem(context);
    sqlite3_free(text);
}

static bool any_null(int count, sqlite3_value** values) {
    for (int i = 0; i < count; i++)
        if (sqlite3_value_type(values[i]) == SQLITE_NULL) return true;
    return false;
}

void sql_run(sqlite3_context* context, int count, sqlite3_value** values) {
    if (any_null(count, values)) return; /* the result is NULL */
    failure_t failure;
    result_t result;
    const char *path = NULL, *output = NULL;
    const void* blob = NULL;
    size_t bytes = 0;
    if (text_argument(values[0], "the model", &path, &failure) &&
        blob_argument(values[1], "the input", &blob, &bytes, &failure) &&
        (count < 3 || text_argument(values[2], "the output's name", &output, &failure)) &&
        run_model(sqlite3_user_data(context), path, blob, bytes, output, &result, &failure))
        sqlite3_result_blob64(context, result.data, result.bytes, sqlite3_free);
    else
        report(context, "mnn_run", &failure);
}

void sql_floats(sqlite3_context* context, int count, sqlite3_value** values) {
    if (any_null(count, values)) return;
    failure_t failure;
    const void* blob = NULL;
    size_t bytes = 0;
    double scale = 1;
    if (!blob_argument(values[0], "the input", &blob, &bytes, &failure)) {
        report(context, "mnn_floats", &failure);
        return;
    }
    if (count == 2) {
        const int type = sqlite3_value_numeric_type(values[1]);
        if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) {
            sqlite3_result_error(context, "mnn_floats: the scale must be a number", -1);
            return;
        }
        scale = sqlite3_value_double(values[1]);
    }
    float* const floats = sqlite3_malloc64(bytes > 0 ? bytes * sizeof(float) : 1);
    if (!floats) {
        sqlite3_result_error_nomem(context);
        return;
    }
    for (size_t i = 0; i < bytes; i++) floats[i] = (float)(((const unsigned char*)blob)[i] * scale);
    sqlite3_result_blob64(context, floats, bytes * sizeof(float), sqlite3_free);
}

void sql_vec(sqlite3_context* context, int count, sqlite3_value** values) {
    if (any_null(count, values)) return;
    failure_t failure;
    const void* blob = NULL;
    size_t bytes = 0;
    if (!blob_argument(values[0], "the input", &blob, &bytes, &failure) ||
        (bytes % sizeof(float) != 0 &&
         !fail(&failure, "float32 values are a multiple of 4 bytes, the blob has %zu", bytes))) {
        report(context, "mnn_vec", &failure);
        return;
    }
    sqlite3_str* const text = sqlite3_str_new(sqlite3_context_db_handle(context));
    sqlite3_str_appendchar(text, 1, '[');
    for (size_t at = 0; at < bytes; at += sizeof(float)) {
        float value;
        memcpy(&value, (const char*)blob + at, sizeof value);
        if (at > 0) sqlite3_str_appendchar(text, 1, ',');
        if (isfinite(value))
            sqlite3_str_appendf(text, "%.9g", (double)value); /* nine digits restore the same float32 */
        else
            sqlite3_str_appendall(text, "null"); /* JSON has no NaN and no infinity */
    }
    sqlite3_str_appendchar(text, 1, ']');
    const int code = sqlite3_str_errcode(text);
    char* const json = sqlite3_str_finish(text);
    if (code == SQLITE_OK)
        sqlite3_result_text(context, json, -1, sqlite3_free);
    else
        sqlite3_result_error_code(context, code);
}

void sql_version(sqlite3_context* context, int count, sqlite3_value** values) {
    (void)count;
    (void)values;
    sqlite3_result_text(context, mnn_version(), -1, SQLITE_STATIC);
}
