// Values that a device has, for an observer of a run that shows them.
#pragma once
#include "backend/frame.h"
#include "base/aligned.h"
#include "session/session_context.h"

namespace mnnc {

// A copy in the host's memory, row-major, of a tensor that lies in memory of the device; `host` becomes the tensor that
// describes it. Waits for the device. Throws what the device throws, and OutOfMemory.
AlignedBuffer deviceValues(DeviceBackend& device, const Operand& tensor, const Frame& frame, Operand& host);

}  // namespace mnnc
