// A plan of a stage: everything that planning makes, apart from the stage's memory and the tensors that plans share. A stage
// has several plans over time, of which one is in use; the others are parked: what they say of shared tensors is kept
// beside the tensors until they are in use again.
#pragma once
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plan/made_executions.h"
#include "plan/op_record.h"
#include "plan/placements.h"
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

// One of three: an execution of the host, what a device has recorded, or control flow.
struct PlannedStep {
    std::shared_ptr<const Execution> execution;
    std::unique_ptr<Recording> recording;
    ControlNode* control = nullptr;
    bool onDevice = false;
    int scratch = 0;  // its number in the frame; 0: it has none
    std::vector<OpCall> calls;
};

class StagePlan {
  public:
    StagePlan(SessionContext& context, const std::vector<StageInput>& inputs);

    // The n-th tensor that a pass makes like `like`: that of the plan before where it had one, so that executions over it
    // may serve again. It is without content.
    Tensor* temporary(const Tensor& like, const StagePlan* before, OperandNumbers& numbers, int stage);
    // What the tensors of the function above were made like.
    std::unordered_map<const Tensor*, const Tensor*> originals() const;
    // The plan is whole.
    void finish();
    // Exchanges what tensors that plans share are for what is kept of them.
    void exchangeTensors() noexcept;
    // Enters the places of all tensors and scratch in the memory, which has to be large enough. Throws what a device throws.
    void bind(StageMemory& memory, Frame& frame);

    bool valid = false;  // what it was made for is as it was
    std::vector<PlanGuard> guards;
    std::vector<Encoding::Ptr> encodings;  // by item; null for control flow
    std::deque<Tensor> temporaries;        // of constants that passes compute
    std::deque<BudgetedBuffer> folded;
    std::vector<PlannedStep> steps;
    MadeExecutions executions;
    std::vector<Placement> placements;
    std::vector<Tensor*> views;
    std::vector<StagedTensor> staged;
    std::vector<KnownOperand> known;
    MemoryNeeds needs;
    std::array<uint64_t, kMemoryBlocks> recordedFor = {};  // generations of the device's memory
    BudgetedBlock constants;                               // on the device
    std::vector<PassText> texts;

  private:
    std::map<const Tensor*, std::vector<std::shared_ptr<Tensor>>> made_;  // by what they are like
    std::map<const Tensor*, size_t> taken_;                               // while planning
    std::vector<Tensor*> shared_;
    std::vector<Tensor> states_;  // of the shared ones while the plan is parked
};

// The memory of a stage for a plan under way, which is noted in it.
class PlanningMemory final : public PlanMemory {
  public:
    PlanningMemory(StageMemory& memory, StagePlan& plan) : memory_(memory), plan_(plan) {}
    void* hostArena(int64_t bytes) override;
    DeviceBlock* device(Block block, int64_t bytes) override;

  private:
    StageMemory& memory_;
    StagePlan& plan_;
};

}  // namespace mnnc
