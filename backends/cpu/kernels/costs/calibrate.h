// Measures the costs of the cost model on a CPU.
#pragma once
#include <functional>

#include "backends/cpu/kernels/cpu_costs.h"
#include "backends/cpu/kernels/kernels.h"

namespace mnnc {

// Returns the costs of `k`, with those that can be measured alone replaced by measured ones: the bandwidth of memory,
// copies, Winograd's transforms and calls, sums of a few outputs, dequantisation, rounding, the same of int8. It runs
// for about a second on the calling thread; `check` is called between measurements and may throw.
CycleCosts calibrate(const Kernels& k, const std::function<void()>& check);

}  // namespace mnnc
