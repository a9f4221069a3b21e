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

    // Returns the view that is the complete input.
    static OperandView of(const Shape& shape);
    // Returns the view of the same elements in the source of the region that fills the whole input, which has
    // `elements` elements; empty where strides cannot describe them.
    std::optional<OperandView> through(const Region& region, int64_t elements) const;
};

// Returns the offsets of the operand's matrices, which are its last two axes, one for each product of the broadcast
// batch. `own` has the operand's batch extents.
std::vector<size_t> matrixOffsets(const OperandView& view, const Shape& own, const Shape& batch);

}  // namespace mnnc
