/* Dynamic libraries of Windows by the functions of POSIX. */
#ifndef MNN_C_TESTS_WINDOWS_DLFCN_H
#define MNN_C_TESTS_WINDOWS_DLFCN_H

#include <string.h>

#include <windows.h>

enum { RTLD_LAZY = 1, RTLD_NOW = 2, RTLD_LOCAL = 0 };

static inline void* dlopen(const char* path, int mode) {
    (void)mode;
    return LoadLibraryA(path);
}
static inline void* dlsym(void* library, const char* name) {
    void* address = NULL;
    const FARPROC found = GetProcAddress((HMODULE)library, name);
    memcpy(&address, &found, sizeof address);
    return address;
}
static inline int dlclose(void* library) {
    return FreeLibrary((HMODULE)library) ? 0 : -1;
}
static inline const char* dlerror(void) {
    static char text[32];
    snprintf(text, sizeof text, "error %lu of Windows", GetLastError());
    return text;
}

#endif
