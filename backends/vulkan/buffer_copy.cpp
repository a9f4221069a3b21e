// Records a copy that waits for all previous work of the queue, and whose result is visible to all later work.
#include "backends/vulkan/buffer_copy.h"

#include "backends/vulkan/device/result.h"

namespace mnnc::vulkan {

BufferCopy::BufferCopy(const VulkanBackend& backend, const Block& from, const Block& to, int64_t bytes)
    : buffers_(backend, 1) {
    const VolkDeviceTable& api = backend.gpu()->api();
    const VkCommandBuffer buffer = buffers_[0];
    const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    check(api.vkBeginCommandBuffer(buffer, &begin), "vkBeginCommandBuffer");
    const VkMemoryBarrier before{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_MEMORY_WRITE_BIT,
                                 VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT};
    api.vkCmdPipelineBarrier(buffer, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1, &before,
                             0, nullptr, 0, nullptr);
    const VkBufferCopy copy{static_cast<VkDeviceSize>(from.offset()), static_cast<VkDeviceSize>(to.offset()),
                            static_cast<VkDeviceSize>(bytes)};
    api.vkCmdCopyBuffer(buffer, from.buffer(), to.buffer(), 1, &copy);
    const VkMemoryBarrier behind{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_TRANSFER_WRITE_BIT,
                                 VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT | VK_ACCESS_HOST_READ_BIT};
    api.vkCmdPipelineBarrier(buffer, VK_PIPELINE_STAGE_TRANSFER_BIT,
                             VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &behind, 0, nullptr,
                             0, nullptr);
    check(api.vkEndCommandBuffer(buffer), "vkEndCommandBuffer");
}

}  // namespace mnnc::vulkan
