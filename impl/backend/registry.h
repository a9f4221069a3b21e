// The compiled-in backends. Declared here, defined in backends/backends.cpp: the one place where the arrow
// turns.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/backend.h"

namespace mnnc {

struct BackendEntry {
    ForwardType type;
    const char* name;
    // Makes a runtime. Throws Error with the reason when it cannot: BackendMissing where there is no such
    // device (a backup may be taken), NotSupported for a configuration it does not have (nothing replaces
    // it).
    std::shared_ptr<Runtime> (*createRuntime)(const BackendConfig& config);
    // Its devices in the order of their indexes; none, with a reason, where there are none. Null: the host.
    std::vector<DeviceDescription> (*listDevices)(std::string& reason) = nullptr;
};

std::span<const BackendEntry> builtinBackends() noexcept;

// The processor of this machine. 1: it has that, 0: it has not, -1: not known.
struct ProcessorDescription {
    std::vector<std::string> isas;  // that BackendConfig::cpuIsa takes, best first
    std::string features;           // for people
    int logicalCores = 0;           // that the system runs
    int int8Products = -1, bf16Products = -1, fp16Arithmetic = -1;
};

ProcessorDescription describeProcessor();

}  // namespace mnnc
