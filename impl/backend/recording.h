// What DeviceBackend::record() gives: executions of a device that were recorded together and run together, again and
// again. It is no execution: it holds the addresses that it was recorded with, and the state of the work under way.
#pragma once
#include <cstdint>
#include <span>

namespace mnnc {

class Recording {
  public:
    Recording() = default;
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;
    virtual ~Recording() = default;

    // Hot path. Runs all executions in order and returns when they are done. Throws OutOfMemory, DeviceLost, or an
    // Error about contents of tensors.
    virtual void run() = 0;
    // The frame has other memory of the device now. Throws Error; the recording is then of no use until this succeeds.
    virtual void recordAgain() = 0;
    // Like run(), but the executions run one after another, and ms[i] becomes the time of the i-th by the clock of
    // the device; it stays where the device has no clock. The first call prepares what that needs.
    virtual void runTimed(std::span<double> ms) = 0;
    // run() in two halves. begin() may throw what it throws; then nothing is under way.
    virtual void begin() = 0;
    // False when the work is not done within that many nanoseconds; below 0 there is no limit. Else, and when it throws
    // what run() throws, nothing is under way any more.
    virtual bool end(int64_t nanoseconds) = 0;
};

}  // namespace mnnc
