/* Arguments from SQL that are not NULL. */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include <sqlite3ext.h>

#include "failure.h"

/* what: names the argument in the sentence. text, blob: receive the value. */
bool text_argument(sqlite3_value* value, const char* what, const char** text, failure_t* failure);
bool blob_argument(sqlite3_value* value, const char* what, const void** blob, size_t* bytes, failure_t* failure);

#endif
