// The common state of one pipeline's programs while they are made: the numbers of their operands, and a frame for
// commands that run while planning.
#pragma once
#include "backend/frame.h"
#include "plan/operand_numbers.h"

namespace mnnc {

struct PlanningFrame {
    OperandNumbers& numbers;
    Frame known = Frame();
};

}  // namespace mnnc
