// The time of each operator of a run.
#pragma once
#include <string>
#include <vector>

#include "common.h"

namespace tool {

struct OpTimes {
    std::string name, type, backend, algorithm, shapes;
    double flops = 0;
    std::vector<double> begin, ms;  // one for each run; begin: since the start of the run

    double median() const;
    double gflops() const { return flops > 0 ? flops / median() * 1e-6 : 0; }
};

struct RunTimes {
    // This includes copies that the library added; an operator in a loop occurs once for each iteration.
    std::vector<OpTimes> ops;
    double wallMs = 0;  // median of runs without callbacks
    double totalMs() const;
};

// Runs the session with inputs from a seed: `runs` times, after a warm-up.
RunTimes measureOperators(const Session& session, uint64_t seed, int runs);

}  // namespace tool
