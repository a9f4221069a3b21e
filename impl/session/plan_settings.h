// All parts of a session's configuration that its programs depend on.
#pragma once
#include <vector>

#include "backend/backend.h"
#include "net/custom.h"

namespace mnnc {

struct PlanSettings {
    BackendConfig backend;  // without its limit of memory
    // Backends of the host, in the order in which they are asked: for every operator, and for what the device refuses.
    std::vector<HostBackendPtr> hostBackends, hostBackups;
    int threads = 1;  // which there are; the configuration says how many are wanted
    bool keepsSubnormals = false, recordsPlans = false, measuresAlgorithms = false;
    const void* device = nullptr;  // DeviceBackend::identity(); null: the host computes

    bool operator==(const PlanSettings&) const = default;
};

}  // namespace mnnc
