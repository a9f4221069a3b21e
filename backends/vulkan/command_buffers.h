// Command buffers that are submitted together, and the fence of the submission.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "backends/vulkan/vulkan_backend.h"

namespace mnnc::vulkan {

class CommandBuffers {
  public:
    CommandBuffers(const VulkanBackend& backend, uint32_t count);
    ~CommandBuffers();
    CommandBuffers(const CommandBuffers&) = delete;
    CommandBuffers& operator=(const CommandBuffers&) = delete;
    VkCommandBuffer operator[](size_t index) const { return buffers_[index]; }
    size_t size() const noexcept { return buffers_.size(); }
    // Adds a command buffer at the end.
    VkCommandBuffer add();
    // Records a new command buffer, then replaces the one at this index, which must not be in flight. Throws what
    // `record` throws; then nothing has changed.
    void renew(size_t index, const std::function<void(VkCommandBuffer)>& record);
    void submit() const { device_->submit(buffers_, fence_); }
    // Submits other command buffers of the same device, with the fence of this object.
    void submit(std::span<const VkCommandBuffer> buffers) const { device_->submit(buffers, fence_); }
    std::span<const VkCommandBuffer> range(size_t first, size_t count) const {
        return std::span(buffers_).subspan(first, count);
    }
    bool wait(int64_t nanoseconds) const { return device_->wait(fence_, nanoseconds); }
    void run() const {
        submit();
        wait(-1);
    }

  private:
    void allocate(std::span<VkCommandBuffer> buffers) const;
    const std::shared_ptr<Device> device_;
    const VkCommandPool pool_;
    std::vector<VkCommandBuffer> buffers_;
    VkFence fence_ = VK_NULL_HANDLE;
};

}  // namespace mnnc::vulkan
