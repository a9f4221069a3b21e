// y = f(x, values of the channel) over a float tensor of any storage: PReLU and Scale.
#pragma once
#include "backends/vulkan/ops/post_ops.h"
#include "backends/vulkan/vulkan_execution.h"
#include "ops/channel_axis.h"

namespace mnnc::vulkan {

enum class ChannelMap : uint32_t { Slope = 0, Affine = 1 };

class ChannelValues final : public VulkanExecution {
  public:
    // first, second: one value per channel; second is empty where the map has none.
    ChannelValues(VulkanBackend& backend, const Command& command, ChannelMap map, const std::vector<float>& first,
                  const std::vector<float>& second)
        : VulkanExecution(backend),
          command_(command),
          map_(map),
          postOps_(command.epilogue),
          first_(first),
          second_(second) {}

    void prepare() override;
    void encode(FrameRecorder& recorder) const override;

  private:
    const Command command_;
    const ChannelMap map_;
    const PostOps postOps_;
    const std::vector<float>& first_;  // values from the command's parameters
    const std::vector<float>& second_;
    VulkanBackend::WeightsPtr values_;
    const Pipeline* pipeline_ = nullptr;
    int64_t channels_ = 1, inner_ = 1;
};

}  // namespace mnnc::vulkan
