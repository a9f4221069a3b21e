// The caches of a core of this CPU.
#pragma once
#include <cstdint>

namespace mnnc {

struct CoreCaches {
    int64_t level1Data = 0, level2 = 0;  // bytes; 0: not known
};

// Detects the caches on x86, from CPUID alone, so that the result is the same in every process on the same CPU. They
// are not known on other processors (core_kind.h), nor where a CPU has cores of several kinds: the result would depend
// on the core that runs this.
CoreCaches detectCoreCaches();

}  // namespace mnnc
