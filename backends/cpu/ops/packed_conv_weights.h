// Code that executions of convolutions share: planning a command, and weights that the model stores.
#pragma once
#include <vector>

#include "backend/algorithm_choice.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/kernels/conv/conv.h"
#include "backends/cpu/ops/conv_shape.h"

namespace mnnc::cpu {

ConvOptions convOptions(const CpuBackend& backend, const Command& command, const ConvWindow& window);
PostOps postOps(const Command& command);  // without bias and residual
// Appends the implementations that accept a convolution planned with these options, and their times if `measured`.
void appendCandidates(const CpuBackend& backend, const Command& convolution, const ConvOptions& options, bool measured,
                      std::vector<AlgorithmCandidate>& out);

// Returns a key for everything that packed weights depend on besides the weights.
std::string weightVariant(const CpuBackend& backend, const ConvPlan& plan, const ConvWindow& w);

// Holds the weights packed for a plan, one copy for all sessions, and the bias.
class PackedConvWeights {
  public:
    void prepare(const CpuBackend& backend, const Command& command, const ConvPlan& plan, const ConvWindow& window);
    const void* packed() const { return packed_.get(); }
    const float* bias() const { return bias_.data(); }

  private:
    PackedWeights packed_;
    std::vector<float> bias_;  // paddedBias()
};

}  // namespace mnnc::cpu
