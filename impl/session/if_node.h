// If: one of two subgraphs, chosen by the first element of the condition.
#pragma once
#include <deque>

#include "ops/control.h"
#include "session/control_node.h"
#include "session/subgraph.h"

namespace mnnc {

class IfNode final : public ControlNode {
  public:
    IfNode(SessionContext& context, GraphTensors& tensors, const Node& node);
    Bodies bodies() const override;
    void trim() override;

  private:
    void execute() override;
    void appendBodies(std::vector<OpRecord>& records) const override;
    struct Branch {
        Branch(SessionContext& context, const std::string& graph, const char* caller) : body(context, graph, caller) {}
        Subgraph body;
        std::vector<int> source;   // [formal input] -> op input
        std::vector<int> results;  // [op output] -> formal output
    };
    void connect(Branch& branch, const IfParams& params, size_t side) const;

    std::string name_;
    Branch then_, else_;
    std::deque<BudgetedBuffer> memory_;  // memory for the outputs
};

}  // namespace mnnc
