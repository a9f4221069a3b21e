// What the programs of one pipeline have in common while they are made: the numbers of their operands, and a frame over
// which commands run whose inputs are known.
#pragma once
#include "backend/frame.h"
#include "plan/operand_numbers.h"

namespace mnnc {

struct PlanningFrame {
    OperandNumbers& numbers;
    Frame known = Frame();
};

}  // namespace mnnc
