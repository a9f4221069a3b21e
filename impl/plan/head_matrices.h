// The places of the heads' matrices of attention in a tensor, possibly through Rasters between them; and which axes of
// its scores belong to heads, to rows and to columns.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "ir/command.h"
#include "ir/operand_view.h"
#include "ops/attention_layout.h"

namespace mnnc {

struct HeadMatrices {
    Operand* tensor = nullptr;
    int64_t rows = 0, columns = 0, rowStep = 0, columnStep = 0;
    std::vector<int64_t> starts;  // of each head

    // Returns the matrices in the last two axes of an operand whose batch has the extents `own` and is broadcast to
    // `batch`.
    static HeadMatrices of(Operand* tensor, const OperandView& view, const Shape& own, const Shape& batch);
    HeadMatrices transposed() const;
    // Returns the same elements in the tensor that the Raster reads; the present tensor must be its result. Empty where
    // no strides describe them.
    std::optional<HeadMatrices> readThrough(const Command& raster) const;
    // Returns the same elements in the tensor that the Raster makes of the whole present one.
    std::optional<HeadMatrices> writtenThrough(const Command& raster) const;
    // Returns whether the matrices are all elements of the tensor, one after the other.
    bool fillTensor() const;
    // Describes the matrices as an operand of attention, or as its transposition; returns false where neither rows nor
    // columns are contiguous.
    bool place(AttentionOperand& operand, bool& isTransposed) const {
        isTransposed = columnStep != 1 && columns != 1;
        if ((isTransposed && rowStep != 1 && rows != 1) || rowStep < 0 || columnStep < 0) return false;
        operand.rowStep = static_cast<size_t>(isTransposed ? columnStep : rowStep);
        operand.heads.assign(starts.begin(), starts.end());
        return true;
    }
};

// The axes of scores: axes before `rows` count heads, axes from `columns` on belong to a row's elements.
struct ScoreAxes {
    Shape shape;
    int rows = 0, columns = 0;

    // Returns the axes of scores with these numbers of rows and columns; empty where an axis would belong to two
    // groups.
    static std::optional<ScoreAxes> of(const Shape& shape, int64_t rowCount, int64_t columnCount);
    // Describes the places of a step's operand that is broadcast to the scores. `keysAreRows`: rows belong to keys.
    // Returns false where strides cannot describe them.
    bool place(AttentionStep& step, const OperandView& operand, bool keysAreRows) const;
};

}  // namespace mnnc
