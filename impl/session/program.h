// A program: what planning makes of a stage. It does not change afterwards, and holds nothing of the session that made
// it, so that sessions can share it. What a session has for running it is a BoundProgram.
#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <vector>

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

struct StageInput {  // what a program depends on besides the shapes of the graph's inputs
    int tensor = 0;
    bool content = false;     // its values, not only its shape
    bool onlyOffset = false;  // of the values only the shapes that they give (ScheduledOp::moving)
};

// What such an input was when the program was made.
struct ProgramGuard {
    explicit ProgramGuard(const StageInput& in) : input(in) {}
    StageInput input;
    Shape shape;
    DataType type = DataType::Float32;
    Format format = Format::NCHW;
    bool isPacked = false;
    std::shared_ptr<const TensorList> list;
    int64_t bytes = 0;                    // of the content
    std::optional<SharedMemory> content;  // row-major

    bool sameKind(const Operand& tensor) const noexcept {
        return tensor.shape == shape && tensor.type == type && tensor.format == format && sameList(tensor.list, list);
    }
};

// A slice that moves with values of a run: its operands as its shape rule sees them, with which runs check whether the
// shapes stay.
struct MovingSlice {
    const Node* node = nullptr;
    std::vector<Tensor> inputs, outputs;
    std::vector<int> guards;  // for each input the guard that has its values; -1: it has its own
};

// One of three: an execution of the host, a sequence of a device, or control flow.
struct ProgramStep {
    std::shared_ptr<const Execution> execution;
    std::vector<DeviceStep> toRecord;  // for each frame
    int control = -1;                  // the number of the stage's operator
    bool onDevice = false;
    int scratch = 0;  // its number in the frame; 0: it has none
    std::vector<OpCall> calls;
};

struct Program {
    // What it was made for: the inputs of the graph where it is that of the first stage, and the programs of the stages
    // before, whose constants it reads.
    std::vector<Tensor> inputs;
    std::vector<std::shared_ptr<const Program>> earlier;
    PlanTensors tensors;
    std::deque<ProgramGuard> guards;
    std::vector<MovingSlice> movingSlices;
    std::vector<Encoding::Ptr> encodings;  // by operator of the stage; null for control flow
    std::deque<Tensor> temporaries;        // of constants that passes compute
    std::deque<SharedMemory> folded;
    std::vector<ProgramStep> steps;
    MadeExecutions executions;
    std::vector<Placement> placements;
    std::vector<PlacedView> views;
    std::vector<StagedTensor> staged;
    std::vector<KnownOperand> known;
    std::vector<DeviceStep> constantUploads;  // once for each frame
    MemoryNeeds needs;
    int operands = 0;  // one more than the highest number of an operand
    std::vector<PassText> texts;

    // Of all that runs read of it: what has changed since is an error of the library.
    uint64_t checksum() const noexcept;
};
using ProgramPtr = std::shared_ptr<const Program>;

}  // namespace mnnc
