// A stretch of a pipeline whose shapes are all known at one moment: planned once, executed many times.
//
// Planning: every op's shape rule, then its geometry (encode); storage of each tensor, conversions, an
// execution per command, lifetimes and one arena (allocate). Executing is a walk over the steps.
#pragma once
#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/execution.h"
#include "plan/op_record.h"
#include "schedule/schedule.h"
#include "session/budgeted_buffer.h"
#include "session/encoder.h"
#include "session/session_context.h"
#include "session/stage_memory.h"

namespace mnnc {

class ControlNode;

struct StageInput {  // what a plan depends on besides the shapes of the graph's inputs
    int tensor = 0;
    bool content = false;     // its values, not only its shape
    bool onlyOffset = false;  // of the values only the shapes that they give (ScheduledOp::moving)
};

class Stage {
  public:
    struct Item {
        const ScheduledOp* op = nullptr;
        ControlNode* control = nullptr;  // If and While
    };

    Stage(SessionContext& context, std::vector<Tensor>& tensors, const GraphSchedule& schedule, int index,
          std::vector<Item> items);
    ~Stage();

    bool planned() const noexcept { return planned_; }
    void invalidate() noexcept;
    // What the plan was made for is as it was then: the plan stands again, if there is one.
    void revalidate() noexcept { planned_ = !steps_.empty() || emptyPlan_; }
    // Whether what the plan depends on is as it was when plan() ran. Does not allocate. Throws what a shape rule
    // throws about values that moved.
    bool upToDate();
    // When it fails while operators are encoded and executions prepared (files are read then), the stage and its
    // tensors are as they were, plan included.
    void plan();
    void execute();

    void appendRecords(std::vector<OpRecord>& records) const;
    const std::vector<Item>& items() const noexcept { return items_; }
    int64_t arenaBytes() const noexcept { return memory_.bytes(); }

  private:
    struct PlanGuard {
        PlanGuard(SessionContext& context, StageInput in) : input(in), content(context), fresh(context) {}
        StageInput input;
        Shape shape;
        DataType type = DataType::Float32;
        Format format = Format::NCHW;
        std::shared_ptr<const TensorList> list;
        const void* data = nullptr;  // views of it are part of the plan
        int64_t bytes = 0;           // of the content
        BudgetedBuffer content, fresh;
    };
    // While it lives, shows the captured values of an operator's shape inputs as constants.
    class ScopedKnownContents {
      public:
        ScopedKnownContents(Stage& stage, const Item& item);
        ScopedKnownContents(const ScopedKnownContents&) = delete;
        ScopedKnownContents& operator=(const ScopedKnownContents&) = delete;
        ~ScopedKnownContents();

      private:
        struct Saved {
            Tensor* tensor;
            void* data;
            int channelBlock;
        };
        std::array<Saved, 32> saved_;
        size_t count_ = 0;
    };
    // An op whose slice moves with values of a run.
    struct DynamicSlice {
        const Item* item;
        std::vector<Tensor*> inputs, outputs;
    };
    struct PlannedStep {
        std::unique_ptr<Execution> execution;  // null: control
        ControlNode* control = nullptr;
        bool onDevice = false;
        std::vector<OpCall> calls;
    };

    class Previous;
    class ReplacingMemory;
    void makePlan(Previous& previous);
    void executeObserved(const PlannedStep& step);
    void captureGuards();
    bool sameShapes(const DynamicSlice& moving);
    std::vector<Tensor*> tensorsOf(const std::vector<int>& ids) const;

    SessionContext& context_;
    std::vector<Tensor>& tensors_;
    const GraphSchedule& schedule_;
    const int index_;
    std::vector<Item> items_;
    std::vector<PlanGuard> guards_;
    std::vector<DynamicSlice> dynamicSlices_;
    bool planned_ = false;
    bool emptyPlan_ = false;  // a plan without steps

    std::deque<Tensor> temporaries_;
    std::deque<BudgetedBuffer> folded_;  // memory of constants computed while planning
    std::vector<PlannedStep> steps_;
    StageMemory memory_;
};

}  // namespace mnnc
