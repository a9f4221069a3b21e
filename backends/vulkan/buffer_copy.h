// A copy between two blocks, in a submission of its own.
#pragma once
#include "backends/vulkan/command_buffers.h"

namespace mnnc::vulkan {

class BufferCopy final : public BlockCopy {
  public:
    // The blocks must live as long as this object.
    BufferCopy(const VulkanBackend& backend, const Block& from, const Block& to, int64_t bytes);
    void run() const override { buffers_.run(); }

  private:
    const CommandBuffers buffers_;
};

}  // namespace mnnc::vulkan
