/* Loads libmnn_c at run time: its functions are pointers in a table. Nothing here is linked against it. */
#ifndef PLUGIN_H
#define PLUGIN_H

#include <mnn_c.h>
#include <stdbool.h>
#include <stddef.h>

#include "functions.h"

#define PLUGIN_MEMBER(name) __typeof__(mnn_##name)* name;
typedef struct plugin {
    void* library;
    MNN_FUNCTIONS(PLUGIN_MEMBER)
} plugin_t;
#undef PLUGIN_MEMBER

/* Loads the library at `path` and fills the table.
 * message: receives a sentence of at most `size` bytes when the result is false; the library is not loaded then. */
bool plugin_open(plugin_t* plugin, const char* path, char* message, size_t size);

/* Unloads the library. All of its handles must be destroyed before, and its strings become invalid. */
bool plugin_close(plugin_t* plugin, char* message, size_t size);

#endif
