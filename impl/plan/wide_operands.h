// Decides which operands of commands hold coordinates (ops/coordinates.h).
#pragma once
#include "ir/command.h"
#include "ops/coordinates.h"

namespace mnnc {

// Returns the rule of an operator for a command, whose types and shapes are known.
CoordinateRule coordinateRule(const Command& command);

// Decides which operands of a command have 32 bits on a device that narrows floats.
class WideOperands {
  public:
    explicit WideOperands(const Command& command);
    // Returns whether all float operands have 32 bits: the command is marked fp32, or it carries coordinates and an
    // output is marked or, where no output is float (a comparison), one of the inputs.
    bool all() const noexcept { return all_; }
    bool input(size_t i) const;

  private:
    const Command& command_;
    const CoordinateRule rule_;
    const bool all_;
};

}  // namespace mnnc
