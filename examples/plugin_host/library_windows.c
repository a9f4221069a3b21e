/* Loads libraries with LoadLibraryW(). */
#include <stdio.h>
#include <string.h>
#include <windows.h>

#include "library.h"

void* library_open(const char* path, char* message, size_t size) {
    wchar_t wide[32768];
    HMODULE library = NULL;
    if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, (int)(sizeof wide / sizeof *wide)) > 0)
        library = LoadLibraryW(wide);
    if (!library) snprintf(message, size, "%s: error %lu of Windows", path, GetLastError());
    return library;
}

void* library_symbol(void* library, const char* name) {
    void* address = NULL;
    const FARPROC found = GetProcAddress((HMODULE)library, name);
    if (found) memcpy(&address, &found, sizeof address);
    return address;
}

bool library_close(void* library, char* message, size_t size) {
    const bool closed = FreeLibrary((HMODULE)library) != 0;
    if (!closed) snprintf(message, size, "error %lu of Windows", GetLastError());
    return closed;
}
