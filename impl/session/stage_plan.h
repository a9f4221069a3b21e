// A plan of a stage: everything that planning makes. What it consists of is its own and does not change when other plans are made
// or come into use. A stage has several plans over time; the one in use has its operands' places in the frame.
#pragma once
#include <array>
#include <deque>
#include <memory>
#include <vector>

#include "plan/made_executions.h"
#include "plan/op_record.h"
#include "plan/placements.h"
#include "plan/plan_tensors.h"
#include "plan/step_plan.h"
#include "session/budgeted_buffer.h"
#include "session/encoding.h"
#include "session/plan_texts.h"
#include "session/stage_memory.h"

namespace mnnc {

class ControlNode;

struct StageInput {  // what a plan depends on besides the shapes of the graph's inputs
    int tensor = 0;
    bool content = false;     // its values, not only its shape
    bool onlyOffset = false;  // of the values only the shapes that they give (ScheduledOp::moving)
};

struct PlanGuard {
    PlanGuard(SessionContext& context, StageInput in) : input(in), content(context), fresh(context) {}
    StageInput input;
    Shape shape;
    DataType type = DataType::Float32;
    Format format = Format::NCHW;
    std::shared_ptr<const TensorList> list;
    const void* data = nullptr;  // where views of it are
    int64_t bytes = 0;           // of the content
    BudgetedBuffer content, fresh;
};

// A slice that moves with values of a run: its operands as its shape rule sees them, with which runs check whether the shapes stay.
struct MovingSlice {
    const Node* node = nullptr;
    std::deque<Tensor> tensors = {};
    std::vector<Tensor*> inputs = {}, outputs = {};
};

// One of three: an execution of the host, a sequence of a device, or control flow.
struct PlannedStep {
    std::shared_ptr<const Execution> execution;
    std::vector<DeviceStep> toRecord;  // until they are recorded
    std::unique_ptr<Recording> recording;
    ControlNode* control = nullptr;
    bool onDevice = false;
    int scratch = 0;  // its number in the frame; 0: it has none
    std::vector<OpCall> calls;
};

class StagePlan {
  public:
    StagePlan(SessionContext& context, const std::vector<StageInput>& inputs);

    // Enters the places of all tensors and scratch in the memory, which grows to what the plan needs. Throws what a device
    // throws.
    void bind(StageMemory& memory, Frame& frame);
    // Of constants on the device.
    int64_t constantBytes() const noexcept { return constants_.size(); }

    bool valid = false;  // what it was made for is as it was
    PlanTensors tensors;
    std::vector<PlanGuard> guards;
    std::deque<MovingSlice> movingSlices;
    std::vector<Encoding::Ptr> encodings;  // by item; null for control flow
    std::deque<Tensor> temporaries;        // of constants that passes compute
    std::deque<BudgetedBuffer> folded;
    std::vector<PlannedStep> steps;
    MadeExecutions executions;
    std::vector<Placement> placements;
    std::vector<PlacedView> views;
    std::vector<StagedTensor> staged;
    std::vector<KnownOperand> known;
    std::vector<std::unique_ptr<Execution>> constantUploads;  // until the device has the constants
    MemoryNeeds needs;
    int operands = 0;  // one more than the highest number of an operand
    std::vector<PassText> texts;

  private:
    void record(DeviceBackend& device, const Frame& frame);

    SessionContext& context_;
    bool recorded_ = false;
    std::array<uint64_t, kMemoryBlocks> recordedFor_ = {};  // generations of the device's memory
    BudgetedBlock constants_;                               // on the device
};

}  // namespace mnnc
