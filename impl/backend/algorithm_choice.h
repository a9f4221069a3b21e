// What an execution lists when it chose among several algorithms by their estimated costs.
#pragma once
#include <vector>

namespace mnnc {

struct AlgorithmCandidate {
    const char* name;
    double cycles;  // an estimate for one thread
    bool chosen;
};

// An ability that some executions have.
class AlgorithmChoice {
  public:
    // Those that accept the command, or each convolution of a fused one; only after onResize().
    virtual std::vector<AlgorithmCandidate> candidates() const = 0;

  protected:
    ~AlgorithmChoice() = default;
};

}  // namespace mnnc
