// Values in the memory of a device, for an observer of a run.
#pragma once
#include "backend/frame.h"
#include "base/aligned.h"
#include "session/session_context.h"

namespace mnnc {

// Returns a row-major copy, in the host's memory, of a tensor that lies in memory of the device; `host` becomes the
// tensor that describes the copy. Waits for the device. Throws what the device throws, and OutOfMemory.
AlignedBuffer deviceValues(DeviceBackend& device, const Operand& tensor, const Frame& frame, Operand& host);

}  // namespace mnnc
