// Memory of Windows: a range of addresses is reserved, and its pages are committed before they are used.
#include "base/os/memory.h"

#include <malloc.h>

#include "base/os/api_windows.h"

namespace mnnc::os {

void* reserveMemory(size_t bytes, bool used) noexcept {
    return VirtualAlloc(nullptr, bytes, used ? MEM_RESERVE | MEM_COMMIT : MEM_RESERVE, PAGE_READWRITE);
}

void releaseMemory(void* memory, size_t) noexcept {
    if (memory) VirtualFree(memory, 0, MEM_RELEASE);
}

bool useMemory(void* begin, size_t bytes) noexcept {
    return VirtualAlloc(begin, bytes, MEM_COMMIT, PAGE_READWRITE) != nullptr;
}

void returnMemory(void* begin, size_t bytes) noexcept {
    VirtualFree(begin, bytes, MEM_DECOMMIT);
}

// Huge pages need a privilege that few processes have.
void preferHugePages(void*, size_t) noexcept {}
void preferSmallPages(void*, size_t) noexcept {}

void* allocateAligned(size_t alignment, size_t bytes) noexcept {
    return _aligned_malloc(bytes, alignment);
}

void freeAligned(void* memory) noexcept {
    _aligned_free(memory);
}

int64_t machineMemory() noexcept {
    MEMORYSTATUSEX status{};
    status.dwLength = sizeof status;
    return GlobalMemoryStatusEx(&status) ? static_cast<int64_t>(status.ullTotalPhys) : 0;
}

}  // namespace mnnc::os
