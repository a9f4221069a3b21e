// What DeviceBackend::record() gives: an execution that can be recorded again.
#pragma once
#include <span>

#include "backend/execution.h"

namespace mnnc {

class Recording : public Execution {
  public:
    // Tensors or scratch have other memory now. Throws Error; the recording is then of no use until this succeeds.
    virtual void recordAgain() = 0;
    // Like onExecute(), but the executions run one after another, and ms[i] becomes the time of the i-th by the clock of
    // the device; it stays where the device has no clock. The first call prepares what that needs.
    virtual void executeTimed(std::span<double> ms) = 0;
};

}  // namespace mnnc
