// The observer of a run.
#pragma once
#include "backend/frame.h"
#include "plan/op_record.h"

namespace mnnc {

// Watches a run. When a function throws, the run ends.
class RunObserver {
  public:
    virtual ~RunObserver() = default;
    // Returns false to leave the step out; its outputs keep what their memory holds. A device takes many commands in
    // one step and cannot leave one out: the run ends with NotSupported.
    // frame: the places of the call's tensors.
    virtual bool before(const OpCall& call, const Frame& frame) = 0;
    // deviceMs: duration by the clock of the device; below 0: not known.
    virtual void after(const OpCall& call, const Frame& frame, double deviceMs) = 0;
    // Returns whether calls need times of the device, which then runs its commands one after another.
    virtual bool wantsDeviceTimes() const noexcept { return false; }
};

}  // namespace mnnc
