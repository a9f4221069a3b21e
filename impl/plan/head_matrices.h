// Where the matrices of attention's heads lie in a tensor, also in one that Rasters have still to be read through; and
// which axes of its scores belong to heads, to rows and to columns.
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

    // The last two axes of an operand, whose batch has the extents `own` and is broadcast to `batch`.
    static HeadMatrices of(Operand* tensor, const OperandView& view, const Shape& own, const Shape& batch);
    HeadMatrices transposed() const;
    // The same elements in the tensor that the Raster reads; its result is the present one. Nothing where no steps say
    // it.
    std::optional<HeadMatrices> readThrough(const Command& raster) const;
    // The same elements in the tensor that the Raster makes of the whole present one.
    std::optional<HeadMatrices> writtenThrough(const Command& raster) const;
    // Whether they are all of a tensor, one behind the other.
    bool fillTensor() const;
    // As an operand of attention, or the transposition of one; false where rows nor columns are neighbours.
    bool place(AttentionOperand& operand, bool& isTransposed) const {
        isTransposed = columnStep != 1 && columns != 1;
        if ((isTransposed && rowStep != 1 && rows != 1) || rowStep < 0 || columnStep < 0) return false;
        operand.rowStep = static_cast<size_t>(isTransposed ? columnStep : rowStep);
        operand.heads.assign(starts.begin(), starts.end());
        return true;
    }
};

// The axes of scores: those before `rows` count heads, those from `columns` on a row's elements.
struct ScoreAxes {
    Shape shape;
    int rows = 0, columns = 0;

    // Nothing where axes belong to two of them.
    static std::optional<ScoreAxes> of(const Shape& shape, int64_t rowCount, int64_t columnCount);
    // The places of a step's operand that is broadcast to the scores; `keysAreRows`: rows do not belong to queries.
    // False where steps do not reach them.
    bool place(AttentionStep& step, const OperandView& operand, bool keysAreRows) const;
};

}  // namespace mnnc
