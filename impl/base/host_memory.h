// The interface of an allocator that the host supplies for large blocks of memory.
#pragma once
#include <cstddef>
#include <memory>

namespace mnnc {

class HostMemory {
  public:
    virtual ~HostMemory() = default;
    // `alignment` is a power of two. Returns null when there is no more memory. Called on any thread.
    virtual void* allocate(size_t bytes, size_t alignment) noexcept = 0;
    // Releases a result of allocate() for the same numbers.
    virtual void release(void* memory, size_t bytes, size_t alignment) noexcept = 0;
};
// Null: the library's own allocation. A block keeps its source alive until it is released.
using HostMemoryPtr = std::shared_ptr<HostMemory>;

}  // namespace mnnc
