// Where large blocks of memory come from when the host brings an allocator of its own.
#pragma once
#include <cstddef>
#include <memory>

namespace mnnc {

class HostMemory {
  public:
    virtual ~HostMemory() = default;
    // `alignment` is a power of two. Null: there is no more memory. Any thread.
    virtual void* allocate(size_t bytes, size_t alignment) noexcept = 0;
    // What allocate() gave for these numbers.
    virtual void release(void* memory, size_t bytes, size_t alignment) noexcept = 0;
};
// Null: the library's own allocation. A block keeps its source until it is released.
using HostMemoryPtr = std::shared_ptr<HostMemory>;

}  // namespace mnnc
