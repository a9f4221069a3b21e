// Memory by mmap() and madvise().
#include "base/os/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

namespace mnnc::os {

void* reserveMemory(size_t bytes, bool used) noexcept {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (used ? 0 : MAP_NORESERVE);
    void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    return memory == MAP_FAILED ? nullptr : memory;
}

void releaseMemory(void* memory, size_t bytes) noexcept {
    if (memory) ::munmap(memory, bytes);
}

// The system allocates a page when it is touched.
bool useMemory(void*, size_t) noexcept {
    return true;
}

void returnMemory(void* begin, size_t bytes) noexcept {
    preferSmallPages(begin, bytes);  // otherwise the system might fill the gap with a huge page
    ::madvise(begin, bytes, MADV_DONTNEED);
}

void preferHugePages([[maybe_unused]] void* begin, [[maybe_unused]] size_t bytes) noexcept {
#ifdef MADV_HUGEPAGE
    ::madvise(begin, bytes, MADV_HUGEPAGE);
#endif
}

void preferSmallPages([[maybe_unused]] void* begin, [[maybe_unused]] size_t bytes) noexcept {
#ifdef MADV_NOHUGEPAGE
    ::madvise(begin, bytes, MADV_NOHUGEPAGE);
#endif
}

void* allocateAligned(size_t alignment, size_t bytes) noexcept {
    return std::aligned_alloc(alignment, bytes);
}

void freeAligned(void* memory) noexcept {
    std::free(memory);
}

int64_t machineMemory() noexcept {
    const int64_t pages = ::sysconf(_SC_PHYS_PAGES), pageBytes = ::sysconf(_SC_PAGESIZE);
    return pages > 0 && pageBytes > 0 ? pages * pageBytes : 0;
}

}  // namespace mnnc::os
