// Composes an operand's view with a Raster's region.
#include "ops/operand_view.h"

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
    // The region's axes as digits of the place in the input, which they fill in order.
    int64_t inner[3], position[3], reach[3], count = 1, rest = offset;
    for (int a = 2; a >= 0; --a) {
        inner[a] = count;
        if (region.size[a] > 1 && region.dst.stride[a] != count) return {};
        count *= region.size[a];
    }
    if (count == 0 || region.dst.offset != 0 || count != elements) return {};
    OperandView result;
    result.shape = shape;
    result.offset = region.src.offset;
    for (int a = 0; a < 3; ++a) {
        position[a] = reach[a] = rest / inner[a];
        rest %= inner[a];
        result.offset += position[a] * region.src.stride[a];
    }
    for (int axis = 0; axis < shape.rank(); ++axis) {
        if (shape[axis] == 1) continue;
        const auto k = static_cast<size_t>(axis);
        int a = 2;
        while (a > 0 && (region.size[a] == 1 || stride[k] >= inner[a] * region.size[a])) --a;
        if (stride[k] < inner[a] || stride[k] % inner[a] != 0) return {};
        const int64_t digits = stride[k] / inner[a];
        reach[a] += (shape[axis] - 1) * digits;
        result.stride[k] = digits * region.src.stride[a];
    }
    // No step may carry into the next digit.
    for (int a = 0; a < 3; ++a)
        if (reach[a] >= region.size[a]) return {};
    return result;
}

}  // namespace mnnc
