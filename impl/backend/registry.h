// The compiled-in backends. Declared here, defined in backends/backends.cpp: the one place where the arrow
// turns.
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
    int64_t level1Bytes = 0, level2Bytes = 0;  // data caches of a core; 0: not known
    const char* costRecord = "";               // whose costs plans with its best instruction set are compared with
};

ProcessorDescription describeProcessor();

// Measures the costs with which plans on this processor are compared, for an instruction set as BackendConfig::cpuIsa
// takes it. The text has fewer than kMaxCostText bytes; `check` is called from time to time and may throw.
constexpr size_t kMaxProcessorCosts = 4096;
std::string calibrateProcessor(const std::string& isa, const std::function<void()>& check);

// Reads such texts, one behind the other. Throws InvalidValue, naming the line.
struct ProcessorCosts;
std::shared_ptr<const ProcessorCosts> readProcessorCosts(std::string_view text);

}  // namespace mnnc
