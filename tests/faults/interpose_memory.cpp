// Memory: every form of operator new, the malloc family, mmap.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <new>

#include "callers.h"
#include "failures.h"
#include "held.h"
#include "interposed.h"

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);
}

using namespace faults;

namespace {

// alignment 0: that of malloc.
void* request(size_t bytes, size_t alignment, const void* caller) {
    const bool ours = isOurs(caller);
    throwing = false;
    if (ours && fails(Call::Memory)) {
        errno = ENOMEM;
        return nullptr;
    }
    void* block = alignment ? __libc_memalign(alignment, bytes) : __libc_malloc(bytes);
    if (ours && block) addHeld(block, caller, bytes);
    return block;
}

void release(void* block) {
    if (!block) return;
    removeHeld(block);
    __libc_free(block);
}

void* requestOrThrow(size_t bytes, size_t alignment, const void* caller) {
    if (void* block = request(bytes ? bytes : 1, alignment, caller)) return block;
    throwing = isOurs(caller);
    throw std::bad_alloc();
}

}  // namespace

EXPORTED void* operator new(size_t bytes) {
    return requestOrThrow(bytes, 0, CALLER);
}
EXPORTED void* operator new[](size_t bytes) {
    return requestOrThrow(bytes, 0, CALLER);
}
EXPORTED void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
    return request(bytes, 0, CALLER);
}
EXPORTED void* operator new[](size_t bytes, const std::nothrow_t&) noexcept {
    return request(bytes, 0, CALLER);
}
EXPORTED void* operator new(size_t bytes, std::align_val_t alignment) {
    return requestOrThrow(bytes, static_cast<size_t>(alignment), CALLER);
}
EXPORTED void* operator new[](size_t bytes, std::align_val_t alignment) {
    return requestOrThrow(bytes, static_cast<size_t>(alignment), CALLER);
}
EXPORTED void* operator new(size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return request(bytes, static_cast<size_t>(alignment), CALLER);
}
EXPORTED void* operator new[](size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return request(bytes, static_cast<size_t>(alignment), CALLER);
}
EXPORTED void operator delete(void* block) noexcept {
    release(block);
}
EXPORTED void operator delete[](void* block) noexcept {
    release(block);
}
EXPORTED void operator delete(void* block, size_t) noexcept {
    release(block);
}
EXPORTED void operator delete[](void* block, size_t) noexcept {
    release(block);
}
EXPORTED void operator delete(void* block, const std::nothrow_t&) noexcept {
    release(block);
}
EXPORTED void operator delete[](void* block, const std::nothrow_t&) noexcept {
    release(block);
}
EXPORTED void operator delete(void* block, std::align_val_t) noexcept {
    release(block);
}
EXPORTED void operator delete[](void* block, std::align_val_t) noexcept {
    release(block);
}
EXPORTED void operator delete(void* block, size_t, std::align_val_t) noexcept {
    release(block);
}
EXPORTED void operator delete[](void* block, size_t, std::align_val_t) noexcept {
    release(block);
}

extern "C" {

EXPORTED void* malloc(size_t bytes) {
    return request(bytes, 0, CALLER);
}
EXPORTED void* calloc(size_t number, size_t size) {
    const void* caller = CALLER;
    const bool ours = isOurs(caller);
    if (ours && fails(Call::Memory)) {
        errno = ENOMEM;
        return nullptr;
    }
    void* block = __libc_calloc(number, size);
    if (ours && block) addHeld(block, caller, number * size);
    return block;
}
EXPORTED void* realloc(void* old, size_t bytes) {
    const void* caller = CALLER;
    const bool ours = isOurs(caller);
    if (ours && fails(Call::Memory)) {
        errno = ENOMEM;
        return nullptr;
    }
    removeHeld(old);
    void* block = __libc_realloc(old, bytes);
    if (ours && block) addHeld(block, caller, bytes);
    return block;
}
EXPORTED void free(void* block) {
    release(block);
}
EXPORTED void* memalign(size_t alignment, size_t bytes) {
    return request(bytes, alignment, CALLER);
}
EXPORTED void* aligned_alloc(size_t alignment, size_t bytes) {
    return request(bytes, alignment, CALLER);
}
EXPORTED int posix_memalign(void** block, size_t alignment, size_t bytes) {
    void* made = request(bytes, alignment, CALLER);
    if (!made) return ENOMEM;
    *block = made;
    return 0;
}

EXPORTED void* mmap(void* at, size_t bytes, int protection, int flags, int file, off_t offset) {
    const void* caller = CALLER;
    const bool ours = isLibrary(caller);
    if (ours && (fails(Call::Memory) || fails(Call::Map))) {
        errno = plan.error ? plan.error : ENOMEM;
        return MAP_FAILED;
    }
    auto* mapping = reinterpret_cast<void*>(syscall(SYS_mmap, at, bytes, protection, flags, file, offset));
    if (ours && mapping != MAP_FAILED) addHeld(mapping, caller, bytes);
    return mapping;
}
EXPORTED int munmap(void* at, size_t bytes) {
    removeHeld(at);
    return static_cast<int>(syscall(SYS_munmap, at, bytes));
}
// The name of the same call with _FILE_OFFSET_BITS.
EXPORTED void* mmap64(void* at, size_t bytes, int protection, int flags, int file, off_t offset)
    __attribute__((alias("mmap")));

}  // extern "C"
