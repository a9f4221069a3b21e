// Regions that together copy a box of four axes: they differ only in their offsets, which grow by equal steps.
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

    // Returns the series that equals these regions; empty where they do not form such a box. Ignores which input they
    // read.
    static std::optional<RegionSeries> of(std::span<const Region> regions);
    // Exchanges source and destination.
    RegionSeries reversed() const;
    // Returns whether the series writes each of the first `elements` elements of its destination exactly once, and no
    // others.
    bool fills(int64_t elements) const;
    // Returns the view of the same elements in the source of a series that fills the whole input of `elements`
    // elements; empty where strides cannot describe them.
    std::optional<OperandView> through(const OperandView& view, int64_t elements) const;

  private:
    RegionSeries inOrder() const;
};

}  // namespace mnnc
