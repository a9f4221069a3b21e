// How a matrix product finds its matrices in an operand that it reads through a view.
#pragma once
#include <cstddef>
#include <optional>

#include "ir/operand_view.h"

namespace mnnc::cpu {

// How the product finds the rows of a stored matrix.
struct Matrix {
    size_t ld = 0;
    bool transposed = false;  // compared with the wanted matrix
};

// The last two axes of an operand as a matrix; nothing where neither of them is contiguous.
std::optional<Matrix> matrixOf(const OperandView& view, bool transposed);

}  // namespace mnnc::cpu
