// The parsed costs that the host gave to a runtime.
#pragma once
#include "backend/registry.h"
#include "backends/cpu/kernels/costs/cost_text.h"

namespace mnnc {

struct ProcessorCosts {
    CostSections sections;
};

}  // namespace mnnc
