// What DeviceBackend::record() gives: an execution that can be recorded again, and whose end need not be waited for at
// once.
#pragma once
#include <cstdint>
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
    // onExecute() in two halves. begin() may throw what it throws; then nothing is under way.
    virtual void begin() = 0;
    // False when the work is not done within that many nanoseconds; below 0 there is no limit. Else, and when it throws what
    // onExecute() throws, nothing is under way any more.
    virtual bool end(int64_t nanoseconds) = 0;
};

}  // namespace mnnc
