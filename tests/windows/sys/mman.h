/* Protected pages and mapped files of Windows. */
#ifndef MNN_C_TESTS_WINDOWS_MMAN_H
#define MNN_C_TESTS_WINDOWS_MMAN_H

#include <io.h>
#include <stddef.h>

/* Those of windows.h, which has names that the tests have, too. */
__declspec(dllimport) void* __stdcall VirtualAlloc(void* at, size_t bytes, unsigned long type,
                                                   unsigned long protection);
__declspec(dllimport) int __stdcall VirtualFree(void* at, size_t bytes, unsigned long type);
__declspec(dllimport) int __stdcall VirtualProtect(void* at, size_t bytes, unsigned long protection,
                                                   unsigned long* before);
__declspec(dllimport) void* __stdcall CreateFileMappingW(void* file, void* security, unsigned long protection,
                                                         unsigned long high, unsigned long low, const wchar_t* name);
__declspec(dllimport) void* __stdcall MapViewOfFile(void* mapping, unsigned long access, unsigned long high,
                                                    unsigned long low, size_t bytes);
__declspec(dllimport) int __stdcall UnmapViewOfFile(const void* at);
__declspec(dllimport) int __stdcall CloseHandle(void* handle);

enum { PROT_NONE = 1, PROT_READ = 2, PROT_WRITE = 4 }; /* PROT_READ | PROT_WRITE is 6 */
enum { MAP_PRIVATE = 1, MAP_ANONYMOUS = 2, MAP_SHARED = 4 };
#define MAP_FAILED ((void*)-1)

static inline unsigned long mman_protection(int protection) {
    return protection & PROT_WRITE  ? 4
           : protection & PROT_READ ? 2
                                    : 1; /* PAGE_READWRITE, PAGE_READONLY, PAGE_NOACCESS */
}
/* Files are shared and may be written. */
static inline void* mmap(void* at, size_t bytes, int protection, int flags, int file, long offset) {
    void* memory = NULL;
    if (flags & MAP_ANONYMOUS) {
        memory = VirtualAlloc(at, bytes, 0x3000, mman_protection(protection)); /* MEM_COMMIT | MEM_RESERVE */
    } else {
        void* const mapping = CreateFileMappingW((void*)_get_osfhandle(file), NULL, 4, 0, 0, NULL);
        if (mapping) memory = MapViewOfFile(mapping, 2, 0, (unsigned long)offset, bytes); /* FILE_MAP_WRITE */
        if (mapping) CloseHandle(mapping);
    }
    return memory ? memory : MAP_FAILED;
}
static inline int munmap(void* at, size_t bytes) {
    (void)bytes;
    return UnmapViewOfFile(at) || VirtualFree(at, 0, 0x8000) ? 0 : -1; /* MEM_RELEASE */
}
static inline int mprotect(void* at, size_t bytes, int protection) {
    unsigned long before = 0;
    return VirtualProtect(at, bytes, mman_protection(protection), &before) ? 0 : -1;
}

#endif
