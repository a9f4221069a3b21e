// Regions that together copy a box of four axes: they differ in their offsets alone, which grow by equal steps.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "ir/operand_view.h"
#include "tensor/region.h"

namespace mnnc {

struct RegionSeries {
    struct Axis {
        int64_t size = 1, src = 0, dst = 0;  // strides in elements
    };
    int64_t src = 0, dst = 0;  // offsets
    Axis axes[4];

    // Nothing where the regions are no such box. Which input they read is not looked at.
    static std::optional<RegionSeries> of(std::span<const Region> regions);
    // What the series writes becomes what it reads.
    RegionSeries reversed() const;
    // Whether it writes each of the first `elements` elements of its destination once.
    bool fills(int64_t elements) const;
    // The view's elements in the source of a series that fills the whole input of `elements` elements; nothing where
    // strides cannot say it.
    std::optional<OperandView> through(const OperandView& view, int64_t elements) const;

  private:
    RegionSeries inOrder() const;
};

}  // namespace mnnc
