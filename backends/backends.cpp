// The one list of compiled-in backends.
#include "backend/registry.h"
#include "backends/cpu/cpu_runtime.h"

namespace mnnc {

std::span<const BackendEntry> builtinBackends() noexcept {
    static constexpr BackendEntry kBackends[] = {
        {ForwardType::Cpu, "cpu", cpu::createCpuRuntime},
    };
    return kBackends;
}

}  // namespace mnnc
