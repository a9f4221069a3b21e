// Measures the rate of fused multiply-adds that this machine reaches at present.
#pragma once

namespace tool {

// Returns the GFLOP/s of `threads` threads together with the widest fp32 vectors of this CPU, measured over about 50
// ms.
double measuredPeak(int threads);

}  // namespace tool
