// A Raster between packed tensors where every output channel is a whole channel of an input, or zero.
#pragma once
#include "backends/vulkan/vulkan_execution.h"

namespace mnnc::vulkan {

// Returns whether the command is such a Raster, whatever the storage of its tensors is now.
bool movesPlanes(const Command& command);

class PlaneRaster final : public VulkanExecution {
  public:
    static constexpr size_t kSources = 4;
    PlaneRaster(VulkanBackend& backend, const Command& command)
        : VulkanExecution(backend), command_(command), output_(*command.outputs[0]) {}

    void prepare() override;
    void encode(FrameRecorder& recorder) const override;

  private:
    const Command command_;
    const Operand& output_;
    VulkanBackend::WeightsPtr table_;
    const Pipeline* pipeline_ = nullptr;
};

}  // namespace mnnc::vulkan
