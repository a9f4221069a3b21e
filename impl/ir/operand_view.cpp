// Composes an operand's view with a Raster's region.
#include "ir/operand_view.h"

#include "ir/region_series.h"

namespace mnnc {

OperandView OperandView::of(const Shape& shape) {
    OperandView view;
    view.shape = shape;
    int64_t step = 1;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
        view.stride[static_cast<size_t>(axis)] = step;
        step *= shape[axis];
    }
    return view;
}

std::optional<OperandView> OperandView::through(const Region& region, int64_t elements) const {
    return RegionSeries::of(std::span<const Region>(&region, 1))->through(*this, elements);
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

}  // namespace mnnc
