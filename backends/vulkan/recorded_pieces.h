// A sequence of executions in pieces, each of which is submitted by itself: runs can be cancelled between them, and
// observers see the results of an execution before the next one begins.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "backend/recording.h"
#include "backends/vulkan/command_buffers.h"
#include "backends/vulkan/device/recorder.h"
#include "backends/vulkan/device/timestamps.h"
#include "base/cancellation.h"

namespace mnnc::vulkan {

class RecordedPieces final : private DispatchPieces {
  public:
    // The longest time that one submission should take.
    static constexpr double kMaxMs = 50;

    // reports: by step, where it puts its report. The backend, the steps and the frame have to outlive the object.
    RecordedPieces(VulkanBackend& backend, std::span<const DeviceStep> steps, std::span<const Binding> reports,
                   const Frame& frame);

    // Records everything, unless the present recording is for the memory that the frame has now, and its parts are
    // small enough. Throws Error; then nothing is recorded.
    void prepare();
    // Returns when the device is done. Checks the token before each submission. Throws Cancelled and the errors of the
    // device.
    void run(const Cancellation& cancel);
    // Runs one step. ms: null, or the place for its time by the clock of the device; it is unchanged where the device
    // has no clock.
    void runStep(size_t step, double* ms);

  private:
    // A dispatch, or a part of one, in a command buffer of its own.
    struct Piece {
        size_t dispatch;
        double ms;  // its time, measured or as a share of the time of the dispatch; below 0: not known yet
    };
    struct Dispatch {
        int64_t groups;
        int64_t parts;
        double ms;
    };
    struct Recorded {
        explicit Recorded(const VulkanBackend& backend) : sets(backend.gpu()), buffers(backend, 0) {}
        DescriptorSets sets;
        CommandBuffers buffers;
        std::vector<Piece> pieces;       // by command buffer
        std::vector<size_t> firstPiece;  // by step, then the number of all pieces
        // The recorded places of tensors whose memory may change before the next run.
        struct Place {
            const Operand* tensor;
            uint64_t block;
            int64_t offset;
        };
        std::vector<Place> places;
    };

    int64_t partsOfNext(int64_t groups) override;
    VkCommandBuffer next() override;
    bool isCurrent() const;
    // Returns how many pieces from `first` on are submitted together.
    size_t together(size_t first) const;
    void note(size_t first, size_t count, double ms);
    void divide();
    void makeStamps();

    VulkanBackend& backend_;
    const std::shared_ptr<Device> device_;
    const std::span<const DeviceStep> steps_;
    const std::vector<Binding> reports_;
    const Frame& frame_;
    std::vector<Dispatch> dispatches_;  // in the order of recording; empty before the first one
    bool tooLarge_ = false;             // a piece took longer than is wanted, and can be divided
    std::unique_ptr<Recorded> recorded_;
    Recorded* recording_ = nullptr;  // the recording that prepare() is making
    size_t nextDispatch_ = 0;        // the next dispatch of that recording
    std::unique_ptr<Timestamps> times_;
    std::unique_ptr<CommandBuffers> stamps_;  // two buffers, which write the time before and behind a step
};

}  // namespace mnnc::vulkan
