// A program is the immutable result of planning a stage. It keeps no reference to the session that made it, so sessions
// can share it. BoundProgram is the state of one session that runs it.
#pragma once
#include <algorithm>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "backend/kept_state.h"
#include "plan/made_executions.h"
#include "plan/op_record.h"
#include "plan/placements.h"
#include "plan/plan_tensors.h"
#include "plan/step_plan.h"
#include "session/encoding.h"
#include "session/plan_texts.h"
#include "session/shared_memory.h"
#include "tensor/tensor_list.h"

namespace mnnc {

struct StageInput {  // a tensor that a program depends on besides the shapes of the graph's inputs
    int tensor = 0;
    bool content = false;     // depends on its values, not only on its shape
    bool onlyOffset = false;  // depends only on the shapes that its values give (ScheduledOp::moving)
};

// The state of such an input when the program was made.
struct ProgramGuard {
    explicit ProgramGuard(const StageInput& in) : input(in) {}
    StageInput input;
    Shape shape;
    DataType type = DataType::Float32;
    Format format = Format::NCHW;
    bool isPacked = false;
    std::shared_ptr<const TensorList> list;
    int64_t bytes = 0;                    // size of `content`
    std::optional<SharedMemory> content;  // row-major

    bool sameKind(const Operand& tensor) const noexcept {
        return tensor.shape == shape && tensor.type == type && tensor.format == format && sameList(tensor.list, list);
    }
};

// An input whose last extent is open: it may change from run to run without a new plan. Only attention over kept keys
// reads the input, as a mask, and the extent is the number of rows that the session keeps after the run.
struct OpenInput {
    int number = 0;                        // of the tensor
    int64_t minExtent = 0, maxExtent = 0;  // extents for which the program holds
    int staging = 0;                       // the number of the memory in which a device reads it; 0: none does

    // Returns the bytes that suffice for the input as it is, and for all larger extents up to the number of rows that
    // the session has room for.
    int64_t bytes(const Tensor& input, int64_t capacity) const noexcept {
        const int64_t extent = input.shape[input.shape.rank() - 1];
        const int64_t room = std::min(roundUp(std::max(extent, capacity), kKeptPageRows), maxExtent);
        return input.bytes() / extent * std::max(extent, room);
    }
};

// A slice whose position depends on values of a run. It has the operands as the shape rule sees them: runs apply the
// rule to them, to check that the shapes are unchanged.
struct MovingSlice {
    const Node* node = nullptr;
    std::vector<Tensor> inputs, outputs;
    std::vector<int> guards;  // for each input, the guard that has its values; -1: the input has its own
};

// A step is exactly one of these: an execution of the host, a sequence of a device, or control flow.
struct ProgramStep {
    std::shared_ptr<const Execution> execution;
    std::vector<DeviceStep> toRecord;  // one for each frame
    int control = -1;                  // index of the stage's operator
    bool onDevice = false;
    int scratch = 0;  // number of its scratch in the frame; 0: none
    std::vector<OpCall> calls;
};

struct Program {
    Program() = default;
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;
    // An encoding owns the encodings that computed the constants that it reads. The last one is released first, so that
    // a long chain of encodings is not released recursively.
    ~Program() {
        while (!encodings.empty()) encodings.pop_back();
    }

    // The inputs of the graph that the program was made for, if it belongs to the first stage, and the programs of the
    // stages before, whose constants it reads.
    std::vector<Tensor> inputs;
    std::vector<OpenInput> openInputs;
    std::vector<std::shared_ptr<const Program>> earlier;
    PlanTensors tensors;
    std::deque<ProgramGuard> guards;
    std::vector<MovingSlice> movingSlices;
    std::vector<Encoding::Ptr> encodings;  // by operator of the stage; null for control flow
    std::list<Tensor> temporaries;         // constants that passes compute
    std::list<SharedMemory> folded;
    std::vector<ProgramStep> steps;
    MadeExecutions executions;
    std::vector<Placement> placements;
    std::vector<PlacedView> views;
    std::vector<StagedTensor> staged;
    std::vector<KnownOperand> known;
    std::vector<DeviceStep> constantUploads;  // run once for each frame
    MemoryNeeds needs;
    int operands = 0;  // the highest number of an operand plus one
    std::vector<PassText> texts;

    // Returns the entry of an input of the graph whose last extent is open; null: it is not.
    const OpenInput* openInput(int number) const noexcept {
        for (const OpenInput& open : openInputs)
            if (open.number == number) return &open;
        return nullptr;
    }
    // Returns whether the program was made for an input of this shape, or for one that differs from it in an open
    // extent.
    bool takesShape(const Tensor& input, const Shape& shape) const noexcept;

    // Adds a record for each command that the steps compute, except for copies and conversions that planning inserted.
    void appendRecords(std::vector<OpRecord>& records) const;

    // Returns the checksum of everything that runs read in the program. A change after planning is an error of the
    // library.
    uint64_t checksum() const noexcept;
};
using ProgramPtr = std::shared_ptr<const Program>;

}  // namespace mnnc
