/* The arguments of the functions: names of models, blobs and their element types. */
#include "arguments.h"

#include <string.h>
SQLITE_EXTENSION_INIT3

static bool has_type(sqlite3_value* value, int wanted, const char* what, failure_t* failure) {
    static const char* const names[] = {"", "an integer", "a real number", "text", "a blob", "NULL"};
    const int type = sqlite3_value_type(value);
    return type == wanted || fail(failure, "%s must be %s, not %s", what, names[wanted], names[type]);
}

bool text_argument(sqlite3_value* value, const char* what, const char** text, failure_t* failure) {
    if (!has_type(value, SQLITE_TEXT, what, failure)) return false;
    *text = (const char*)sqlite3_value_text(value);
    if (!*text) return fail_out_of_memory(failure);
    return strlen(*text) == (size_t)sqlite3_value_bytes(value) || fail(failure, "%s has a zero character inside", what);
}

bool blob_argument(sqlite3_value* value, const char* what, const void** blob, size_t* bytes, failure_t* failure) {
    if (!has_type(value, SQLITE_BLOB, what, failure)) return false;
    *blob = sqlite3_value_blob(value); /* NULL also for an empty blob */
    *bytes = (size_t)sqlite3_value_bytes(value);
    return *blob || *bytes == 0 || fail_out_of_memory(failure);
}
