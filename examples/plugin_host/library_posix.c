/* Loads libraries with dlopen(). */
#include <dlfcn.h>
#include <stdio.h>

#include "library.h"

void* library_open(const char* path, char* message, size_t size) {
    /* RTLD_NOW: a missing symbol fails here, not in the middle of a run. RTLD_LOCAL: the library's names cannot collide
     * with those of other libraries. */
    void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) snprintf(message, size, "%s", dlerror());
    return library;
}

void* library_symbol(void* library, const char* name) {
    return dlsym(library, name);
}

bool library_close(void* library, char* message, size_t size) {
    const bool closed = dlclose(library) == 0;
    if (!closed) snprintf(message, size, "%s", dlerror());
    return closed;
}
