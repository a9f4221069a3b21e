// The algorithms from which an execution chose one by their estimated costs.
#pragma once
#include <vector>

namespace mnnc {

struct AlgorithmCandidate {
    const char* name;
    double cycles;  // an estimate for one thread
    bool chosen;
    double ms = -1;     // measured time on all threads of the session; below 0: not measured
    bool slow = false;  // another algorithm for the same convolution took less than 0.9 of that time
};

// An interface of executions that choose among algorithms.
class AlgorithmChoice {
  public:
    // The algorithms that accept the command, or each convolution of a fused one; callable only after prepare().
    // measured: runs each of them, which takes time and memory.
    virtual std::vector<AlgorithmCandidate> candidates(bool measured) const = 0;

  protected:
    ~AlgorithmChoice() = default;
};

}  // namespace mnnc
