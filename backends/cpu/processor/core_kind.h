// The kind of core that this CPU has, in the detail that the choice of algorithms needs.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "backends/cpu/processor/core_caches.h"

namespace mnnc {

struct CoreKind {
    CoreCaches caches;
    // Arm only: implementer << 12 | part number of the register MIDR_EL1, 0x41d0c for Neoverse N1. 0: not known.
    unsigned part = 0;
    bool dotProd = false, i8mm = false;  // Arm only: they distinguish kinds without a known part
};

// Detects the same kind in every process on the same CPU, on whichever core it runs. On x86 it uses CPUID. On Arm it
// chooses the largest core of the kernel's description; where there is no description, as in an emulator, it reads the
// register of the core that runs this, and the caches are not known.
CoreKind detectCoreKind();

// A processor that the text of /proc/cpuinfo describes, in its order. part is 0 where the text does not name one.
struct DescribedCore {
    int processor;
    unsigned part;
};
std::vector<DescribedCore> describedCores(std::string_view cpuinfo);

// Reads the caches of a processor from the kernel's description in `folder`, /sys/devices/system/cpu.
CoreCaches describedCaches(const std::string& folder, int processor);

// Returns the core with the largest second level cache; among equal ones the largest first level cache decides, then
// the greatest part.
CoreKind largestCore(const std::vector<CoreKind>& kinds);

}  // namespace mnnc
