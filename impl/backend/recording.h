// The result of DeviceBackend::record(): executions of a device that were recorded together and run together any number
// of times. It is no Execution, because it holds the addresses that it was recorded with and the state of the work
// under way.
#pragma once
#include <cstdint>
#include <span>

#include "base/cancellation.h"

namespace mnnc {

class Recording {
  public:
    Recording() = default;
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;
    virtual ~Recording() = default;

    // Hot path. Runs all executions in order and returns when they are complete. Throws OutOfMemory, DeviceLost, or an
    // Error about contents of tensors.
    virtual void run() = 0;
    // Called when the memory on the device has changed in the frame: records everything anew. Throws Error; the
    // recording is unusable until a call succeeds.
    virtual void recordAgain() = 0;
    // Like run(), but the executions run one after another, and ms[i] becomes the time of the i-th by the clock of the
    // device; it is unchanged where the device has no clock. The first call prepares the measurement.
    virtual void runTimed(std::span<double> ms) = 0;
    // Like run(), in submissions that take a few hundredths of a second each. The token is checked before each
    // submission. Throws Cancelled, too. The first call prepares its own recording, and later ones may prepare it anew.
    virtual void runCancellable(const Cancellation& cancel) = 0;
    // Whether a run that is observed runs one execution after another.
    virtual bool showsSteps() const noexcept = 0;
    // Runs one execution and returns when it is done; its results can be read then. The first call prepares its own
    // recording. ms: null, or the place for the time by the clock of the device; it is unchanged where the device has
    // no clock.
    virtual void runStep(size_t step, double* ms) = 0;
    // run() in two halves. begin() may throw what run() throws; then nothing is under way.
    virtual void begin() = 0;
    // Returns false when the work is not complete within this many nanoseconds; below 0: no limit. When it
    // returns true, or throws what run() throws, no work is under way any more.
    virtual bool end(int64_t nanoseconds) = 0;
};

}  // namespace mnnc
