// The matrices that a matrix product finds in an operand that it reads through a view.
#pragma once
#include <cstddef>
#include <optional>

#include "ir/operand_view.h"

namespace mnnc::cpu {

// The rows of a stored matrix.
struct Matrix {
    size_t ld = 0;
    bool transposed = false;  // compared with the requested matrix
};

// Returns the last two axes of an operand as a matrix; std::nullopt where neither of them is contiguous.
std::optional<Matrix> matrixOf(const OperandView& view, bool transposed);

}  // namespace mnnc::cpu
