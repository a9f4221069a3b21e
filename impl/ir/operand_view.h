// Describes an operand that a command reads directly from the source of a Raster, which would have copied it.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tensor/region.h"
#include "tensor/shape.h"

namespace mnnc {

// Element (i0, i1, ...) of an operand of this shape is element offset + i0 stride0 + i1 stride1 + ... of the input.
struct OperandView {
    Shape shape;
    int64_t offset = 0;
    std::array<int64_t, kMaxRank> stride = {};

    // The input itself.
    static OperandView of(const Shape& shape);
    // The same elements in the source of the region that fills the whole input of `elements` elements; empty where
    // strides cannot describe them.
    std::optional<OperandView> through(const Region& region, int64_t elements) const;
};

// The offsets of the operand's matrices, one for each product of the broadcast batch; the last two axes are the
// matrices. `own`: the operand's batch extents.
std::vector<size_t> matrixOffsets(const OperandView& view, const Shape& own, const Shape& batch);

}  // namespace mnnc
