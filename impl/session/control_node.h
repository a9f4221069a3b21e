// If and While as nodes of a pipeline: they own a pipeline per subgraph and move values in and out.
#pragma once
#include <array>
#include <memory>
#include <vector>

#include "backend/frame.h"
#include "ops/op_def.h"
#include "plan/op_record.h"
#include "session/session_context.h"
#include "session/value.h"

namespace mnnc {

class Pipeline;

class ControlNode {
  public:
    // frame: of the pipeline of the node, in which its inputs and outputs lie.
    ControlNode(Frame& frame, std::vector<Tensor*> inputs, std::vector<Tensor*> outputs)
        : inputs_(std::move(inputs)), outputs_(std::move(outputs)), frame_(frame) {}
    virtual ~ControlNode() = default;
    // Reads the node's inputs, runs the subgraphs, gives the outputs shape, type and data. Allocates only
    // when a shape grew.
    void run() {
        current_ = false;
        execute();
        current_ = true;
    }
    // What the subgraphs are planned for may differ from what they get next.
    void outdate() noexcept { current_ = false; }
    // Operators of the subgraphs, with the work of one run; undecided ones until a run has planned them.
    void appendRecords(std::vector<OpRecord>& records) const;
    // Pipelines of the subgraphs; null where there is none. Asked in runs, too: it allocates nothing.
    using Bodies = std::array<const Pipeline*, 2>;
    virtual Bodies bodies() const = 0;
    int64_t arenaBytes() const;
    // Pipeline::trim() for the subgraphs.
    virtual void trim() = 0;

  protected:
    virtual void execute() = 0;
    virtual void appendBodies(std::vector<OpRecord>& records) const = 0;

    Located input(size_t index) const {
        const Tensor& tensor = *inputs_[index];
        return {tensor, tensor.values ? tensor.values : frame_.data<void>(tensor)};
    }
    // The output becomes a copy, in this memory.
    void give(size_t output, BudgetedBuffer& memory, const Located& from) {
        assignValue(*outputs_[output], memory, from);
        place(output, memory);
    }
    void place(size_t output, BudgetedBuffer& memory) noexcept {
        frame_.place(outputs_[output]->number, memory.data());
    }

    const std::vector<Tensor*> inputs_, outputs_;

  private:
    Frame& frame_;
    bool current_ = false;
};

// Throws NotFound or BadFormat when a subgraph or an alias does not resolve.
std::unique_ptr<ControlNode> makeControlNode(SessionContext& context, const Node& node,
                                             std::vector<Tensor>& tensors, Frame& frame);

}  // namespace mnnc
