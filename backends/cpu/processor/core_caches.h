// The caches of a core of this CPU.
#pragma once
#include <cstdint>

namespace mnnc {

struct CoreCaches {
    int64_t level1Data = 0, level2 = 0;  // bytes; 0: not known
};

// Of x86, from CPUID alone, so that it is the same in every process of the same CPU. Not known on others (core_kind.h),
// nor where a CPU has cores of several kinds: the answer would depend on the core that is asked.
CoreCaches detectCoreCaches();

}  // namespace mnnc
