// Inputs and outputs of a session in memory of the caller, on the host or on a device.
//
// Where the caller's layout is the layout in which the tensor is stored, the tensor and all views of it move there.
// Executions look up the addresses of their operands when they run, so a new address needs no new plan. Elsewhere the
// contents are copied: inputs before a run, outputs after it. Tensors that callers see as half are floats inside and
// always copied.
//
// A tensor lies directly in a buffer of a device where the device alone reads or writes it: recordings follow it there
// (RecordedBatch). Elsewhere it is bound to memory of the host, and runs copy between that memory and the buffer.
#pragma once
#include <cstdint>
#include <vector>

#include "session/budgeted_buffer.h"
#include "session/device_binding.h"
#include "session/ports.h"

namespace mnnc {

struct Binding {
    uint8_t* data = nullptr;  // null: not bound. The memory of an input is only read
    int64_t bytes = 0;
    Format format = Format::NCHW;
    int64_t needed = -1;    // bytes of the tensor when it was bound; -1: only a run knows
    bool outdated = false;  // a resize changed the number of the tensor's bytes
    bool half = false;      // callers see the tensor as half
    bool direct = false;    // a device uses the caller's buffer itself; then data is null
    bool refused = false;   // output only: the last run made a value that a half cannot hold
    bool inPlace = false;   // the tensor lies in the caller's memory

    bool bound() const noexcept { return data || direct; }
    // Returns the number of the tensor's bytes in the caller's layout.
    int64_t bytesOf(const Operand& tensor, Format order) const;
    // Takes over the caller's memory and layout from another binding; the tensor itself does not move.
    void replace(const Binding& wanted) noexcept;
    bool active() const noexcept { return bound() && !outdated; }
    bool copied() const noexcept { return data && !outdated && !inPlace; }
};

// Inputs and outputs that callers see as half.
struct HalfTensors {
    std::vector<bool> inputs, outputs;
};

class Bindings final : public PlanObserver {
  public:
    Bindings(const Ports& ports, SessionContext& context, const HalfTensors& half);

    // The session must be planned. data null: the tensor returns to the session's memory. Both functions throw
    // InputDataError or BufferTooSmall for the wrong size, and InvalidValue for memory that overlaps a bound output (an
    // output may not overlap a bound input either). Nothing has changed when they throw.
    void bindInput(size_t index, const void* data, int64_t bytes, Format format);
    void bindOutput(size_t index, void* data, int64_t bytes, Format format);
    // The same for buffers of the device that `context` has. They also throw BufferTooSmall for inputs, and what
    // DeviceBinding throws.
    void bindInput(size_t index, SessionContext& context, const SharedBuffer& buffer);
    void bindOutput(size_t index, SessionContext& context, const SharedBuffer& buffer);
    // For a session without a plan: the next plan places the tensor in the session's memory.
    void releaseInput(size_t index) noexcept;
    void releaseOutput(size_t index) noexcept;

    const Binding& input(size_t index) const noexcept { return inputs_[index]; }
    const Binding& output(size_t index) const noexcept { return outputs_[index]; }
    // Null: the input is not bound to a buffer of a device.
    const DeviceBinding* inputBuffer(size_t index) const noexcept { return inputBuffers_[index].get(); }
    const DeviceBinding* outputBuffer(size_t index) const noexcept { return outputBuffers_[index].get(); }
    // Returns whether the values of the last run lie where the tensor lies now.
    bool outputKept(size_t index) const noexcept { return !lost_[index]; }
    // Returns whether a run leaves the output's values in the caller's memory.
    bool delivered(size_t index) const { return outputs_[index].active() && fits(index) && !outputs_[index].refused; }

    // Called when a plan was made, or failed: tensors may lie in the session's memory again.
    void planned() override;
    // Called when the session's memory has moved together with its contents.
    void memoryMoved();
    // Called when the session has a plan for other shapes.
    void resized();
    // Throws BadState where a resize left a binding outdated.
    void requireCurrent() const;
    // Copies inputs.
    void beforeRun();
    // Copies outputs. Throws BufferTooSmall for an output that turned out too large, and InputDataError for one with a
    // value that a half cannot hold, but only after it has copied the others.
    void afterRun();

  private:
    using Buffers = std::vector<std::unique_ptr<DeviceBinding>>;
    void placeInput(size_t index);
    void placeOutput(size_t index);
    void placeOutputs();
    void placeInBuffer(size_t input);
    void placeOutBuffer(size_t output);
    bool madeByDevice(size_t output) const;
    void requireApart(const DeviceBinding& wanted, const std::string& name, const Buffers& others, size_t except) const;
    void loseOutputsOf(const Operand& root) noexcept;
    bool takenByOther(const Operand& root, size_t output) const noexcept;
    bool fits(size_t output) const;
    void copyIn(size_t input);
    void copyOut(size_t output);
    [[noreturn]] void refuse(size_t output) const;
    float* floatsFor(std::vector<BudgetedBuffer>& buffers, size_t index, const Operand& tensor, Format format);

    const Ports& ports_;
    std::vector<Binding> inputs_, outputs_;
    Buffers inputBuffers_, outputBuffers_;
    std::vector<BudgetedBuffer> inputFloats_, outputFloats_;  // for half tensors whose caller uses another layout
    std::vector<char> lost_;                                  // [output]
};

}  // namespace mnnc
