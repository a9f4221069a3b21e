// Queries of the device's clock.
#include "backends/vulkan/device/timestamps.h"

#include "backends/vulkan/device/result.h"

namespace mnnc::vulkan {

Timestamps::Timestamps(std::shared_ptr<Device> device, uint32_t points) : device_(std::move(device)), ticks_(points) {
    device_->requireUsable();
    VkQueryPoolCreateInfo info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
    info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    info.queryCount = points;
    check(device_->api().vkCreateQueryPool(device_->handle(), &info, nullptr, &pool_), "vkCreateQueryPool");
    device_->count(Count::QueryPool, 1);
}

Timestamps::~Timestamps() {
    if (device_->usable()) device_->api().vkDestroyQueryPool(device_->handle(), pool_, nullptr);
    device_->count(Count::QueryPool, -1);
}

void Timestamps::reset(VkCommandBuffer buffer) const {
    device_->api().vkCmdResetQueryPool(buffer, pool_, 0, static_cast<uint32_t>(ticks_.size()));
}

void Timestamps::write(VkCommandBuffer buffer, uint32_t point) const {
    device_->api().vkCmdWriteTimestamp(buffer, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool_, point);
}

void Timestamps::read(std::span<double> ms) {
    check(device_->api().vkGetQueryPoolResults(device_->handle(), pool_, 0, static_cast<uint32_t>(ticks_.size()),
                                               ticks_.size() * sizeof(uint64_t), ticks_.data(), sizeof(uint64_t),
                                               VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
          "vkGetQueryPoolResults");
    // The clock may have fewer than 64 bits; then it restarts at 0.
    const uint32_t bits = device_->info().timestampBits;
    const uint64_t mask = bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
    for (size_t i = 0; i < ms.size() && i + 1 < ticks_.size(); ++i)
        ms[i] = static_cast<double>((ticks_[i + 1] - ticks_[i]) & mask) * device_->info().limits.timestampPeriod * 1e-6;
}

}  // namespace mnnc::vulkan
