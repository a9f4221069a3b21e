// The CPU's entry in the list of backends.
#pragma once
#include <memory>

#include "backend/registry.h"

namespace mnnc::cpu {

// Returns a runtime with threads and the kernels of one instruction set. Throws NotSupported when the CPU lacks
// config.cpuIsa.
std::shared_ptr<Runtime> createCpuRuntime(const BackendConfig& config);

ProcessorDescription describeProcessor();

// See registry.h.
std::string calibrate(const std::string& isa, const std::function<void()>& check);
std::shared_ptr<const ProcessorCosts> readCosts(std::string_view text);

}  // namespace mnnc::cpu
