// What an execution lists when it chose among several algorithms by their estimated costs.
#pragma once
#include <vector>

namespace mnnc {

struct AlgorithmCandidate {
    const char* name;
    double cycles;  // an estimate for one thread
    bool chosen;
    double ms = -1;     // what it took when it was measured, on all threads of the session; below 0: it was not
    bool slow = false;  // another one for the same convolution took less than 0.9 of that
};

// An ability that some executions have.
class AlgorithmChoice {
  public:
    // Those that accept the command, or each convolution of a fused one; only after prepare(). measured: runs each of
    // them, which takes time and memory.
    virtual std::vector<AlgorithmCandidate> candidates(bool measured) const = 0;

  protected:
    ~AlgorithmChoice() = default;
};

}  // namespace mnnc
