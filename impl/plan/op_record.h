// Reports about the commands that a session executes.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "backend/algorithm_choice.h"
#include "tensor/operand.h"

namespace mnnc {

struct OpRecord {
    std::string name;
    const char* type = "";
    const char* backend = "";  // empty: not decided yet, the operator is planned in a run
    std::string algorithm;     // the algorithm that the execution chose; empty when there is only one
    std::string reason;        // why the wanted backend did not take it; empty when it did
    double flops = 0;          // sum over all its executions in one run; below 0: not known
    bool hostShape = false;
    std::vector<AlgorithmCandidate> candidates = {};  // where the session records plans
    int node = -1;  // number of its node in the file, the last one of several; -1: it has none

    // Returns a record for an operator that the next run plans.
    static OpRecord undecided(const std::string& name, const char* type, int node) {
        return {name, type, "", "", "", -1, false, {}, node};
    }
};

// Multiplies the work of the records from `begin` to the end of the list by `times`, which is below 0 when it is
// unknown.
inline void repeatWork(std::vector<OpRecord>& records, size_t begin, int64_t times) {
    for (size_t i = begin; i < records.size(); ++i) {
        double& flops = records[i].flops;
        if (times == 0)
            flops = 0;
        else
            flops = flops < 0 || times < 0 ? -1 : flops * static_cast<double>(times);
    }
}

// One command of a step.
struct OpCall {
    OpRecord record;
    bool inserted = false;  // a copy or a change of storage that the library added
    std::vector<Operand*> inputs, outputs;
};

}  // namespace mnnc
