/* Protected pages of Windows. */
#ifndef MNN_C_TESTS_WINDOWS_MMAN_H
#define MNN_C_TESTS_WINDOWS_MMAN_H

#include <stddef.h>

__declspec(dllimport) void* __stdcall VirtualAlloc(void* at, size_t bytes, unsigned long type,
                                                   unsigned long protection);
__declspec(dllimport) int __stdcall VirtualFree(void* at, size_t bytes, unsigned long type);
__declspec(dllimport) int __stdcall VirtualProtect(void* at, size_t bytes, unsigned long protection,
                                                   unsigned long* before);

enum { PROT_NONE = 1, PROT_READ = 2, PROT_WRITE = 4 }; /* PROT_READ | PROT_WRITE is 6 */
enum { MAP_PRIVATE = 1, MAP_ANONYMOUS = 2 };
#define MAP_FAILED ((void*)-1)

static inline unsigned long mman_protection(int protection) {
    return protection & PROT_WRITE  ? 4
           : protection & PROT_READ ? 2
                                    : 1; /* PAGE_READWRITE, PAGE_READONLY, PAGE_NOACCESS */
}
static inline void* mmap(void* at, size_t bytes, int protection, int flags, int file, long offset) {
    (void)flags, (void)file, (void)offset;
    void* const memory = VirtualAlloc(at, bytes, 0x3000, mman_protection(protection)); /* MEM_COMMIT | MEM_RESERVE */
    return memory ? memory : MAP_FAILED;
}
static inline int munmap(void* at, size_t bytes) {
    (void)bytes;
    return VirtualFree(at, 0, 0x8000) ? 0 : -1; /* MEM_RELEASE */
}
static inline int mprotect(void* at, size_t bytes, int protection) {
    unsigned long before = 0;
    return VirtualProtect(at, bytes, mman_protection(protection), &before) ? 0 : -1;
}

#endif
