// The observer of a run.
#pragma once
#include "backend/frame.h"
#include "plan/op_record.h"

namespace mnnc {

// Watches a run. May throw: the run ends.
class RunObserver {
  public:
    virtual ~RunObserver() = default;
    // False: the step is left out, its outputs keep what their memory holds. Not possible on a device, which takes many
    // commands in one step: the run ends with NotSupported.
    // frame: where the tensors of the call lie.
    virtual bool before(const OpCall& call, const Frame& frame) = 0;
    // deviceMs: the time that it took by the clock of the device; below 0: not known.
    virtual void after(const OpCall& call, const Frame& frame, double deviceMs) = 0;
    // Whether calls have times of the device, for which it runs commands one after another.
    virtual bool wantsDeviceTimes() const noexcept { return false; }
};

}  // namespace mnnc
