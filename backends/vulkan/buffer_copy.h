// A copy between two blocks, in a submission of its own.
#pragma once
#include "backends/vulkan/command_buffers.h"

namespace mnnc::vulkan {

class BufferCopy final : public Execution {
  public:
    // The blocks live as long as this does.
    BufferCopy(const VulkanBackend& backend, const Block& from, const Block& to, int64_t bytes);
    void onExecute() override { buffers_.run(); }  // returns when the bytes are there

  private:
    const CommandBuffers buffers_;
};

}  // namespace mnnc::vulkan
