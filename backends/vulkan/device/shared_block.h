// Blocks that the host shares: its own VkBuffers, and memory that other devices and processes use, too.
#pragma once
#include "backend/shared_buffer.h"
#include "backends/vulkan/device/device.h"

namespace mnnc::vulkan {

// Implements DeviceBackend::share(). A buffer of the host is used in place, and the host keeps it; the host also keeps
// a file descriptor.
std::shared_ptr<Block> shareBuffer(const std::shared_ptr<Device>& device, const SharedBuffer& buffer, int64_t bytes);

// Implements DeviceBackend::describe().
SharedBuffer describeBlock(const Device& device, const Block& block, int64_t offset, int64_t bytes,
                           SharedBuffer::Kind kind);

}  // namespace mnnc::vulkan
