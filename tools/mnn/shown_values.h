// The results of the operators of a session in one run, as planned: operators that are computed together count as one.
#pragma once
#include <string>
#include <vector>

#include "common.h"

namespace tool {

struct ShownValue {
    std::string op, type, tensor, backend;
    Array array;
};

// Runs the session, whose GPU has to run one operator after another (MNN_GPU_RECORD_OP), and returns the results of the
// operators of the model in the order in which they run. A tensor that is computed several times has its last value.
std::vector<ShownValue> runShown(const Session& session);

}  // namespace tool
