// Composes an operand's view with a Raster's region.
#include "ops/operand_view.h"

#include "ops/region_series.h"

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

}  // namespace mnnc
