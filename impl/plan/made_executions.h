// The executions of a plan with the commands that they were made for, so that the next plan takes over those whose
// commands and operands are the same again.
#pragma once
#include <memory>
#include <unordered_map>
#include <vector>

#include "backend/execution.h"
#include "ir/command.h"
#include "plan/plan_tensors.h"

namespace mnnc {

class MadeExecutions {
  public:
    struct Made {
        Command command;
        std::vector<PlanTensors::Shared> operands;  // the operands to which command and execution point
        std::shared_ptr<Execution> execution;
    };

    // Adds an execution that was made for this plan.
    void addNew(const Command& command, const PlanTensors& tensors, std::shared_ptr<Execution> execution);
    // Adds an execution that was taken over from the previous plan.
    void add(const Made& made);
    // Counts the executions that were made for this plan.
    int64_t created() const noexcept { return created_; }
    // Finds an execution of the same operator over equal operands: they have the same numbers, shapes, types and
    // storage and, where they are constant, the same contents. Null: there is none.
    const Made* find(const Command& command) const;

  private:
    std::unordered_multimap<int, Made> made_;  // by the number of the first output
    int64_t created_ = 0;
};

}  // namespace mnnc
