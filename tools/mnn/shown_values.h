// What the operators of a session make in one run, as it is planned: several operators that are computed together are one.
#pragma once
#include <string>
#include <vector>

#include "common.h"

namespace tool {

struct ShownValue {
    std::string op, type, tensor, backend;
    Array array;
};

// Runs the session, whose GPU has to run one operator after another (MNN_GPU_RECORD_OP), and keeps what each operator of
// the model makes, in the order in which they run. Of a tensor that is made several times it is the last value.
std::vector<ShownValue> runShown(const Session& session);

}  // namespace tool
