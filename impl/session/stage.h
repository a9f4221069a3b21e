// A section of a pipeline whose shapes are all known at one moment: planned once, executed many times.
//
// Planning makes a program: encoding applies the shape rule and the geometry of every operator; then tensors get their
// storage, conversions are inserted, each command gets an execution, and lifetimes and one arena are laid out.
// Executing walks over the steps of the program in use.
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
        ControlNode* control = nullptr;  // set for If and While
    };
    // The program to take results over from, and what the new one is made for.
    struct Request {
        const BoundProgram* before = nullptr;      // null: everything is made anew
        std::span<const Tensor> inputs = {};       // described inputs of the graph, where these differ from the present
                                                   // ones
        std::span<const ProgramPtr> earlier = {};  // programs of the stages before
    };

    Stage(SessionContext& context, GraphTensors& tensors, const GraphSchedule& schedule, int index,
          std::vector<Item> items);
    ~Stage();

    bool planned() const noexcept { return program_ && program_->valid(); }
    void invalidate() noexcept;
    // See BoundProgram.
    bool upToDate() { return planned() && program_->upToDate(tensors_); }
    // Returns the program in use; null: there is none yet.
    const BoundProgram* program() const noexcept { return program_.get(); }
    // Returns whether plan() would make a program equal to this one, which another session made.
    bool fits(const Program& program, const Request& request) const;
    // Makes a program, and leaves the one in use and its memory unchanged.
    ProgramPtr plan(const Request& request);
    // Returns a program with the outputs of operators for the inputs, but without steps.
    ProgramPtr inferShapes(const Request& request);
    // Replaces the program in use, possibly by none, and returns the old one. The new one has no memory yet.
    std::unique_ptr<BoundProgram> exchange(std::unique_ptr<BoundProgram> program) noexcept;
    // Gives the program the stage's memory. The tensors that it reads must have theirs.
    void bind();
    // Reduces the memory to what the program needs. bind() has to follow.
    void shrink();
    void execute();
    // Returns the recording of all steps, when the device has them in one; else null.
    Recording* recording() const noexcept;

    // Address of an operand in the host's arena; null: it has none there.
    void* arenaPlace(int operand) noexcept;
    // An operand of the graph has moved: views of it follow.
    void follow() noexcept;
    // For inputs and outputs in buffers of a device (device_places.cpp).
    bool hostReads(const Operand& root) const noexcept;
    bool readsThrough(const Operand& root) const noexcept;
    void readThrough(const Operand& root, DeviceBlock* block) noexcept;
    bool placedOnDevice(const Operand& root) const noexcept;
    void place(const Operand& tensor, DeviceBlock* block) noexcept;
    // Returns whether an operator, not control flow, produces this tensor of the graph.
    bool makes(int tensor) const noexcept;

    void appendRecords(std::vector<OpRecord>& records) const;
    // Adds the commands of the program and the tensors of the graph that they use.
    void describe(PlannedGraph& graph) const;
    const std::vector<Item>& items() const noexcept { return items_; }
    int64_t arenaBytes() const noexcept { return memory_.bytes() + (program_ ? program_->constantBytes() : 0); }

  private:
    class Planning;

    // Runs a step that is no control flow.
    void executeStep(size_t number);
    void executeObserved(size_t number);
    void executeOnHost(size_t number);
    void executeTogether(size_t number, Recording& recording);
    void executeShown(size_t number, Recording& recording);
    void requireOptional(size_t number, size_t call) const;
    OpCall withOpenInputs(const OpCall& call);
    bool askBefore(const OpCall& call);
    void reportAfter(const OpCall& call, double deviceMs);

    SessionContext& context_;
    GraphTensors& tensors_;
    const GraphSchedule& schedule_;
    const int index_;
    std::vector<Item> items_;
    std::vector<StageInput> inputs_;
    std::vector<bool> madeHere_;    // by tensor: an operator of this stage produces it
    std::vector<bool> foldedHere_;  // tensors that this stage computes while planning
    StageMemory memory_;
    std::unique_ptr<BoundProgram> program_;  // null before the first
};

}  // namespace mnnc
