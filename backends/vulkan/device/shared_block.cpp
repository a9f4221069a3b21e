// Checks and imports buffers of the host, allocates memory that can be shared, and describes the place of a block.
#include "backends/vulkan/device/shared_block.h"

#include <algorithm>
#include <cstring>

#include "backends/vulkan/device/result.h"
#include "base/checked.h"
#include "base/os/libraries.h"

namespace mnnc::vulkan {

namespace {

constexpr VkExternalMemoryHandleTypeFlagBits kDescriptor = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;

// Non-dispatchable handles of Vulkan are pointers on some platforms and numbers on others.
template <typename Handle>
uint64_t numberOf(Handle handle) {
    uint64_t number = 0;
    static_assert(sizeof handle <= sizeof number);
    std::memcpy(&number, &handle, sizeof handle);
    return number;
}
template <typename Handle>
Handle handleOf(uint64_t number) {
    Handle handle;
    std::memcpy(&handle, &number, sizeof handle);
    return handle;
}

// A buffer that the host owns.
class HostBlock final : public Block {
  public:
    HostBlock(std::shared_ptr<Device> device, VkBuffer buffer, int64_t offset, int64_t bytes)
        : Block(buffer, offset, bytes, nullptr, {}), device_(std::move(device)) {}
    bool shared() const noexcept override { return true; }

  private:
    const std::shared_ptr<Device> device_;
};

// A buffer over its own memory, which can be exported or was imported.
struct ExternalMemory {
    explicit ExternalMemory(std::shared_ptr<Device> on) : device(std::move(on)) {}
    ExternalMemory(const ExternalMemory&) = delete;
    ExternalMemory& operator=(const ExternalMemory&) = delete;
    ~ExternalMemory() {
        if (buffer) {
            if (device->usable()) device->api().vkDestroyBuffer(device->handle(), buffer, nullptr);
            device->count(Count::Buffer, -1);
        }
        if (bound.handle) {
            if (device->usable()) device->api().vkFreeMemory(device->handle(), bound.handle, nullptr);
            device->count(Count::Memory, -1);
        }
    }
    VkMemoryRequirements makeBuffer(int64_t bytes) {
        const VkExternalMemoryBufferCreateInfo external{VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, nullptr,
                                                        kDescriptor};
        VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
        info.pNext = &external;
        info.size = static_cast<VkDeviceSize>(bytes);
        info.usage = kBufferUsage;
        info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
        VkBuffer made = VK_NULL_HANDLE;
        check(device->api().vkCreateBuffer(device->handle(), &info, nullptr, &made), "vkCreateBuffer");
        device->count(Count::Buffer, 1);
        buffer = made;
        VkMemoryRequirements needs;
        device->api().vkGetBufferMemoryRequirements(device->handle(), buffer, &needs);
        return needs;
    }
    // `how`: the structure that makes the allocation an import, or exportable.
    VkResult allocate(const void* how, VkDeviceSize bytes, uint32_t type) {
        const VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, how, bytes, type};
        VkDeviceMemory made = VK_NULL_HANDLE;
        const VkResult result = device->api().vkAllocateMemory(device->handle(), &info, nullptr, &made);
        if (result != VK_SUCCESS) return result;
        device->count(Count::Memory, 1);
        bound = {made, bytes, type};
        return result;
    }
    void bind() const {
        check(device->api().vkBindBufferMemory(device->handle(), buffer, bound.handle, 0), "vkBindBufferMemory");
    }

    const std::shared_ptr<Device> device;
    VkBuffer buffer = VK_NULL_HANDLE;
    BoundMemory bound;
    bool ours = false;  // it was allocated here, to be exported
};

class ExternalBlock final : public Block {
  public:
    ExternalBlock(std::unique_ptr<ExternalMemory> memory, int64_t offset, int64_t bytes)
        : Block(memory->buffer, offset, bytes, nullptr, memory->bound), memory_(std::move(memory)) {}
    bool shared() const noexcept override { return true; }
    bool exportable() const noexcept { return memory_->ours; }

  private:
    const std::unique_ptr<ExternalMemory> memory_;
};

void requireHandles(const Device& device) {
    if (!device.ofHost())
        fail(Status::NotSupported,
             "the VkDevice of the session is the library's own, and the host has no handles of it; a runtime over the "
             "host's VkDevice, or memory shared by a file descriptor, is needed");
}

void requireDescriptors(const Device& device) {
    if (!device.descriptors())
        fail(Status::NotSupported, "the Vulkan device '%s' shares no memory by file descriptors%s",
             device.info().name.c_str(),
             device.info().descriptors ? ": it was made without VK_KHR_external_memory_fd" : "");
}

// Checks that the contents lie inside something that has `size` bytes.
void requireInside(const SharedBuffer& buffer, const Device& device, uint64_t size, const char* what) {
    if (buffer.bytes == 0) fail(Status::InvalidValue, "bytes is 0, at least 1 is needed");
    const uint64_t alignment = std::max<uint64_t>(device.info().limits.minStorageBufferOffsetAlignment, sizeof(float));
    if (buffer.offset % alignment != 0)
        fail(Status::InvalidValue, "offset is %llu, the device needs a multiple of %llu",
             static_cast<unsigned long long>(buffer.offset), static_cast<unsigned long long>(alignment));
    if (buffer.offset > size || buffer.bytes > size - buffer.offset)
        fail(Status::InvalidValue, "%llu bytes from offset %llu on end beyond the %llu bytes of the %s",
             static_cast<unsigned long long>(buffer.bytes), static_cast<unsigned long long>(buffer.offset),
             static_cast<unsigned long long>(size), what);
}

std::shared_ptr<Block> importHandle(const std::shared_ptr<Device>& device, const SharedBuffer& buffer) {
    const auto handle = handleOf<VkBuffer>(buffer.buffer);
    VkMemoryRequirements needs;  // the only size that Vulkan reports for a buffer: at least its own
    device->api().vkGetBufferMemoryRequirements(device->handle(), handle, &needs);
    requireInside(buffer, *device, needs.size, "VkBuffer");
    return std::make_shared<HostBlock>(device, handle, static_cast<int64_t>(buffer.offset),
                                       static_cast<int64_t>(buffer.bytes));
}

std::shared_ptr<Block> blockOf(std::unique_ptr<ExternalMemory> memory, uint64_t offset, int64_t bytes) {
    memory->bind();
    return std::make_shared<ExternalBlock>(std::move(memory), static_cast<int64_t>(offset), bytes);
}

std::shared_ptr<Block> importDescriptor(const std::shared_ptr<Device>& device, const SharedBuffer& buffer) {
    if (buffer.memoryBytes == 0 || buffer.memoryBytes > static_cast<uint64_t>(INT64_MAX))
        fail(Status::InvalidValue, "memory_bytes is %llu: it has to be what the memory was allocated with",
             static_cast<unsigned long long>(buffer.memoryBytes));
    requireInside(buffer, *device, buffer.memoryBytes, "memory");
    auto memory = std::make_unique<ExternalMemory>(device);
    const VkMemoryRequirements needs = memory->makeBuffer(static_cast<int64_t>(buffer.offset + buffer.bytes));
    if (needs.size > buffer.memoryBytes)
        fail(Status::InvalidValue, "a buffer of %llu bytes needs %llu bytes of memory, there are %llu",
             static_cast<unsigned long long>(buffer.offset + buffer.bytes), static_cast<unsigned long long>(needs.size),
             static_cast<unsigned long long>(buffer.memoryBytes));
    const uint32_t types = device->info().memory.memoryTypeCount;
    if (buffer.memoryType >= types || !((needs.memoryTypeBits >> buffer.memoryType) & 1u))
        fail(Status::InvalidValue, "memory_type is %u, which is no type of memory for shared buffers on this device",
             buffer.memoryType);
    const int own = os::duplicateDescriptor(buffer.descriptor);
    if (own < 0) fail(Status::InvalidValue, "fd is %d, which is no open file descriptor", buffer.descriptor);
    const VkImportMemoryFdInfoKHR import{VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR, nullptr, kDescriptor, own};
    const VkResult result = memory->allocate(&import, buffer.memoryBytes, buffer.memoryType);
    if (result != VK_SUCCESS) os::closeDescriptor(own);  // on success the driver owns it
    if (result == VK_ERROR_INVALID_EXTERNAL_HANDLE)
        fail(Status::InvalidValue, "the file descriptor %d is no memory of the Vulkan device '%s'", buffer.descriptor,
             device->info().name.c_str());
    check(result, "vkAllocateMemory");
    return blockOf(std::move(memory), buffer.offset, static_cast<int64_t>(buffer.bytes));
}

std::shared_ptr<Block> exportable(const std::shared_ptr<Device>& device, int64_t bytes) {
    auto memory = std::make_unique<ExternalMemory>(device);
    const VkMemoryRequirements needs = memory->makeBuffer(bytes);
    const int type = device->memory().findType(needs.memoryTypeBits, DeviceUse::Compute);
    if (type < 0) fail(Status::NotSupported, "the Vulkan device has no memory type for shared buffers");
    const VkExportMemoryAllocateInfo shared{VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO, nullptr, kDescriptor};
    check(memory->allocate(&shared, needs.size, static_cast<uint32_t>(type)), "vkAllocateMemory");
    memory->ours = true;
    return blockOf(std::move(memory), 0, bytes);
}

}  // namespace

std::shared_ptr<Block> shareBuffer(const std::shared_ptr<Device>& device, const SharedBuffer& buffer, int64_t bytes) {
    device->requireUsable();
    // The bytes of imported memory are those that its owner names.
    if (buffer.allocate) bytes = roundUp(std::max<int64_t>(bytes, 1), static_cast<int64_t>(sizeof(float)));
    if (buffer.kind == SharedBuffer::Kind::Handle) {
        requireHandles(*device);
        return buffer.allocate ? device->memory().allocate(device, bytes, DeviceUse::Compute)
                               : importHandle(device, buffer);
    }
    requireDescriptors(*device);
    return buffer.allocate ? exportable(device, bytes) : importDescriptor(device, buffer);
}

SharedBuffer describeBlock(const Device& device, const Block& block, int64_t offset, int64_t bytes,
                           SharedBuffer::Kind kind) {
    SharedBuffer result;
    result.kind = kind;
    result.buffer = numberOf(block.buffer());
    result.offset = static_cast<uint64_t>(block.offset() + offset);
    result.bytes = static_cast<uint64_t>(bytes);
    const BoundMemory& memory = block.memory();
    result.memory = numberOf(memory.handle);
    result.memoryOffset = memory.handle ? result.offset : 0;  // buffers begin at the beginning of their memory
    result.memoryBytes = memory.bytes;
    result.memoryType = memory.type;
    if (kind == SharedBuffer::Kind::Handle) {
        requireHandles(device);
        return result;
    }
    device.requireUsable();
    requireDescriptors(device);
    const auto* external = dynamic_cast<const ExternalBlock*>(&block);
    if (!external || !external->exportable())
        fail(Status::BadState, "the memory was not made to be shared by a file descriptor");
    const VkMemoryGetFdInfoKHR info{VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR, nullptr, memory.handle, kDescriptor};
    check(device.api().vkGetMemoryFdKHR(device.handle(), &info, &result.descriptor), "vkGetMemoryFdKHR");
    result.buffer = result.memory = 0;  // valid for this VkDevice only
    return result;
}

}  // namespace mnnc::vulkan
