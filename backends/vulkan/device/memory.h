// Device memory: chunks of VkDeviceMemory with one VkBuffer each, divided into blocks.
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

struct Chunk {
    VkDeviceMemory memory = VK_NULL_HANDLE;
    VkBuffer buffer = VK_NULL_HANDLE;
    void* mapped = nullptr;
    int64_t bytes = 0;
    DeviceUse use = DeviceUse::Compute;
    FreeRanges free;
};

class Block final : public DeviceBlock {
  public:
    // `entry`: what the range becomes in the chunk's list when it is free again, so that giving it back takes no memory.
    Block(std::shared_ptr<Device> device, Chunk& chunk, FreeRanges::node_type entry)
        : device_(std::move(device)),
          chunk_(chunk),
          offset_(entry.key()),
          bytes_(entry.mapped()),
          entry_(std::move(entry)) {}
    ~Block() override;
    void* host() const noexcept override {
        return chunk_.mapped ? static_cast<char*>(chunk_.mapped) + offset_ : nullptr;
    }
    VkBuffer buffer() const noexcept { return chunk_.buffer; }
    int64_t offset() const noexcept { return offset_; }
    int64_t bytes() const noexcept { return bytes_; }

  private:
    const std::shared_ptr<Device> device_;
    Chunk& chunk_;
    const int64_t offset_, bytes_;
    FreeRanges::node_type entry_;
};

class MemoryPool {
  public:
    explicit MemoryPool(Device& device) : device_(device) {}
    void destroy() noexcept;

    // Aligned for storage buffers. Blocks of compute memory are visible to the host where that costs nothing
    // (integrated and software devices). Throws OutOfMemory. Threads: any.
    std::shared_ptr<Block> allocate(std::shared_ptr<Device> device, int64_t bytes, DeviceUse use);
    int64_t alignment() const noexcept;

  private:
    friend class Block;
    void give(Chunk& chunk, FreeRanges::node_type entry) noexcept;
    void makeChunk(Chunk& chunk);
    void destroyChunk(Chunk& chunk) noexcept;
    void freeUnused() noexcept;
    int findType(uint32_t allowed, DeviceUse use) const;

    Device& device_;
    std::mutex mutex_;
    std::list<Chunk> chunks_;
};

}  // namespace mnnc::vulkan
