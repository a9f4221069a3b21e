// Rasters without work: their output is a view of their input.
#pragma once
#include <functional>
#include <optional>

#include "ir/command.h"

namespace mnnc {

// The output lies in the input, stored like this, from this byte on.
struct RasterView {
    Storage input;
    int64_t offset;
};

// What decides beside the command.
struct ViewRules {
    bool hasDevice;
    std::function<bool(const Operand*)> isLiveOut;
    // Whether the memory of a tensor is not for this plan to give.
    std::function<bool(const Operand*)> liesOutside;
};

// Nothing: the Raster needs a step.
std::optional<RasterView> rasterView(const Command& command, const ViewRules& rules);

// The byte of `whole` at which a region from `part` to `whole` puts all of the part, as it is stored; -1 where it does
// not. With source and destination exchanged: the byte at which the part is a range of the whole.
int64_t subrangeOffset(const Operand& whole, const Operand& part, const Region& region);

}  // namespace mnnc
