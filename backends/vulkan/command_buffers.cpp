// Allocates, replaces and frees command buffers.
#include "backends/vulkan/command_buffers.h"

#include "backends/vulkan/device/result.h"

namespace mnnc::vulkan {

CommandBuffers::CommandBuffers(const VulkanBackend& backend, uint32_t count)
    : device_(backend.gpu()), pool_(backend.commandPool()) {
    device_->requireUsable();
    const VolkDeviceTable& api = device_->api();
    const VkFenceCreateInfo fence{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    check(api.vkCreateFence(device_->handle(), &fence, nullptr, &fence_), "vkCreateFence");
    device_->count(Count::Fence, 1);
    try {
        buffers_.resize(count);
        if (count > 0) allocate(buffers_);
    } catch (...) {
        api.vkDestroyFence(device_->handle(), fence_, nullptr);
        device_->count(Count::Fence, -1);
        throw;
    }
}

void CommandBuffers::allocate(std::span<VkCommandBuffer> buffers) const {
    const VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, pool_,
                                           VK_COMMAND_BUFFER_LEVEL_PRIMARY, static_cast<uint32_t>(buffers.size())};
    check(device_->api().vkAllocateCommandBuffers(device_->handle(), &info, buffers.data()),
          "vkAllocateCommandBuffers");
    device_->count(Count::CommandBuffer, static_cast<int64_t>(buffers.size()));
}

CommandBuffers::~CommandBuffers() {
    if (device_->usable()) {
        if (!buffers_.empty())
            device_->api().vkFreeCommandBuffers(device_->handle(), pool_, static_cast<uint32_t>(buffers_.size()),
                                                buffers_.data());
        device_->api().vkDestroyFence(device_->handle(), fence_, nullptr);
    }
    device_->count(Count::CommandBuffer, -static_cast<int64_t>(buffers_.size()));
    device_->count(Count::Fence, -1);
}

VkCommandBuffer CommandBuffers::add() {
    buffers_.reserve(buffers_.size() + 1);
    VkCommandBuffer buffer = VK_NULL_HANDLE;
    allocate({&buffer, 1});
    buffers_.push_back(buffer);
    return buffer;
}

void CommandBuffers::renew(size_t index, const std::function<void(VkCommandBuffer)>& record) {
    VkCommandBuffer buffer = VK_NULL_HANDLE;
    allocate({&buffer, 1});
    const auto release = [&] {
        device_->api().vkFreeCommandBuffers(device_->handle(), pool_, 1, &buffer);
        device_->count(Count::CommandBuffer, -1);
    };
    try {
        record(buffer);
    } catch (...) {
        release();
        throw;
    }
    std::swap(buffers_[index], buffer);
    release();
}

}  // namespace mnnc::vulkan
