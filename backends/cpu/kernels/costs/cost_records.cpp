// The table of records, and the code that fits one of them to a CPU.
#include "backends/cpu/kernels/costs/cost_records.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>

namespace mnnc {

namespace {

// The abilities of an Arm core with vectors of 16 bytes, and its time for an instruction of kernels other than
// products.
struct ArmCore {
    TileCosts tile;
    double memory;       // bytes a cycle
    double instruction;  // cycles
};

// The numbers of instructions of these kernels for a vector were counted by qemu (benchmarks/arm/count_instructions.c);
// those for a few outputs were counted in their code.
constexpr CycleCosts armCycles(const ArmCore& core) {
    constexpr double kDequantize = 9, kCopy = 1.5, kRound = 4, kWeight = 9.5, kTaps = 9.0 / 36;
    constexpr double kIn[4] = {0, 10, 20, 19}, kOut[4] = {0, 8.5, 11, 13};
    constexpr double kEpilogue = 12, kCallRows = 28, kTap = 12;
    constexpr double kFewCall = 130, kFewReduce = 8;
    constexpr double kInt8In = 410, kInt8Weights = 230, kInt8Out = 700;
    const double i = core.instruction;
    CycleCosts c;
    c.tile = core.tile;
    c.weightBytesPerCycle = core.memory;
    c.dequantize = kDequantize * i;
    c.copy = kCopy * i;
    c.tap = kTap * i;
    c.winogradCall = kEpilogue * kCallRows * i;
    for (int unit = 1; unit < 4; ++unit) {
        c.winogradIn[unit] = kIn[unit] * i;
        c.winogradOut[unit] = kOut[unit] * i;
        c.winogradTaps[unit] = kWeight * i;
    }
    c.winogradRound = kRound * i;
    c.winogradDequantize = (kWeight + kTaps * kDequantize) * i;
    c.winogradDequantizeBf16 = c.winogradDequantize + kRound * i;
    c.fewOutputsCall = kFewCall * i;
    c.fewOutputsReduce = kFewReduce * i;
    c.int8RowWeight = core.tile.weight;
    c.int8WinogradIn = kInt8In * i;
    c.int8WinogradWeights = kInt8Weights * i;
    c.int8WinogradOut = kInt8Out * i;
    return c;
}

// No Arm core was measured. Arm's Software Optimization Guides of Cortex-A55, Cortex-A76, Neoverse N1 and Neoverse V1
// state how many products of four floats and loads of 16 bytes a core starts in a cycle, and after how many cycles a
// sum can be added to again. A53 and A55 execute in order and load 16 bytes in two cycles, in which no product starts;
// older large cores start one product a cycle, too. The rest is assumed: the bytes that a core reads in a cycle from
// memory and from its second level cache, and the time of an instruction, since most instructions compute or store
// vectors.
constexpr TileCosts kInOrder{1, 0.5, 4, 0.25, 0, 2}, kTwoPipes{2, 2, 2, 0.25, 1, 0.7},
    kFourPipes{4, 3, 2, 0.25, 1, 0.5};

// The first record of x86 is the default where no other is nearer: its costs were chosen by times of whole nets.
constexpr CostRecord kRecords[] = {
    {"zen5", Isa::Avx512, {{48 << 10, 1 << 20}}, {}, {}},
    // Cortex-A34, A53, A35, A55, A57, A72, A73
    {"cortex-a53",
     Isa::Neon,
     {{32 << 10, 512 << 10}},
     {0x41d02, 0x41d03, 0x41d04, 0x41d05, 0x41d07, 0x41d08, 0x41d09},
     armCycles({kInOrder, 2, 1.3})},
    // Cortex-A75, A76, A77, A76AE, A78, A78AE, A78C
    {"cortex-a76",
     Isa::Neon,
     {{64 << 10, 256 << 10}, 0, true, false},
     {0x41d0a, 0x41d0b, 0x41d0d, 0x41d0e, 0x41d41, 0x41d42, 0x41d4b},
     armCycles({kTwoPipes, 4, 0.45})},
    // Neoverse N1
    {"neoverse-n1", Isa::Neon, {{64 << 10, 1 << 20}, 0, true, false}, {0x41d0c}, armCycles({kTwoPipes, 7, 0.45})},
    // Cortex-A710, A715, A720, Neoverse N2, N3
    {"neoverse-n2",
     Isa::Neon,
     {{64 << 10, 512 << 10}, 0, true, true},
     {0x41d47, 0x41d4d, 0x41d81, 0x41d49, 0x41d8e},
     armCycles({kTwoPipes, 7, 0.45})},
    // Cortex-X1, X1C, which lack I8MM; X2, X3, X4, X925, Neoverse V1, V2, V3
    {"neoverse-v1",
     Isa::Neon,
     {{64 << 10, 1 << 20}, 0, true, true},
     {0x41d44, 0x41d4c, 0x41d48, 0x41d4e, 0x41d82, 0x41d85, 0x41d40, 0x41d4f, 0x41d84},
     armCycles({kFourPipes, 10, 0.25})},
};

// The cache for which the defaults of CacheBudget were chosen, and the limits within which they are scaled.
constexpr double kBudgetCache = 1 << 20;
constexpr double kMinScale = 0.25, kMaxScale = 2;

double distance(int64_t a, int64_t b) {
    return a > 0 && b > 0 ? std::abs(std::log2(static_cast<double>(a) / static_cast<double>(b))) : 0.0;
}

CacheBudget scaled(const CacheBudget& budget, double scale) {
    CacheBudget out = budget;
    for (int64_t* bytes : {&out.gemmInput, &out.int8Input, &out.dequantizedPanel, &out.firstLayerStrip,
                           &out.groupedPlanes, &out.winogradTransforms, &out.winogradPanel,
                           &out.pointwiseDepthwiseStrip, &out.packedChunk, &out.minFusedMap, &out.nearResult})
        *bytes = static_cast<int64_t>(static_cast<double>(*bytes) * scale);
    return out;
}

}  // namespace

const CostRecord& nearestRecord(Isa isa, const CoreKind& kind) {
    // Neon has no similar instruction set.
    const auto far = [&](const CostRecord& record) {
        const bool named =
            kind.part != 0 && record.isa == isa &&
            std::find(std::begin(record.parts), std::end(record.parts), kind.part) != std::end(record.parts);
        const bool arm = record.isa == Isa::Neon;
        const double sets = arm != (isa == Isa::Neon) ? 1000
                            : arm                     ? 0
                                                      : std::abs(static_cast<int>(record.isa) - static_cast<int>(isa));
        // A more distant instruction set outweighs any difference of instructions, and a difference of instructions
        // outweighs any difference of caches.
        return named ? -1
                     : 1e6 * sets + 1000.0 * ((record.kind.dotProd != kind.dotProd) + (record.kind.i8mm != kind.i8mm)) +
                           distance(record.kind.caches.level1Data, kind.caches.level1Data) +
                           distance(record.kind.caches.level2, kind.caches.level2);
    };
    return *std::min_element(std::begin(kRecords), std::end(kRecords),
                             [&](const CostRecord& a, const CostRecord& b) { return far(a) < far(b); });
}

CpuCosts costsOf(Isa isa, const CoreKind& kind) {
    const CostRecord& record = nearestRecord(isa, kind);
    const int64_t level2 = kind.caches.level2 > 0 ? kind.caches.level2 : record.kind.caches.level2;
    CpuCosts costs;
    costs.cycles = record.cycles;
    costs.cache = scaled(costs.cache, std::clamp(static_cast<double>(level2) / kBudgetCache, kMinScale, kMaxScale));
    return costs;
}

}  // namespace mnnc
