// Rasters that need no step, because their output is a view of their input.
#pragma once
#include <functional>
#include <optional>

#include "ir/command.h"

namespace mnnc {

// The output lies in the input, which is stored as `input`, from the byte `offset` on.
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
    // Whether the end of the run writes to the memory of a tensor.
    std::function<bool(const Operand*)> isOverwritten;
};

// Returns where the output lies in the input; empty: the Raster needs a step.
std::optional<RasterView> rasterView(const Command& command, const ViewRules& rules);

// Returns the byte of `whole` at which a region from `part` to `whole` puts the complete part in its present storage;
// -1 where it does not. With the source and the destination of the region exchanged, this is the byte at which `part`
// is a range of `whole`.
int64_t subrangeOffset(const Operand& whole, const Operand& part, const Region& region);

}  // namespace mnnc
