// The time of each operator of a run.
#pragma once
#include <string>
#include <vector>

#include "common.h"

namespace tool {

struct OpTimes {
    std::string name, type, backend, algorithm, shapes;
    double flops = 0;
    std::vector<double> begin, ms;  // per run; begin: since the start of the run

    double median() const;
    double gflops() const { return flops > 0 ? flops / median() * 1e-6 : 0; }
};

struct RunTimes {
    std::vector<OpTimes> ops;  // copies that the library added, too; operators in loops as often as they ran
    double wallMs = 0;         // median of runs without callbacks
    double totalMs() const;
};

// Runs the session with inputs from a seed: so many times, after one that warms up.
RunTimes measureOperators(const Session& session, uint64_t seed, int runs);

}  // namespace tool
