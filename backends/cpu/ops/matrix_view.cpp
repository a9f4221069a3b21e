// The matrices of an operand that is read through a view.
#include "backends/cpu/ops/matrix_view.h"

namespace mnnc::cpu {

std::optional<Matrix> matrixOf(const OperandView& view, bool transposed) {
    const int rank = view.shape.rank();
    if (rank == 1) {
        if (view.stride[0] != 1 && view.shape[0] != 1) return {};
        return Matrix{1, false};
    }
    const int64_t rows = view.shape[rank - 2], cols = view.shape[rank - 1];
    const int64_t row = view.stride[static_cast<size_t>(rank - 2)],
                  col = view.stride[static_cast<size_t>(rank - 1)];
    if (row < 0 || col < 0) return {};
    if (col == 1 || cols == 1) return Matrix{static_cast<size_t>(rows == 1 ? cols : row), transposed};
    if (row == 1 || rows == 1) return Matrix{static_cast<size_t>(col), !transposed};
    return {};
}

std::vector<size_t> matrixOffsets(const OperandView& view, const Shape& own, const Shape& batch) {
    std::vector<size_t> offsets;
    const int64_t count = batch.elements();
    offsets.reserve(static_cast<size_t>(count));
    const int shift = batch.rank() - own.rank();
    for (int64_t i = 0; i < count; ++i) {
        int64_t rest = i, offset = 0;
        for (int axis = batch.rank() - 1; axis >= shift; --axis) {
            const int64_t position = rest % batch[axis];
            rest /= batch[axis];
            if (own[axis - shift] != 1) offset += position * view.stride[static_cast<size_t>(axis - shift)];
        }
        offsets.push_back(static_cast<size_t>(offset));
    }
    return offsets;
}

}  // namespace mnnc::cpu
