/* Protected pages and mapped files of Windows. */
#ifndef MNN_C_TESTS_WINDOWS_MMAN_H
#define MNN_C_TESTS_WINDOWS_MMAN_H

#include <io.h>

#include <windows.h>

enum { PROT_NONE = 1, PROT_READ = 2, PROT_WRITE = 4 };
enum { MAP_PRIVATE = 1, MAP_ANONYMOUS = 2, MAP_SHARED = 4 };
#define MAP_FAILED ((void*)-1)

static inline DWORD mman_protection(int protection) {
    return protection & PROT_WRITE ? PAGE_READWRITE : protection & PROT_READ ? PAGE_READONLY : PAGE_NOACCESS;
}
/* Files are shared and may be written. */
static inline void* mmap(void* at, size_t bytes, int protection, int flags, int file, long offset) {
    void* memory = NULL;
    if (flags & MAP_ANONYMOUS) {
        memory = VirtualAlloc(at, bytes, MEM_COMMIT | MEM_RESERVE, mman_protection(protection));
    } else {
        const HANDLE mapping = CreateFileMappingW((HANDLE)_get_osfhandle(file), NULL, PAGE_READWRITE, 0, 0, NULL);
        if (mapping) memory = MapViewOfFile(mapping, FILE_MAP_WRITE, 0, (DWORD)offset, bytes);
        if (mapping) CloseHandle(mapping);
    }
    return memory ? memory : MAP_FAILED;
}
static inline int munmap(void* at, size_t bytes) {
    (void)bytes;
    return UnmapViewOfFile(at) || VirtualFree(at, 0, MEM_RELEASE) ? 0 : -1;
}
static inline int mprotect(void* at, size_t bytes, int protection) {
    DWORD before = 0;
    return VirtualProtect(at, bytes, mman_protection(protection), &before) ? 0 : -1;
}

#endif
