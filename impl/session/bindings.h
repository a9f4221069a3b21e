// Inputs and outputs of a session in memory of the caller.
//
// Where the caller's layout is how the tensor is stored, the tensor and all views of it move there. Executions ask their
// operands for addresses when they run, so a new address needs no new plan. Elsewhere the contents are copied: of inputs
// before a run, of outputs after it.
#pragma once
#include <cstdint>
#include <vector>

#include "session/pipeline.h"

namespace mnnc {

struct Binding {
    uint8_t* data = nullptr;  // null: not bound. The memory of an input is only read
    int64_t bytes = 0;
    Format format = Format::NCHW;
    int64_t needed = -1;    // bytes of the tensor when it was bound; -1: only a run knows
    bool outdated = false;  // a resize changed the tensor's bytes

    // Where the tensor moved to, and from where; null where it did not.
    const Tensor* root = nullptr;
    void *movedTo = nullptr, *home = nullptr;

    bool active() const noexcept { return data && !outdated; }
    bool copied() const noexcept { return active() && !movedTo; }
};

class Bindings final : public PlanObserver {
  public:
    explicit Bindings(Pipeline& pipeline);

    // For a session that is planned. data null: the tensor is in the session's memory again. Throw InputDataError or
    // BufferTooSmall for the wrong size, InvalidValue for memory that overlaps a bound output, or of an output anything
    // bound; nothing has changed then.
    void bindInput(size_t index, const void* data, int64_t bytes, Format format);
    void bindOutput(size_t index, void* data, int64_t bytes, Format format);
    // For a session that is not planned: the next plan has the tensor in the session's memory.
    void releaseInput(size_t index) noexcept;
    void releaseOutput(size_t index) noexcept;

    const Binding& input(size_t index) const noexcept { return inputs_[index]; }
    const Binding& output(size_t index) const noexcept { return outputs_[index]; }
    // Whether the values of the last run are where the tensor is now.
    bool outputKept(size_t index) const noexcept { return !lost_[index]; }
    // Whether the output's values are in the caller's memory after a run.
    bool delivered(size_t index) const { return outputs_[index].active() && fits(index); }

    // A plan was made, or failed: tensors may be in the session's memory.
    void planned() override;
    // The session's memory is elsewhere, with what it held.
    void memoryMoved();
    // A plan for other shapes stands.
    void resized();
    // Throws BadState where a resize left a binding outdated.
    void requireCurrent() const;
    // Copies inputs.
    void beforeRun();
    // Copies outputs. Throws BufferTooSmall for outputs that turned out too large, when the others are copied.
    void afterRun();

  private:
    void placeInput(size_t index);
    void placeOutput(size_t index);
    void relocate(Tensor& root, void* to);
    bool takenByOther(const Tensor* root, size_t output) const noexcept;
    bool fits(size_t output) const;

    Pipeline& pipeline_;
    std::vector<Binding> inputs_, outputs_;
    std::vector<char> lost_;  // [output]
};

}  // namespace mnnc
