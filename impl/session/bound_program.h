// A program together with the state that one session needs to run it. A stage has several over time; the places of
// operands in the frame belong to the one in use.
#pragma once
#include <array>
#include <deque>
#include <memory>
#include <vector>

#include "backend/recording.h"
#include "base/error.h"
#include "base/verifies.h"
#include "session/budgeted_buffer.h"
#include "session/graph_tensors.h"
#include "session/program.h"
#include "session/stage_memory.h"

namespace mnnc {

class BoundProgram {
  public:
    // before: its execution states are taken over where this program has the same executions; may be null. Throws what
    // an execution throws when it makes its state.
    BoundProgram(SessionContext& context, ProgramPtr program, const BoundProgram* before);
    ~BoundProgram();
    BoundProgram(const BoundProgram&) = delete;
    BoundProgram& operator=(const BoundProgram&) = delete;

    const Program* operator->() const noexcept { return program_.get(); }
    const ProgramPtr& program() const noexcept { return program_; }
    // Returns whether everything that the program was made for is unchanged.
    bool valid() const noexcept { return valid_; }
    void invalidate() noexcept { valid_ = false; }

    // Enters the places of all tensors and of scratch in the frame. The memory grows to what the program needs. Throws
    // what a device throws.
    void bind(StageMemory& memory, GraphTensors& tensors);
    // Tensors that the program reads have moved: its views of them follow.
    void follow(GraphTensors& tensors) noexcept;
    // Returns whether everything that the program depends on is unchanged. Does not allocate. Throws what a shape rule
    // throws for slices that moved.
    bool upToDate(GraphTensors& tensors);

    // Returns whether a call of a step keeps a state in the session.
    bool keeps(size_t step, size_t call) const noexcept {
        const ProgramStep& planned = program_->steps[step];
        const Execution* execution =
            planned.toRecord.empty() ? planned.execution.get() : planned.toRecord[call].execution.get();
        return execution && execution->kept();
    }
    // Called before the steps of a run: makes room for the rows that the run adds to the kept state, and records the
    // steps of the device again where they use new memory. Throws ComputeSizeError where a mask does not have the rows
    // of the past and of the run, and what KeptStates::begin() and a device throw.
    void beginKept(StageMemory& memory, GraphTensors& tensors);

    // Runs a step that is no control flow.
    void run(size_t step, Frame& frame) {
        if (recordings_[step]) return recordings_[step]->run();
        const ProgramStep& planned = program_->steps[step];
        frame.beginStep(planned.scratch, states_[step].get());
        planned.execution->run(frame);
    }
    // In builds with assertions, throws where a run has changed the program, which other sessions may be running.
    void verify() const {
        if (kVerifies && program_->checksum() != checksum_) fail(Status::Internal, "a run has changed its program");
    }
    // Null: the device has no recording for this step.
    Recording* recording(size_t step) const noexcept { return recordings_[step].get(); }
    // Returns the bytes that constants take on the device.
    int64_t constantBytes() const noexcept { return constants_.size(); }

  private:
    struct Guard {
        explicit Guard(SessionContext& context) : moved(context), fresh(context) {}
        const void* data = nullptr;   // the memory that views of it refer to
        BudgetedBuffer moved, fresh;  // the last values of an offset; a buffer for a row-major copy
    };
    // A moving slice together with its values in this session.
    struct Slice {
        const Node* node = nullptr;
        std::deque<Tensor> tensors = {};
        std::vector<Tensor*> inputs = {}, outputs = {};
    };
    void addSlice(const MovingSlice& slice);
    std::shared_ptr<ExecutionState> keptState(const Execution& execution, const std::string& name);
    bool sameShapes(Slice& slice) const;
    void placeMasks(StageMemory& memory, GraphTensors& tensors);
    void recordAnew(const StageMemory& memory, const Frame& frame);
    void record(DeviceBackend& device, const Frame& frame);

    SessionContext& context_;
    const ProgramPtr program_;
    const uint64_t checksum_ = kVerifies ? program_->checksum() : 0;
    bool valid_ = true;
    std::deque<Guard> guards_;
    std::deque<Slice> slices_;
    std::vector<std::shared_ptr<ExecutionState>> states_;  // by step
    std::vector<std::vector<DeviceStep>> toRecord_;        // by step, with the states
    std::vector<std::unique_ptr<Recording>> recordings_;   // by step
    int64_t keptRows_ = 0;                                 // rows that a run adds to the kept state
    std::vector<int> keptMasks_;                           // numbers of tensors, see KeptNeeds
    bool recorded_ = false;
    // The recordings were made for these generations of the device's blocks. The last number is that of kept pages.
    std::array<uint64_t, kMemoryBlocks + 1> recordedFor_ = {};
    BudgetedBlock constants_;  // on the device
};

}  // namespace mnnc
