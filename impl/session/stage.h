// A stretch of a pipeline whose shapes are all known at one moment: planned once, executed many times.
//
// Planning: every op's shape rule, then its geometry (encode); storage of each tensor, conversions, an
// execution per command, lifetimes and one arena (allocate). Executing is a walk over the steps.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "backend/recording.h"
#include "schedule/schedule.h"
#include "session/graph_tensors.h"
#include "session/session_context.h"
#include "session/stage_plan.h"

namespace mnnc {

struct PlannedGraph;

class Stage {
  public:
    struct Item {
        const ScheduledOp* op = nullptr;
        ControlNode* control = nullptr;  // If and While
    };
    // Where a plan takes things over from, and what it is made for.
    struct Request {
        const StagePlan* before = nullptr;    // null: everything is made anew
        std::span<const Tensor> inputs = {};  // of the graph, where they are to be others than they are now
    };

    Stage(SessionContext& context, GraphTensors& tensors, const GraphSchedule& schedule, int index,
          std::vector<Item> items);
    ~Stage();

    bool planned() const noexcept { return plan_ && plan_->valid; }
    void invalidate() noexcept;
    // Whether what the plan depends on is as it was when it was made. Does not allocate. Throws what a shape rule throws about
    // values that moved.
    bool upToDate();
    const StagePlan* plan() const noexcept { return plan_.get(); }
    // Makes a plan, which changes nothing of the one in use and of its memory.
    std::unique_ptr<StagePlan> makePlan(const Request& request);
    // What operators make of the inputs, without a plan of their execution.
    std::unique_ptr<StagePlan> inferShapes(const Request& request);
    // Takes another plan, or none, into use; it has no memory yet. Returns the one before.
    std::unique_ptr<StagePlan> exchange(std::unique_ptr<StagePlan> plan) noexcept;
    // Gives the plan the stage's memory, where the tensors that it reads have theirs.
    void bind();
    // Keeps no more memory than the plan needs. bind() has to follow.
    void shrink();
    void execute();
    // All steps, where they are one recording of the device; else null.
    Recording* recording() const noexcept;

    // Where the plan has an operand in the host's arena; null: it has none there.
    void* arenaPlace(int operand) noexcept;
    // An operand of the graph has other memory: views of it follow.
    void follow() noexcept;
    // For inputs and outputs in buffers of a device (device_places.cpp).
    bool hostReads(const Tensor& root) const noexcept;
    bool readsThrough(const Tensor& root) const noexcept;
    void readThrough(const Tensor& root, DeviceBlock* block) noexcept;
    bool placedOnDevice(const Tensor& root) const noexcept;
    void place(const Tensor& tensor, DeviceBlock* block) noexcept;
    // Whether an operator makes this tensor of the graph, and not control flow.
    bool makes(int tensor) const noexcept;

    void appendRecords(std::vector<OpRecord>& records) const;
    // Adds the commands of the plan, and the tensors of the graph that they are about.
    void describe(PlannedGraph& graph) const;
    const std::vector<Item>& items() const noexcept { return items_; }
    int64_t arenaBytes() const noexcept { return memory_.bytes() + (plan_ ? plan_->constantBytes() : 0); }

  private:
    class Planning;

    void run(PlannedStep& step);
    void executeObserved(PlannedStep& step);
    void executeTimed(PlannedStep& step);
    bool sameShapes(MovingSlice& moving) const;

    SessionContext& context_;
    GraphTensors& tensors_;
    const GraphSchedule& schedule_;
    const int index_;
    std::vector<Item> items_;
    std::vector<StageInput> inputs_;
    std::vector<bool> madeHere_;    // by tensor: an operator of this stage makes it
    std::vector<bool> foldedHere_;  // those that it computes while planning
    StageMemory memory_;
    std::unique_ptr<StagePlan> plan_;  // null before the first
};

}  // namespace mnnc
