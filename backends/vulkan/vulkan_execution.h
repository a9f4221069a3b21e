// One command on the device: prepare chooses its pipelines, encode writes its dispatches.
#pragma once
#include <bit>
#include <concepts>
#include <initializer_list>
#include <string>
#include <vector>

#include "backend/execution.h"
#include "backends/vulkan/device/recorder.h"
#include "backends/vulkan/vulkan_backend.h"

namespace mnnc::vulkan {

// The invocations of a group, for kernels that have no reason for another number.
constexpr uint32_t kLocal = 64;

// The number of invocations that keeps a large device busy.
constexpr int64_t kEnoughInvocations = 32768;

constexpr int64_t kQuadBytes = 16;  // of four floats

inline Binding bindBlock(const Block& block, int64_t offset, int64_t bytes, bool write) {
    return {block.buffer(), block.offset() + offset, bytes, write};
}

// Records executions over the memory of a frame.
class FrameRecorder final : public Recorder {
  public:
    FrameRecorder(const VulkanBackend& backend, DescriptorSets& sets, const Frame& frame)
        : Recorder(*backend.gpu(), sets, backend.limits().groupCount), backend_(backend), frame_(frame) {}

    // Begins the next execution. report: the place of its report, if it has one.
    void beginStep(const DeviceStep& step, const Binding& report) noexcept {
        scratch_ = step.scratch;
        state_ = step.state.get();
        report_ = report;
    }

    // Binds the whole storage of a tensor of the device, or of a host tensor that the device can access.
    Binding reads(const Operand& tensor) const { return bind(tensor, false); }
    Binding writes(const Operand& tensor) const { return bind(tensor, true); }
    // Binds everything from the beginning of a host tensor to the end of its block, as far as the device binds at once.
    Binding readsFrom(const Operand& tensor) const;
    static Binding reads(const Block& block) { return bindBlock(block, 0, block.bytes(), false); }
    // Binds `bytes` of the scratch from `offset`, a multiple of the backend's alignment().
    Binding scratch(int64_t offset, int64_t bytes, bool write) const;
    const Binding& writesReport() const noexcept { return report_; }
    // The data that the execution keeps in the session; null: there is none.
    const ExecutionState* state() const noexcept { return state_; }

  private:
    Binding bind(const Operand& tensor, bool write) const;

    const VulkanBackend& backend_;
    const Frame& frame_;
    int scratch_ = 0;
    const ExecutionState* state_ = nullptr;
    Binding report_;
};

// One execution may be recorded for several frames, which changes nothing in it.
class VulkanExecution : public Execution {
  public:
    explicit VulkanExecution(VulkanBackend& backend) : backend_(backend) {}
    // Records the execution over a frame that has all memory; never submits.
    virtual void encode(FrameRecorder& recorder) const = 0;
    // Does the host's part of a run over a frame, before the device starts. It may neither allocate nor throw.
    virtual void beforeSubmit(const Frame&) const {}
    virtual bool hasHostPart() const { return false; }
    // Returns the host tensor that the execution reads or writes and whose memory may change after the recording; null:
    // none.
    virtual const Operand* movable() const { return nullptr; }
    // Returns the bytes of host-visible memory that the device writes for the host to read after the run.
    virtual int64_t reportBytes() const { return 0; }
    // Does the host's part of a run with a report, once the device is done. It may not allocate; it throws only Errors
    // about contents of tensors.
    virtual void afterRun(const uint32_t* report) const { static_cast<void>(report); }
    void run(const Frame&) const final {}  // the RecordedBatch runs all of them

  protected:
    VulkanBackend& backend() const noexcept { return backend_; }

  private:
    VulkanBackend& backend_;
};

inline uint32_t floatWord(float value) {
    return std::bit_cast<uint32_t>(value);
}

// The words of push constants: uint32_t, int32_t or float each.
class Push {
  public:
    template <std::integral... Values>
    Push& u(Values... values) {
        (words_.push_back(static_cast<uint32_t>(static_cast<int64_t>(values))), ...);
        return *this;
    }
    template <std::same_as<float>... Values>
    Push& f(Values... values) {
        (words_.push_back(floatWord(values)), ...);
        return *this;
    }
    operator std::span<const uint32_t>() const { return words_; }

  private:
    std::vector<uint32_t> words_;
};

inline const VulkanExecution& executionOf(const DeviceStep& step) {
    return static_cast<const VulkanExecution&>(*step.execution);
}

}  // namespace mnnc::vulkan
