// The table of records, and how one of them is fitted to a CPU.
#include "backends/cpu/kernels/cost_records.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>

namespace mnnc {

namespace {

// The first one holds where nothing else is nearer: its costs were chosen by times of whole nets.
const CostRecord kRecords[] = {
    {"zen5", Isa::Avx512, {48 << 10, 1 << 20}, {}},
};

// The cache that the defaults of CacheBudget were chosen for, and how far from it they are scaled.
constexpr double kBudgetCache = 1 << 20;
constexpr double kLeastScale = 0.25, kMostScale = 2;

double distance(int64_t a, int64_t b) {
    return a > 0 && b > 0 ? std::abs(std::log2(static_cast<double>(a) / static_cast<double>(b))) : 0.0;
}

CacheBudget scaled(const CacheBudget& budget, double scale) {
    CacheBudget out = budget;
    for (int64_t* bytes : {&out.gemmInput, &out.int8Input, &out.dequantizedPanel, &out.firstLayerStrip,
                           &out.groupedPlanes, &out.winogradTransforms, &out.winogradPanel,
                           &out.pointwiseDepthwiseStrip, &out.packedChunk, &out.minFusedMap})
        *bytes = static_cast<int64_t>(static_cast<double>(*bytes) * scale);
    return out;
}

}  // namespace

const CostRecord& nearestRecord(Isa isa, const CoreCaches& caches) {
    const auto far = [&](const CostRecord& record) {
        const int levels = std::abs(static_cast<int>(record.isa) - static_cast<int>(isa));
        // An instruction set further away outweighs any caches.
        return 1000.0 * levels + distance(record.caches.level1Data, caches.level1Data) +
               distance(record.caches.level2, caches.level2);
    };
    return *std::min_element(std::begin(kRecords), std::end(kRecords),
                             [&](const CostRecord& a, const CostRecord& b) { return far(a) < far(b); });
}

CpuCosts costsOf(Isa isa, const CoreCaches& caches) {
    CpuCosts costs;
    costs.cycles = nearestRecord(isa, caches).cycles;
    if (caches.level2 > 0)
        costs.cache = scaled(costs.cache, std::clamp(static_cast<double>(caches.level2) / kBudgetCache,
                                                     kLeastScale, kMostScale));
    return costs;
}

}  // namespace mnnc
