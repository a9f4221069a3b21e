// While in its two forms: the loop of ONNX (by position) and that of TensorFlow (by names, with a condition graph).
#pragma once
#include <deque>
#include <string>
#include <unordered_map>

#include "ops/control.h"
#include "session/control_node.h"
#include "session/loop_rounds.h"
#include "session/subgraph.h"

namespace mnnc {

class CountedLoop final : public ControlNode {
  public:
    CountedLoop(SessionContext& context, GraphTensors& tensors, const Node& node);
    Bodies bodies() const override;
    void trim() override;

  private:
    void execute() override;
    void appendBodies(std::vector<OpRecord>& records) const override;
    int64_t knownTrips() const;
    void startIteration(int64_t iteration);
    void appendScans(int64_t iteration, int64_t limit);
    void emptyScans();
    bool planBody();

    SessionContext& context_;
    std::string name_;
    LoopRounds rounds_;
    Subgraph body_;
    size_t carried_ = 0;                   // values that each iteration passes to the next
    std::vector<bool> constant_;           // carried values that the body returns unchanged
    std::vector<InputDescription> first_;  // inputs of the body in the first iteration of the last run
    bool firstDiffers_ = false;            // that iteration had another plan than the second one
    bool varying_ = false;                 // later iterations had different plans
    std::deque<Value> values_;
    Value iteration_, condition_;
    std::deque<BudgetedBuffer> memory_;  // memory for the outputs
};

class ConditionLoop final : public ControlNode {
  public:
    ConditionLoop(SessionContext& context, GraphTensors& tensors, const Node& node);
    Bodies bodies() const override;
    void trim() override;

  private:
    void execute() override;
    void appendBodies(std::vector<OpRecord>& records) const override;
    void runGraph(Subgraph& graph, const std::vector<int>& slots);
    int slotOf(const std::string& formal);

    SessionContext& context_;
    std::string name_;
    LoopRounds rounds_;
    Subgraph cond_, body_;
    // One slot per formal input name of condition and body.
    std::vector<std::string> slotNames_;
    std::unordered_map<std::string, int> slotPlaces_;  // the slots by their names
    std::deque<Value> slots_;
    std::vector<int> initial_;  // [slot] -> op input
    std::vector<int> condSlots_, bodySlots_;
    struct SlotUpdate {
        bool fromBody;
        size_t output;
        int slot;
    };
    std::vector<SlotUpdate> updates_;
    std::deque<Value> staged_;       // one per update
    std::vector<int> resultSlot_;    // [op output] -> slot, or -1
    std::vector<int> resultOutput_;  // [op output] -> body output, where no slot has it
    std::deque<BudgetedBuffer> memory_;
};

}  // namespace mnnc
