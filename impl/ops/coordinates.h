// Lists the operators whose inputs need more precision than 16 bits have: coordinates, boxes, counts, and scores that
// are sorted. A device that stores floats in 16 bits keeps such tensors in 32 (Storage::wide). "Coordinates" stands for
// all of them. The rule for each operator is a row in coordinates.cpp.
#pragma once
#include <cstdint>

#include "base/op_type.h"

namespace mnnc {

struct CoordinateRule {
    uint32_t reads = 0;    // bit i: input i holds coordinates, in 32 bits wherever the operator runs
    bool carries = false;  // moves values or computes with them: its outputs are coordinates if its inputs are
    bool makes = false;    // its outputs are coordinates
};
CoordinateRule coordinateRule(OpType type) noexcept;

}  // namespace mnnc
