// A maximal sequence of executions on the device: recorded once, executed by every run.
#pragma once
#include <memory>
#include <vector>

#include "backend/recording.h"
#include "backends/vulkan/command_buffers.h"
#include "backends/vulkan/device/recorder.h"
#include "backends/vulkan/device/timestamps.h"
#include "backends/vulkan/recorded_pieces.h"
#include "backends/vulkan/vulkan_backend.h"

namespace mnnc::vulkan {

class FrameRecorder;
class VulkanExecution;

class RecordedBatch final : public Recording {
  public:
    RecordedBatch(VulkanBackend& backend, std::span<const DeviceStep> steps, const Frame& frame);
    void run() override;
    void recordAgain() override;
    void runTimed(std::span<double> ms) override;
    void runCancellable(const Cancellation& cancel) override;
    bool showsSteps() const noexcept override { return !backend_.batched(); }
    void runStep(size_t step, double* ms) override;
    void begin() override;
    bool end(int64_t nanoseconds) override;

  private:
    // The executions of one command buffer. An execution that uses a tensor whose memory may change has a command
    // buffer of its own, so that it can be recorded again separately. That command buffer waits for all earlier ones,
    // and all later ones wait for it.
    struct Range {
        size_t begin, end;
        const Operand* movable = nullptr;
    };
    // The memory with which a range with a `movable` tensor was recorded.
    struct Moved {
        size_t range;
        std::unique_ptr<DescriptorSets> sets;
        uint64_t block;
        int64_t offset;
    };
    struct Commands {
        Commands(const VulkanBackend& backend, size_t ranges, const Timestamps* times)
            : sets(backend.gpu()), buffers(backend, static_cast<uint32_t>(ranges)), timestamps(times) {}
        DescriptorSets sets;
        CommandBuffers buffers;
        std::vector<Moved> moved;
        // Written before the first execution and behind each one, which then run one after another; null: there are
        // none.
        const Timestamps* const timestamps;
    };
    // The place in `reports_` of the data of a step that the host reads after a run.
    struct Report {
        size_t step;
        int64_t offset, bytes;
    };
    void divide();
    void makeReports();
    Binding reportOf(size_t step) const;
    std::unique_ptr<Commands> encode(const Timestamps* timestamps);
    void encode(const Range& range, VkCommandBuffer buffer, FrameRecorder& recorder, const Timestamps* timestamps);
    Moved encodeAlone(size_t range, VkCommandBuffer buffer, const Timestamps* timestamps);
    void recordMoved(Commands& commands);
    void submit(Commands& commands);
    bool wait(const Commands& commands, int64_t nanoseconds);
    RecordedPieces& pieces();
    void readReport(const Report& report) const;

    VulkanBackend& backend_;
    const std::shared_ptr<Device> device_;
    const Frame& frame_;
    std::vector<DeviceStep> steps_;  // they keep weights and tables alive
    std::vector<Range> ranges_;
    std::vector<const VulkanExecution*> hostParts_;
    std::vector<Report> reporting_;
    DeviceBlockPtr reports_;  // memory of the reports, of the executions that have one
    std::unique_ptr<Commands> commands_;
    std::unique_ptr<Timestamps> timestamps_;  // null until times are requested
    std::unique_ptr<Commands> timed_;
    std::unique_ptr<RecordedPieces> pieces_;  // null until a run is cut
    double ms_ = -1;                          // duration of the last run; below 0: there was none
};

}  // namespace mnnc::vulkan
