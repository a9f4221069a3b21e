// Finds the matrices of an operand that is read through a view.
#include "backends/cpu/ops/matrix_view.h"

namespace mnnc::cpu {

std::optional<Matrix> matrixOf(const OperandView& view, bool transposed) {
    const int rank = view.shape.rank();
    if (rank == 1) {
        if (view.stride[0] != 1 && view.shape[0] != 1) return {};
        return Matrix{1, false};
    }
    const int64_t rows = view.shape[rank - 2], cols = view.shape[rank - 1];
    const int64_t row = view.stride[static_cast<size_t>(rank - 2)], col = view.stride[static_cast<size_t>(rank - 1)];
    if (row < 0 || col < 0) return {};
    if (col == 1 || cols == 1) return Matrix{static_cast<size_t>(rows == 1 ? cols : row), transposed};
    if (row == 1 || rows == 1) return Matrix{static_cast<size_t>(col), !transposed};
    return {};
}

}  // namespace mnnc::cpu
