// What DeviceBackend::record() may give: an execution that can be recorded again.
#pragma once
#include "backend/execution.h"

namespace mnnc {

class Recording : public Execution {
  public:
    // Tensors or scratch have other memory now. Throws Error; the recording is then of no use until this succeeds.
    virtual void recordAgain() = 0;
};

}  // namespace mnnc
