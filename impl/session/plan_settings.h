// All parts of a session's configuration that its programs depend on.
#pragma once
#include <vector>

#include "backend/backend.h"
#include "net/custom.h"

namespace mnnc {

struct PlanSettings {
    BackendConfig backend;  // without its limit of memory
    // Backends of the host, in the order in which they are asked. hostBackends are asked for every operator,
    // hostBackups for operators that the device refuses.
    std::vector<HostBackendPtr> hostBackends, hostBackups;
    int threads = 1;  // the actual number; the configuration has the wanted one
    bool keepsSubnormals = false, recordsPlans = false, measuresAlgorithms = false;
    const void* device = nullptr;  // DeviceBackend::identity(); null: the host computes

    bool operator==(const PlanSettings&) const = default;
};

}  // namespace mnnc
