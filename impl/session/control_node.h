// If and While as nodes of a pipeline: they own a pipeline per subgraph and move values in and out.
#pragma once
#include <array>
#include <memory>
#include <vector>

#include "ops/op_def.h"
#include "plan/op_record.h"
#include "session/session_context.h"
#include "session/value.h"

namespace mnnc {

class Pipeline;

class ControlNode {
  public:
    // tensors: those of the graph that contains the node, with all of its inputs and outputs.
    ControlNode(GraphTensors& tensors, const Node& node);
    virtual ~ControlNode() = default;
    // Reads the node's inputs, runs the subgraphs and gives the outputs their shape, type and data. Allocates only when
    // a shape grew.
    void run() {
        current_ = false;
        execute();
        current_ = true;
    }
    // Called when the next call may have operands whose shapes differ from those that the subgraphs are planned for.
    void outdate() noexcept { current_ = false; }
    // Appends the operators of the subgraphs with the work of one run; work that depends on a run is undecided until a
    // run has planned it.
    void appendRecords(std::vector<OpRecord>& records) const;
    // Pipelines of the subgraphs; null where there is none. Runs call it too: it does not allocate.
    using Bodies = std::array<const Pipeline*, 2>;
    virtual Bodies bodies() const = 0;
    int64_t arenaBytes() const;
    // Pipeline::trim() for the subgraphs.
    virtual void trim() = 0;

  protected:
    virtual void execute() = 0;
    virtual void appendBodies(std::vector<OpRecord>& records) const = 0;

    size_t inputCount() const noexcept { return inputs_.size(); }
    size_t outputCount() const noexcept { return outputs_.size(); }
    Located input(size_t index) const {
        const Operand& tensor = tensors_[inputs_[index]];
        return {tensor, tensors_.data(tensor)};
    }
    Operand& output(size_t index) { return tensors_.own(outputs_[index]); }
    // Places the output in this memory.
    void place(size_t index, BudgetedBuffer& memory) { tensors_.frame.place(output(index).number, memory.data()); }
    // Copies a value into this memory, and places the output there.
    void give(size_t index, BudgetedBuffer& memory, const Located& from) {
        assignValue(output(index), memory, from);
        place(index, memory);
    }

  private:
    GraphTensors& tensors_;
    const std::vector<int> inputs_, outputs_;  // tensor ids
    bool current_ = false;
};

// Throws NotFound or BadFormat when a subgraph or an alias does not resolve.
std::unique_ptr<ControlNode> makeControlNode(SessionContext& context, const Node& node, GraphTensors& tensors);

}  // namespace mnnc
