/* Counts every request for memory, of the heap or of the system: with glibc those of the whole process. */
#ifndef MNN_C_TESTS_COUNTED_MEMORY_H
#define MNN_C_TESTS_COUNTED_MEMORY_H

#ifdef _WIN32
#include "windows_counted_memory.h"
#else
#include <errno.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned long requests;

static void count(void) {
    __atomic_add_fetch(&requests, 1, __ATOMIC_RELAXED);
}

#pragma GCC visibility push(default)
extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

void* malloc(size_t size) {
    count();
    return __libc_malloc(size);
}
void* calloc(size_t number, size_t size) {
    count();
    return __libc_calloc(number, size);
}
void* realloc(void* old, size_t size) {
    count();
    return __libc_realloc(old, size);
}
void* memalign(size_t alignment, size_t size) {
    count();
    return __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
    count();
    return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, size_t alignment, size_t size) {
    count();
    *memory = __libc_memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}
void* mmap(void* at, size_t size, int protection, int flags, int file, off_t offset) {
    count();
    return (void*)syscall(SYS_mmap, at, size, protection, flags, file, offset);
}
#pragma GCC visibility pop

static inline void count_requests(void) {}
#endif

#endif
