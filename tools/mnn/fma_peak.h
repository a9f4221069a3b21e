// The rate of fused multiply-adds that this machine reaches here and now.
#pragma once

namespace tool {

// GFLOP/s of `threads` threads together with the widest fp32 vectors this CPU has, over about 50 ms.
double measuredPeak(int threads);

}  // namespace tool
