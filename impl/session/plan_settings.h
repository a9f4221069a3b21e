// Everything of a session's configuration that its programs depend on.
#pragma once
#include <memory>

#include "backend/backend.h"
#include "net/custom.h"

namespace mnnc {

struct PlanSettings {
    BackendConfig backend;  // without its limit of memory
    std::shared_ptr<const HostBackend> hostBackend;
    int threads = 1;  // which there are; the configuration says how many are wanted
    bool keepsSubnormals = false, recordsPlans = false, measuresAlgorithms = false;
    const void* device = nullptr;  // DeviceBackend::identity(); null: the host computes

    bool operator==(const PlanSettings&) const = default;
};

}  // namespace mnnc
