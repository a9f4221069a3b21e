// A stretch of a pipeline whose shapes are all known at one moment: planned once, executed many times.
//
// Planning makes a program: every operator's shape rule, then its geometry (encode); storage of each tensor,
// conversions, an execution per command, lifetimes and one arena (allocate). Executing is a walk over the steps of the
// program in use.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "schedule/schedule.h"
#include "session/bound_program.h"
#include "session/graph_tensors.h"
#include "session/session_context.h"

namespace mnnc {

class ControlNode;
struct PlannedGraph;

class Stage {
  public:
    struct Item {
        const ScheduledOp* op = nullptr;
        ControlNode* control = nullptr;  // If and While
    };
    // Where a plan takes things over from, and what it is made for.
    struct Request {
        const BoundProgram* before = nullptr;      // null: everything is made anew
        std::span<const Tensor> inputs = {};       // of the graph, where they are to be others than they are now
        std::span<const ProgramPtr> earlier = {};  // of the stages before
    };

    Stage(SessionContext& context, GraphTensors& tensors, const GraphSchedule& schedule, int index,
          std::vector<Item> items);
    ~Stage();

    bool planned() const noexcept { return program_ && program_->valid(); }
    void invalidate() noexcept;
    // See BoundProgram.
    bool upToDate() { return planned() && program_->upToDate(tensors_); }
    // The program in use; null: there is none yet.
    const BoundProgram* program() const noexcept { return program_.get(); }
    // Whether a program that another session made is what plan() would make.
    bool fits(const Program& program, const Request& request) const;
    // Makes a program, which changes nothing of the one in use and of its memory.
    ProgramPtr plan(const Request& request);
    // What operators make of the inputs, without steps.
    ProgramPtr inferShapes(const Request& request);
    // Takes another program, or none, into use; it has no memory yet. Returns the one before.
    std::unique_ptr<BoundProgram> exchange(std::unique_ptr<BoundProgram> program) noexcept;
    // Gives the program the stage's memory, where the tensors that it reads have theirs.
    void bind();
    // Keeps no more memory than the program needs. bind() has to follow.
    void shrink();
    void execute();
    // All steps, where they are one recording of the device; else null.
    Recording* recording() const noexcept;

    // Where the program has an operand in the host's arena; null: it has none there.
    void* arenaPlace(int operand) noexcept;
    // An operand of the graph has other memory: views of it follow.
    void follow() noexcept;
    // For inputs and outputs in buffers of a device (device_places.cpp).
    bool hostReads(const Operand& root) const noexcept;
    bool readsThrough(const Operand& root) const noexcept;
    void readThrough(const Operand& root, DeviceBlock* block) noexcept;
    bool placedOnDevice(const Operand& root) const noexcept;
    void place(const Operand& tensor, DeviceBlock* block) noexcept;
    // Whether an operator makes this tensor of the graph, and not control flow.
    bool makes(int tensor) const noexcept;

    void appendRecords(std::vector<OpRecord>& records) const;
    // Adds the commands of the program, and the tensors of the graph that they are about.
    void describe(PlannedGraph& graph) const;
    const std::vector<Item>& items() const noexcept { return items_; }
    int64_t arenaBytes() const noexcept { return memory_.bytes() + (program_ ? program_->constantBytes() : 0); }

  private:
    class Planning;

    void executeObserved(size_t number);

    SessionContext& context_;
    GraphTensors& tensors_;
    const GraphSchedule& schedule_;
    const int index_;
    std::vector<Item> items_;
    std::vector<StageInput> inputs_;
    std::vector<bool> madeHere_;    // by tensor: an operator of this stage makes it
    std::vector<bool> foldedHere_;  // those that it computes while planning
    StageMemory memory_;
    std::unique_ptr<BoundProgram> program_;  // null before the first
};

}  // namespace mnnc
