// A maximal sequence of executions on the device: recorded once, replayed by every run.
#pragma once
#include <memory>
#include <vector>

#include "backend/recording.h"
#include "backends/vulkan/device/recorder.h"
#include "backends/vulkan/device/timestamps.h"
#include "backends/vulkan/vulkan_backend.h"

namespace mnnc::vulkan {

class VulkanExecution;

// Command buffers and a fence to run them with.
class CommandBuffers {
  public:
    CommandBuffers(const VulkanBackend& backend, uint32_t count);
    ~CommandBuffers();
    CommandBuffers(const CommandBuffers&) = delete;
    CommandBuffers& operator=(const CommandBuffers&) = delete;
    VkCommandBuffer operator[](size_t index) const { return buffers_[index]; }
    size_t size() const noexcept { return buffers_.size(); }
    void submit() const { device_->submit(buffers_, fence_); }
    bool wait(int64_t nanoseconds) const { return device_->wait(fence_, nanoseconds); }
    void run() const {
        submit();
        wait(-1);
    }

  private:
    const std::shared_ptr<Device> device_;
    const VkCommandPool pool_;
    std::vector<VkCommandBuffer> buffers_;
    VkFence fence_ = VK_NULL_HANDLE;
};

class RecordedBatch final : public Recording {
  public:
    RecordedBatch(VulkanBackend& backend, std::vector<std::unique_ptr<Execution>> executions);
    void onExecute() override;
    void recordAgain() override;
    void executeTimed(std::span<double> ms) override;
    void begin() override;
    bool end(int64_t nanoseconds) override;

  private:
    struct Commands {
        explicit Commands(const VulkanBackend& backend, size_t executions);
        DescriptorSets sets;
        CommandBuffers buffers;
    };
    void bindReports();
    // `timestamps`: written before the first execution and behind each one, which then run one after another; may be null.
    std::unique_ptr<Commands> encode(const Timestamps* timestamps);
    void submit(const Commands& commands);
    bool wait(const Commands& commands, int64_t nanoseconds);

    VulkanBackend& backend_;
    const std::shared_ptr<Device> device_;
    std::vector<std::unique_ptr<Execution>> executions_;  // hold weights and tables
    std::vector<VulkanExecution*> hostParts_, reporting_;
    DeviceBlockPtr reports_;  // of the executions that have one
    std::unique_ptr<Commands> commands_;
    std::unique_ptr<Timestamps> timestamps_;  // null until times are asked for
    std::unique_ptr<Commands> timed_;
};

// Copies between two blocks and waits.
void copyNow(const VulkanBackend& backend, const Block& from, const Block& to, int64_t bytes);

}  // namespace mnnc::vulkan
