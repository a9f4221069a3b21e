// Blocks that the host shares: its own VkBuffers, and memory that other devices and processes have too.
#pragma once
#include "backend/shared_buffer.h"
#include "backends/vulkan/device/device.h"

namespace mnnc::vulkan {

// What DeviceBackend::share() gives. A buffer of the host is used where it is, and the host keeps it; a file descriptor
// stays the host's as well.
std::shared_ptr<Block> shareBuffer(const std::shared_ptr<Device>& device, const SharedBuffer& buffer, int64_t bytes);

// See DeviceBackend::describe().
SharedBuffer describeBlock(const Device& device, const Block& block, int64_t offset, int64_t bytes,
                           SharedBuffer::Kind kind);

}  // namespace mnnc::vulkan
