// Allocates blocks from chunks of device memory and merges freed ones.
#include "backends/vulkan/device/memory.h"

#include <algorithm>
#include <atomic>
#include <iterator>

#include "backends/vulkan/device/device.h"
#include "backends/vulkan/device/result.h"
#include "base/checked.h"

namespace mnnc::vulkan {

namespace {

constexpr int64_t kChunkBytes = 8 << 20;  // larger requests get a chunk of their own
constexpr VkDeviceSize kWindowBytes = 256 << 20;

int bits(VkMemoryPropertyFlags flags) {
    return __builtin_popcount(flags);
}

}  // namespace

Block::Block(VkBuffer buffer, int64_t offset, int64_t bytes, void* host, const BoundMemory& memory)
    : buffer_(buffer), offset_(offset), bytes_(bytes), host_(host), memory_(memory), serial_([] {
          static std::atomic<uint64_t> blocks{0};
          return ++blocks;
      }()) {}

PoolBlock::PoolBlock(std::shared_ptr<Device> device, Chunk& chunk, FreeRanges::node_type entry)
    : Block(chunk.buffer, entry.key(), entry.mapped(),
            chunk.mapped ? static_cast<char*>(chunk.mapped) + entry.key() : nullptr, chunk.memory),
      device_(std::move(device)),
      chunk_(chunk),
      entry_(std::move(entry)) {}

PoolBlock::~PoolBlock() {
    device_->memory().give(chunk_, std::move(entry_));
}

int64_t MemoryPool::alignment() const noexcept {
    const VkPhysicalDeviceLimits& limits = device_.info().limits;
    return static_cast<int64_t>(
        std::max<VkDeviceSize>({limits.minStorageBufferOffsetAlignment, limits.nonCoherentAtomSize, 64}));
}

// Returns the type with all required, the most of the wanted and the fewest of the unwanted properties; -1: none.
int MemoryPool::findType(uint32_t allowed, DeviceUse use) const {
    const DeviceInfo& info = device_.info();
    const bool discrete = info.type == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    constexpr VkMemoryPropertyFlags kVisible =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkMemoryPropertyFlags required = kVisible, wanted = 0, unwanted = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
    if (use == DeviceUse::Compute) {
        required = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
        wanted = discrete ? 0 : kVisible | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
        unwanted = discrete ? VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT : 0;
    } else if (use == DeviceUse::Download) {
        wanted = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    } else if (use == DeviceUse::Kept) {
        wanted = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
        unwanted = 0;
    }
    int best = -1, bestScore = 0;
    for (uint32_t i = 0; i < info.memory.memoryTypeCount; ++i) {
        const VkMemoryType& type = info.memory.memoryTypes[i];
        VkMemoryPropertyFlags flags = type.propertyFlags;
        if (!((allowed >> i) & 1u) || (flags & required) != required) continue;
        // Kept data would soon fill a small window through which the host sees memory of the device.
        if (use == DeviceUse::Kept && info.memory.memoryHeaps[type.heapIndex].size <= kWindowBytes)
            flags &= ~static_cast<VkMemoryPropertyFlags>(VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
        const int score = 2 * bits(flags & wanted) - bits(flags & unwanted);
        if (best < 0 || score > bestScore) {
            best = static_cast<int>(i);
            bestScore = score;
        }
    }
    return best;
}

void MemoryPool::makeChunk(Chunk& chunk) {
    const VolkDeviceTable& api = device_.api();
    VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    info.size = static_cast<VkDeviceSize>(chunk.bytes);
    info.usage = kBufferUsage;
    info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
    VkBuffer buffer = VK_NULL_HANDLE;  // undefined where the call fails
    check(api.vkCreateBuffer(device_.handle(), &info, nullptr, &buffer), "vkCreateBuffer");
    chunk.buffer = buffer;
    device_.count(Count::Buffer, 1);
    VkMemoryRequirements needs;
    api.vkGetBufferMemoryRequirements(device_.handle(), chunk.buffer, &needs);
    const int type = findType(needs.memoryTypeBits, chunk.use);
    if (type < 0) fail(Status::NotSupported, "the Vulkan device has no memory type for this use");
    const VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, nullptr, needs.size,
                                        static_cast<uint32_t>(type)};
    VkResult result = api.vkAllocateMemory(device_.handle(), &allocate, nullptr, &chunk.memory.handle);
    if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY) {
        freeUnused();
        result = api.vkAllocateMemory(device_.handle(), &allocate, nullptr, &chunk.memory.handle);
    }
    if (result != VK_SUCCESS) chunk.memory.handle = VK_NULL_HANDLE;
    if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY)
        fail(Status::OutOfMemory, "the Vulkan device has no memory for a block of %lld bytes", asLong(chunk.bytes));
    check(result, "vkAllocateMemory");
    device_.count(Count::Memory, 1);
    chunk.memory.bytes = needs.size;
    chunk.memory.type = static_cast<uint32_t>(type);
    check(api.vkBindBufferMemory(device_.handle(), chunk.buffer, chunk.memory.handle, 0), "vkBindBufferMemory");
    const VkMemoryPropertyFlags flags = device_.info().memory.memoryTypes[type].propertyFlags;
    constexpr VkMemoryPropertyFlags kMappable =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    if ((flags & kMappable) == kMappable)
        check(api.vkMapMemory(device_.handle(), chunk.memory.handle, 0, VK_WHOLE_SIZE, 0, &chunk.mapped),
              "vkMapMemory");
}

void MemoryPool::destroyChunk(Chunk& chunk) noexcept {
    if (chunk.buffer) {
        if (device_.usable()) device_.api().vkDestroyBuffer(device_.handle(), chunk.buffer, nullptr);
        device_.count(Count::Buffer, -1);
    }
    if (chunk.memory.handle) {
        if (device_.usable()) device_.api().vkFreeMemory(device_.handle(), chunk.memory.handle, nullptr);
        device_.count(Count::Memory, -1);
    }
}

void MemoryPool::freeUnused() noexcept {
    for (auto it = chunks_.begin(); it != chunks_.end();) {
        const bool unused = it->free.size() == 1 && it->free.begin()->second == it->bytes;
        if (unused) {
            destroyChunk(*it);
            it = chunks_.erase(it);
        } else {
            ++it;
        }
    }
}

std::shared_ptr<Block> MemoryPool::allocate(std::shared_ptr<Device> device, int64_t bytes, DeviceUse use) {
    device_.requireUsable();
    bytes = roundUp(std::max<int64_t>(bytes, 1), alignment());
    if (static_cast<uint64_t>(bytes) > device_.info().maxAllocation)
        fail(Status::OutOfMemory, "the Vulkan device allocates at most %llu bytes at once, %lld are needed",
             static_cast<unsigned long long>(device_.info().maxAllocation), asLong(bytes));
    const std::lock_guard lock(mutex_);
    Chunk* chunk = nullptr;
    std::map<int64_t, int64_t>::iterator range;
    for (Chunk& candidate : chunks_) {
        if (candidate.use != use) continue;
        range = std::find_if(candidate.free.begin(), candidate.free.end(),
                             [&](const auto& free) { return free.second >= bytes; });
        if (range == candidate.free.end()) continue;
        chunk = &candidate;
        break;
    }
    if (!chunk) {
        Chunk fresh;
        fresh.use = use;
        fresh.bytes = std::max(bytes, kChunkBytes);
        if (bytes > kChunkBytes / 2) fresh.bytes = bytes;
        try {
            makeChunk(fresh);
            fresh.free[0] = fresh.bytes;
            chunks_.push_back(std::move(fresh));
        } catch (...) {
            destroyChunk(fresh);
            throw;
        }
        chunk = &chunks_.back();
        range = chunk->free.begin();
    }
    const auto [offset, size] = *range;
    FreeRanges rest;  // behind the block
    if (size > bytes) rest[offset + bytes] = size - bytes;
    auto entry = chunk->free.extract(range);
    entry.mapped() = bytes;
    try {
        auto block = std::make_shared<PoolBlock>(std::move(device), *chunk, std::move(entry));
        chunk->free.merge(rest);
        return block;
    } catch (...) {
        entry.mapped() = size;
        chunk->free.insert(std::move(entry));
        freeUnused();
        throw;
    }
}

// Returns a range to its chunk and merges it with its neighbours. A chunk that was made for one large block is released
// together with it; those of kChunkBytes are kept for later blocks.
void MemoryPool::give(Chunk& chunk, FreeRanges::node_type entry) noexcept {
    const std::lock_guard lock(mutex_);
    auto next = chunk.free.upper_bound(entry.key());
    if (next != chunk.free.end() && next->first == entry.key() + entry.mapped()) {
        entry.mapped() += next->second;
        next = chunk.free.erase(next);
    }
    if (next != chunk.free.begin() && std::prev(next)->first + std::prev(next)->second == entry.key())
        std::prev(next)->second += entry.mapped();
    else
        chunk.free.insert(next, std::move(entry));
    if (chunk.bytes != kChunkBytes && chunk.free.size() == 1 && chunk.free.begin()->second == chunk.bytes) {
        destroyChunk(chunk);
        chunks_.remove_if([&](const Chunk& one) { return &one == &chunk; });
    }
}

void MemoryPool::destroy() noexcept {
    for (Chunk& chunk : chunks_) destroyChunk(chunk);
    chunks_.clear();
}

}  // namespace mnnc::vulkan
