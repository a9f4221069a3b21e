/* Dynamic libraries: library_posix.c uses dlopen(), library_windows.c uses LoadLibraryW(). */
#ifndef LIBRARY_H
#define LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* Returns NULL, and a sentence of at most `size` bytes, where the library at `path`, in UTF-8, cannot be loaded. */
void* library_open(const char* path, char* message, size_t size);
/* Returns NULL where the library has no such function. */
void* library_symbol(void* library, const char* name);
/* Returns false, and a sentence, where it fails. */
bool library_close(void* library, char* message, size_t size);

#endif
