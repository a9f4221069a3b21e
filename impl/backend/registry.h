// The compiled-in backends. They are declared here and defined in backends/backends.cpp, the only place where impl/
// depends on backends/.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"

namespace mnnc {

struct BackendEntry {
    ForwardType type;
    const char* name;
    // Makes a runtime. Throws Error with the reason when it cannot: BackendMissing where there is no such device (a
    // backup may be used), NotSupported for a configuration that the backend does not have (without a backup).
    std::shared_ptr<Runtime> (*createRuntime)(const BackendConfig& config);
    // Returns the devices by index; empty, with a reason, where there are none. Null: the backend computes on the host.
    std::vector<DeviceDescription> (*listDevices)(std::string& reason) = nullptr;
};

std::span<const BackendEntry> builtinBackends() noexcept;

// The processor of this machine. Flags: 1: present, 0: missing, -1: unknown.
struct ProcessorDescription {
    std::vector<std::string> isas;  // names for BackendConfig::cpuIsa, best first
    std::string features;           // text for reports
    int logicalCores = 0;           // cores on which the system runs
    int int8Products = -1, bf16Products = -1, fp16Arithmetic = -1;
    int64_t level1Bytes = 0, level2Bytes = 0;  // data caches of a core; 0: unknown
    const char* costRecord = "";               // name of the costs by which plans with its best instruction set are
                                               // chosen
};

ProcessorDescription describeProcessor();

// Measures the costs by which plans on this processor are chosen, for an instruction set as in BackendConfig::cpuIsa.
// The text has fewer than kMaxProcessorCosts bytes; `check` is called from time to time and may throw.
constexpr size_t kMaxProcessorCosts = 4096;
std::string calibrateProcessor(const std::string& isa, const std::function<void()>& check);

// Reads one or several texts of calibrateProcessor(), one after the other. Throws InvalidValue with the wrong line.
struct ProcessorCosts;
std::shared_ptr<const ProcessorCosts> readProcessorCosts(std::string_view text);

}  // namespace mnnc
