// The check of an index tensor on the device: a dispatch beside the one that uses the indices, and the code of the host
// that turns its report into an error.
#pragma once
#include "backends/vulkan/vulkan_execution.h"
#include "ops/index_bounds.h"

namespace mnnc::vulkan {

class IndexCheck {
  public:
    // Checks `count` elements of the index tensor.
    void plan(VulkanBackend& backend, const IndexBounds& bounds, int64_t count);
    bool planned() const noexcept { return pipeline_ != nullptr; }
    int64_t reportBytes() const noexcept { return groups_ * 8; }
    void encode(Recorder& recorder, const Binding& indices, const Binding& report) const;
    // Throws InputDataError about the first index outside.
    void read(const std::string& op, const uint32_t* report) const;

  private:
    IndexBounds bounds_;
    Push push_;
    int64_t groups_ = 0;
    const Pipeline* pipeline_ = nullptr;
};

}  // namespace mnnc::vulkan
