// A stretch of a pipeline whose shapes are all known at one moment: planned once, executed many times.
//
// Planning: every op's shape rule, then its geometry (encode); storage of each tensor, conversions, an
// execution per command, lifetimes and one arena (allocate). Executing is a walk over the steps.
#pragma once
#include <array>
#include <memory>
#include <vector>

#include "backend/recording.h"
#include "schedule/schedule.h"
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

    // frame: of the pipeline's stages together.
    Stage(SessionContext& context, std::vector<Tensor>& tensors, PlanningFrame& planning, Frame& frame,
          const GraphSchedule& schedule, int index, std::vector<Item> items);
    ~Stage();

    bool planned() const noexcept { return plan_ && plan_->valid; }
    void invalidate() noexcept;
    // Whether what the plan depends on is as it was when plan() ran. Does not allocate. Throws what a shape rule
    // throws about values that moved.
    bool upToDate();
    bool hasPlan() const noexcept { return plan_ != nullptr; }
    // Makes a plan. The one before is parked in `before`. When planning fails it is in use again, but the graph's tensors
    // are not as it left them, and its memory may be lost: bind() gives it memory. `like`: a parked plan to take over from
    // where there is none before; may be null. takesOver: false makes everything anew.
    void plan(std::unique_ptr<StagePlan>& before, const StagePlan* like, bool takesOver);
    // Takes another plan, or none, into use; it has no memory yet. Returns the one before, parked.
    std::unique_ptr<StagePlan> exchange(std::unique_ptr<StagePlan> plan) noexcept;
    // Gives the plan the stage's memory, where the tensors that it reads have theirs.
    void bind();
    // Keeps no more memory than the plan needs. bind() has to follow.
    void shrink();
    void execute();
    // All steps, where they are one recording of the device; else null.
    Recording* recording() const noexcept;

    // For tensors that get other memory (relocation.cpp).
    void follow(const Tensor& root) noexcept;
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
    int64_t arenaBytes() const noexcept { return memory_.bytes() + (plan_ ? plan_->constants.size() : 0); }

  private:
    // While it lives, shows the captured values of an operator's shape inputs as constants.
    class ScopedKnownContents {
      public:
        ScopedKnownContents(Stage& stage, const Item& item);
        ScopedKnownContents(const ScopedKnownContents&) = delete;
        ScopedKnownContents& operator=(const ScopedKnownContents&) = delete;
        ~ScopedKnownContents();
        bool any() const noexcept { return count_ > 0; }

      private:
        struct Saved {
            Tensor* tensor;
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

    void makePlan(const StagePlan* before);
    Encoding::Ptr encode(const Item& item, Encoding::Ptr before, const Encoding::Makers& makerOf);
    void run(PlannedStep& step);
    void executeObserved(PlannedStep& step);
    void executeTimed(PlannedStep& step);
    void captureGuards();
    bool sameShapes(const DynamicSlice& moving);
    bool readsEarlierConstants(const Item& item) const;
    std::vector<Tensor*> tensorsOf(const std::vector<int>& ids) const;

    SessionContext& context_;
    std::vector<Tensor>& tensors_;
    PlanningFrame& planning_;
    Frame& frame_;
    const GraphSchedule& schedule_;
    const int index_;
    std::vector<Item> items_;
    std::vector<StageInput> inputs_;
    std::vector<DynamicSlice> dynamicSlices_;
    std::vector<bool> foldedHere_;  // by tensor: an operator of this stage computes it while planning
    StageMemory memory_;
    std::unique_ptr<StagePlan> plan_;  // null before the first
};

}  // namespace mnnc
