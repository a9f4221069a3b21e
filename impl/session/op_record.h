// What a session tells about the commands it executes, and to whom while it runs.
#pragma once
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace mnnc {

struct OpRecord {
    std::string name;
    const char* type = "";
    const char* backend = "";
    std::string algorithm;  // which of its ways the execution chose; empty when it has one only
    std::string reason;     // why the wanted backend did not take it; empty when it did
    double flops = 0;       // below 0: not known yet
    bool hostShape = false;
};

// One command of a step.
struct OpCall {
    OpRecord record;
    bool inserted = false;  // a copy or a change of storage that no operator of the model asked for
    std::vector<Tensor*> inputs, outputs;
};

// Watches a run. May throw: the run ends.
class RunObserver {
  public:
    virtual ~RunObserver() = default;
    // False: the step is left out, its outputs keep what their memory holds.
    virtual bool before(const OpCall& call) = 0;
    virtual void after(const OpCall& call) = 0;
};

}  // namespace mnnc
