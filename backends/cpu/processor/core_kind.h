// Which kind of core this CPU has, as far as the choice of algorithms asks.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "backends/cpu/processor/core_caches.h"

namespace mnnc {

struct CoreKind {
    CoreCaches caches;
    // Of Arm, from the register MIDR_EL1: implementer << 12 | part number, 0x41d0c for Neoverse N1. 0: not known.
    unsigned part = 0;
    bool dotProd = false, i8mm = false;  // of Arm: kinds without a known part differ in them
};

// The same in every process of the same CPU, on whichever core it runs. On x86 by CPUID. On Arm from the kernel's
// description of all cores, of which it is the largest; where there is no description, as in an emulator, the
// register of the core that is asked decides, and the caches are not known.
CoreKind detectCoreKind();

// The parts of the processors that the text of /proc/cpuinfo describes, in its order; 0: it does not name one.
struct DescribedCore {
    int processor;
    unsigned part;
};
std::vector<DescribedCore> describedCores(std::string_view cpuinfo);

// The caches of a processor by the kernel's description in `folder`, /sys/devices/system/cpu.
CoreCaches describedCaches(const std::string& folder, int processor);

// The one with the largest second level cache, of those the largest first level cache, of those the greatest part.
CoreKind largestCore(const std::vector<CoreKind>& kinds);

}  // namespace mnnc
