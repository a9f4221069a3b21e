// Rasters without work: their output is a view of their input.
#pragma once
#include "plan/step_plan.h"
#include "plan/storage_conversions.h"

namespace mnnc {

// Makes the output of a Raster a view where that is possible; false: the Raster needs a step.
bool becomesView(StepPlan& plan, StorageConversions& conversions, const StepContext& context,
                 const Command& command);

// The byte of `whole` at which a region from `part` to `whole` puts all of the part, as it is stored; -1 where it does
// not. With source and destination exchanged: the byte at which the part is a range of the whole.
int64_t subrangeOffset(const Operand& whole, const Operand& part, const Region& region);

}  // namespace mnnc
