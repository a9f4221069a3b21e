// Device memory: ranges of VkBuffers, and chunks of VkDeviceMemory with one VkBuffer each, divided into such ranges.
#pragma once
#include <volk.h>

#include <list>
#include <map>
#include <memory>
#include <mutex>

#include "backend/device_backend.h"

namespace mnnc::vulkan {

class Device;
class MemoryPool;

using FreeRanges = std::map<int64_t, int64_t>;  // offset -> bytes, neighbours merged

// The usage of all buffers.
constexpr VkBufferUsageFlags kBufferUsage =
    VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;

// The memory to which a buffer is bound.
struct BoundMemory {
    VkDeviceMemory handle = VK_NULL_HANDLE;
    VkDeviceSize bytes = 0;  // as it was allocated
    uint32_t type = 0;
};

struct Chunk {
    BoundMemory memory;
    VkBuffer buffer = VK_NULL_HANDLE;
    void* mapped = nullptr;
    int64_t bytes = 0;
    DeviceUse use = DeviceUse::Compute;
    FreeRanges free;
};

// A range of a VkBuffer.
class Block : public DeviceBlock {
  public:
    void* host() const noexcept override { return host_; }
    VkBuffer buffer() const noexcept { return buffer_; }
    int64_t offset() const noexcept { return offset_; }
    int64_t bytes() const noexcept { return bytes_; }
    // The memory of the buffer, from its beginning on; without a handle where the host bound it.
    const BoundMemory& memory() const noexcept { return memory_; }
    // Returns whether the host, or another device, may use the memory, too.
    virtual bool shared() const noexcept { return false; }
    // A number that no other block has or had.
    uint64_t serial() const noexcept { return serial_; }

  protected:
    Block(VkBuffer buffer, int64_t offset, int64_t bytes, void* host, const BoundMemory& memory);

  private:
    const VkBuffer buffer_;
    const int64_t offset_, bytes_;
    void* const host_;
    const BoundMemory memory_;
    const uint64_t serial_;
};

// A block of a pool.
class PoolBlock final : public Block {
  public:
    // `entry`: the entry that the range gets in the chunk's list of free ranges, allocated in advance so that releasing
    // it needs no memory.
    PoolBlock(std::shared_ptr<Device> device, Chunk& chunk, FreeRanges::node_type entry);
    ~PoolBlock() override;

  private:
    const std::shared_ptr<Device> device_;
    Chunk& chunk_;
    FreeRanges::node_type entry_;
};

class MemoryPool {
  public:
    explicit MemoryPool(Device& device) : device_(device) {}
    void destroy() noexcept;

    // Allocates a block aligned for storage buffers. Blocks of compute memory are visible to the host where that costs
    // nothing (integrated and software devices). Throws OutOfMemory. Threads: any.
    std::shared_ptr<Block> allocate(std::shared_ptr<Device> device, int64_t bytes, DeviceUse use);
    int64_t alignment() const noexcept;
    // Returns the best of the allowed memory types for a use; -1: none.
    int findType(uint32_t allowed, DeviceUse use) const;

  private:
    friend class PoolBlock;
    void give(Chunk& chunk, FreeRanges::node_type entry) noexcept;
    void makeChunk(Chunk& chunk);
    void destroyChunk(Chunk& chunk) noexcept;
    void freeUnused() noexcept;

    Device& device_;
    std::mutex mutex_;
    std::list<Chunk> chunks_;
};

}  // namespace mnnc::vulkan
