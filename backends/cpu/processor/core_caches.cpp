// Reads the caches of a core with CPUID: "deterministic cache parameters", leaf 4 of Intel's manual (volume 2A, CPUID)
// and leaf 8000001DH of AMD's (volume 3, appendix E), which have the same layout.
#include "backends/cpu/processor/core_caches.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

namespace mnnc {

#if defined(__x86_64__) || defined(__i386__)
namespace {

constexpr unsigned kIntelLeaf = 4, kAmdLeaf = 0x8000001d;
constexpr unsigned kData = 1, kUnified = 3;  // types of caches; 0 ends the list
constexpr unsigned kMaxCaches = 16;

// Returns bit 15 of EDX of leaf 7 (Intel's manual): the CPU has cores of several kinds.
bool isHybrid() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d >> 15 & 1);
}

CoreCaches readLeaf(unsigned leaf) {
    CoreCaches caches;
    for (unsigned i = 0; i < kMaxCaches; ++i) {
        unsigned a = 0, b = 0, c = 0, d = 0;
        if (!__get_cpuid_count(leaf, i, &a, &b, &c, &d)) break;
        const unsigned type = a & 31, level = a >> 5 & 7;
        if (type == 0) break;
        const int64_t ways = int64_t{b >> 22} + 1, partitions = int64_t{b >> 12 & 1023} + 1,
                      line = int64_t{b & 4095} + 1, sets = int64_t{c} + 1;
        const int64_t bytes = ways * partitions * line * sets;
        if (level == 1 && type == kData) caches.level1Data = bytes;
        if (level == 2 && (type == kData || type == kUnified)) caches.level2 = bytes;
    }
    return caches;
}

}  // namespace

CoreCaches detectCoreCaches() {
    if (isHybrid()) return {};
    const CoreCaches caches = readLeaf(kIntelLeaf);
    return caches.level2 > 0 ? caches : readLeaf(kAmdLeaf);
}
#else
CoreCaches detectCoreCaches() {
    return {};
}
#endif

}  // namespace mnnc
