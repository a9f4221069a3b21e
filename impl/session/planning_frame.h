// What the plans of one pipeline have in common while they are made: the numbers of their operands, and a frame over which
// commands run whose inputs are known.
#pragma once
#include "backend/frame.h"
#include "plan/operand_numbers.h"

namespace mnnc {

struct PlanningFrame {
    // tensors: of the graph, whose numbers are their ids plus 1.
    explicit PlanningFrame(size_t tensors) : numbers(static_cast<int>(tensors) + 1) {}

    OperandNumbers numbers;
    Frame known;
};

}  // namespace mnnc
