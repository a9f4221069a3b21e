// Memory of the system: address ranges, aligned blocks, advice about pages.
#pragma once
#include <cstddef>
#include <cstdint>

namespace mnnc::os {

// Reserves a range of addresses whose bytes are zero; only pages that are touched take memory of the machine. With
// `used` all pages may be touched at once; otherwise useMemory() has to be called before a page is touched. Null: the
// system has no such range.
void* reserveMemory(size_t bytes, bool used) noexcept;
void releaseMemory(void* memory, size_t bytes) noexcept;
// Makes a part of a range usable and keeps its contents. False: there is no memory for it.
bool useMemory(void* begin, size_t bytes) noexcept;
// Returns the pages of a part of a range to the system; useMemory() has to be called before they are touched again.
void returnMemory(void* begin, size_t bytes) noexcept;

// These advise the system which size of pages to use; they do nothing where the system has no huge pages.
void preferHugePages(void* begin, size_t bytes) noexcept;
void preferSmallPages(void* begin, size_t bytes) noexcept;

// alignment: a power of two that divides `bytes`. Null: there is no memory.
void* allocateAligned(size_t alignment, size_t bytes) noexcept;
void freeAligned(void* memory) noexcept;

// Returns the bytes of memory of the machine; 0: unknown.
int64_t machineMemory() noexcept;

}  // namespace mnnc::os
