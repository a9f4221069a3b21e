// Which operators read numbers that 16 bits cannot hold closely enough: coordinates, boxes, counts, and scores that are
// put in order. A device that stores floats in 16 bits keeps such tensors in 32 (Tensor::wide). "Coordinates" stands for all of
// them. The rule for each operator is a row in coordinates.cpp.
#pragma once
#include "ops/command.h"

namespace mnnc {

struct CoordinateRule {
    uint32_t reads = 0;  // bit i: input i holds coordinates, in 32 bits wherever the operator runs
    bool carries =
        false;  // moves values or computes with them: its outputs are coordinates where its inputs are
    bool makes = false;  // its outputs are coordinates
};
CoordinateRule coordinateRule(OpType type) noexcept;
// The same for a command, whose types and shapes are known.
CoordinateRule coordinateRule(const Command& command);

// Which operands of a command have 32 bits on a device that narrows floats.
class WideOperands {
  public:
    explicit WideOperands(const Command& command);
    // The command carries coordinates and computes with 32 bits, which all its operands of floats have: an output is marked,
    // or one of the inputs where no output is of floats (a comparison).
    bool all() const noexcept { return all_; }
    bool input(size_t i) const;

  private:
    const Command& command_;
    const CoordinateRule rule_;
    const bool all_;
};

}  // namespace mnnc
