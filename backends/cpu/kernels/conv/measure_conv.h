// Measures the times of the implementations that accept a convolution, for people who look at a plan.
#pragma once
#include <vector>

#include "backends/cpu/kernels/conv/conv.h"

namespace mnnc {

// Returns milliseconds for each of convCandidates(), in their order: medians of interleaved runs on all threads of the
// pool, with weights and maps of their own. All of them are in memory at the same time.
std::vector<double> measureConvCandidates(const Kernels& k, const ConvShape& shape, const ConvOptions& options,
                                          ThreadPool& pool);

}  // namespace mnnc
