// Rasters that need no step, because their output is a view of their input.
#pragma once
#include <functional>
#include <optional>

#include "ir/command.h"

namespace mnnc {

// The output lies in the input, which is stored like this, from this byte on.
struct RasterView {
    Storage input;
    int64_t offset;
};

// The facts besides the command that decide about views.
struct ViewRules {
    bool hasDevice;
    std::function<bool(const Operand*)> isLiveOut;
    // Whether this plan does not assign the memory of a tensor.
    std::function<bool(const Operand*)> liesOutside;
};

// Empty: the Raster needs a step.
std::optional<RasterView> rasterView(const Command& command, const ViewRules& rules);

// The byte of `whole` at which a region from `part` to `whole` puts the complete part in its present storage; -1 where
// it does not. With source and destination exchanged: the byte at which the part is a range of the whole.
int64_t subrangeOffset(const Operand& whole, const Operand& part, const Region& region);

}  // namespace mnnc
