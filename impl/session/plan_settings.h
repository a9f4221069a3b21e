// All parts of a session's configuration that its programs depend on.
#pragma once
#include <memory>

#include "backend/backend.h"
#include "net/custom.h"

namespace mnnc {

struct PlanSettings {
    BackendConfig backend;  // without its memory limit
    std::shared_ptr<const HostBackend> hostBackend;
    int threads = 1;  // the threads that exist; the configuration has the wanted number
    bool keepsSubnormals = false, recordsPlans = false, measuresAlgorithms = false;
    const void* device = nullptr;  // DeviceBackend::identity(); null: the host computes

    bool operator==(const PlanSettings&) const = default;
};

}  // namespace mnnc
