// Measures the times of the device at points of a recording.
#pragma once
#include <volk.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backends/vulkan/device/device.h"

namespace mnnc::vulkan {

class Timestamps {
  public:
    // Returns whether the queue of the device has a clock.
    static bool supported(const Device& device) { return device.info().timestampBits > 0; }
    // The device must support them. Throws Error.
    Timestamps(std::shared_ptr<Device> device, uint32_t points);
    ~Timestamps();
    Timestamps(const Timestamps&) = delete;
    Timestamps& operator=(const Timestamps&) = delete;

    // Must be recorded before all points.
    void reset(VkCommandBuffer buffer) const;
    // Records the time when everything recorded before is done.
    void write(VkCommandBuffer buffer, uint32_t point) const;
    // To be called after the fence: ms[i] is the time from point i to point i + 1. Throws Error.
    void read(std::span<double> ms);

  private:
    const std::shared_ptr<Device> device_;
    VkQueryPool pool_ = VK_NULL_HANDLE;
    std::vector<uint64_t> ticks_;
};

}  // namespace mnnc::vulkan
