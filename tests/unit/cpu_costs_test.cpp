// Costs of a CPU: records, caches, texts and measuring.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "backends/cpu/kernels/conv/conv.h"
#include "backends/cpu/kernels/costs/calibrate.h"
#include "backends/cpu/kernels/costs/cost_records.h"
#include "backends/cpu/kernels/costs/cost_text.h"
#include "backends/cpu/kernels/int8/int8_kernels.h"
#include "base/error.h"
#include "conv_case.h"

namespace mnnc::test {
namespace {

std::string refusal(std::string_view text) {
    try {
        parseCosts(text);
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::InvalidValue);
        return error.message();
    }
    return "";
}

TEST(CpuCosts, TextsAreReadAsTheyWereWritten) {
    CycleCosts costs;
    costs.copy = 2.5;
    costs.winogradIn[3] = 11.25;
    CycleCosts read;
    const CostSections sections = parseCosts(writeCosts("avx2", costs) + writeCosts("sse4", {}));
    ASSERT_EQ(sections.size(), 2u);
    applyCosts(sections.at("avx2"), read);
    EXPECT_EQ(read.copy, 2.5);
    EXPECT_EQ(read.winogradIn[3], 11.25);
    EXPECT_EQ(read.weightBytesPerCycle, CycleCosts{}.weightBytesPerCycle);
    applyCosts(sections.at("sse4"), read);
    EXPECT_EQ(read.copy, CycleCosts{}.copy);
}

TEST(CpuCosts, WhatIsWrittenCanBeRead) {
    CycleCosts costs, read;
    costs.copy = std::numeric_limits<double>::infinity();
    costs.winogradIn[1] = -3;
    applyCosts(parseCosts(writeCosts("avx2", costs)).at("avx2"), read);
    EXPECT_TRUE(std::isfinite(read.copy));
    EXPECT_GT(read.winogradIn[1], 0);
}

TEST(CpuCosts, WhatASectionLeavesOutStays) {
    CycleCosts costs;
    costs.roundRow = 77;
    applyCosts(parseCosts("# measured at night\r\nmnn_c cpu costs 1\r\n\nisa avx2\ncopy 4\n").at("avx2"), costs);
    EXPECT_EQ(costs.copy, 4);
    EXPECT_EQ(costs.roundRow, 77);
}

TEST(CpuCosts, WrongTextsNameTheLine) {
    const std::string begin = "mnn_c cpu costs 1\nisa avx2\n";
    EXPECT_NE(refusal("").find("isa NAME"), std::string::npos);
    EXPECT_NE(refusal("isa avx2\n").find("line 1"), std::string::npos);
    EXPECT_NE(refusal("mnn_c cpu costs 1\ncopy 3\n").find("line 2"), std::string::npos);
    EXPECT_NE(refusal("mnn_c cpu costs 1\nisa\n").find("no instruction set"), std::string::npos);
    EXPECT_NE(refusal(begin + "speed 3\n").find("'speed'"), std::string::npos);
    for (const char* value : {"", "-1", "0", "nan", "inf", "1e9", "3 4", "3,5", "three"})
        EXPECT_NE(refusal(begin + "copy " + value + "\n").find("line 3"), std::string::npos) << value;
    EXPECT_LT(refusal(begin + "copy " + std::string(100000, '7') + "\n").size(), 300u);
    EXPECT_NE(refusal(std::string(2 << 20, '#')).find("bytes"), std::string::npos);
}

TEST(CpuCosts, BudgetsFollowTheCache) {
    const CacheBudget full = costsOf(Isa::Avx512, {{48 << 10, 1 << 20}}).cache,
                      half = costsOf(Isa::Avx2, {{32 << 10, 512 << 10}}).cache,
                      smallest = costsOf(Isa::Avx2, {{32 << 10, 64 << 10}}).cache,
                      unknown = costsOf(Isa::Avx2, {}).cache, named = costsOf(Isa::Neon, {{}, 0x41d03}).cache;
    EXPECT_EQ(full.gemmInput, CacheBudget{}.gemmInput);
    EXPECT_EQ(unknown.winogradTransforms, CacheBudget{}.winogradTransforms);
    EXPECT_EQ(half.winogradTransforms * 2, full.winogradTransforms);
    EXPECT_EQ(named.winogradTransforms, half.winogradTransforms);  // scaled by the record's cache
    EXPECT_EQ(smallest.packedChunk * 4, full.packedChunk);
    EXPECT_EQ(costsOf(Isa::Avx512, {{48 << 10, 64 << 20}}).cache.minFusedMap, 2 * full.minFusedMap);
}

TEST(CpuCosts, EveryCpuHasARecord) {
    for (const Isa isa : {Isa::Portable, Isa::Neon, Isa::Sse4, Isa::Avx2, Isa::Avx512})
        for (const CoreCaches caches : {CoreCaches{}, CoreCaches{32 << 10, 256 << 10}, CoreCaches{48 << 10, 2 << 20}}) {
            const CostRecord& record = nearestRecord(isa, {caches});
            EXPECT_STRNE(record.name, "");
            EXPECT_EQ(&record, &nearestRecord(isa, {caches}));
            EXPECT_EQ(record.isa == Isa::Neon, isa == Isa::Neon);
        }
}

TEST(CpuCosts, ArmCoresHaveTheRecordOfTheirPart) {
    const auto name = [](unsigned part, const CoreCaches& caches = {}, bool dotProd = true, bool i8mm = false) {
        return std::string(nearestRecord(Isa::Neon, {caches, part, dotProd, i8mm}).name);
    };
    EXPECT_EQ(name(0x41d03, {32 << 10, 512 << 10}, false), "cortex-a53");
    EXPECT_EQ(name(0x41d05, {32 << 10, 1 << 20}), "cortex-a53");  // A55, with any caches
    EXPECT_EQ(name(0x41d0b), "cortex-a76");
    EXPECT_EQ(name(0x41d0c), "neoverse-n1");
    EXPECT_EQ(name(0x41d40, {}, true, true), "neoverse-v1");
    EXPECT_EQ(name(0x41d44), "neoverse-v1");  // Cortex-X1
    // Cores without a record are compared by instructions, then by caches.
    EXPECT_EQ(name(0x61023, {}, false), "cortex-a53");
    EXPECT_EQ(name(0x61023, {64 << 10, 256 << 10}), "cortex-a76");
    EXPECT_EQ(name(0x61023, {64 << 10, 1 << 20}), "neoverse-n1");
    EXPECT_EQ(name(0x51001, {64 << 10, 512 << 10}, true, true), "neoverse-n2");
    EXPECT_EQ(name(0x51001, {96 << 10, 2 << 20}, true, true), "neoverse-v1");
    EXPECT_STREQ(nearestRecord(Isa::Portable, {{}, 0x41d0c, true, true}).name, "zen5");
}

// With one product a cycle transforms save more than with four: the records lead to different decisions.
TEST(CpuCosts, ArmRecordsHaveCostsOfTheirOwn) {
    const CycleCosts inOrder = costsOf(Isa::Neon, {{}, 0x41d03}).cycles,
                     wide = costsOf(Isa::Neon, {{}, 0x41d40}).cycles;
    EXPECT_EQ(inOrder.tile.multiplyAdds * 4, wide.tile.multiplyAdds);
    for (int unit = 1; unit < 4; ++unit) {
        EXPECT_GT(inOrder.winogradIn[unit], wide.winogradIn[unit]);
        EXPECT_GT(wide.winogradOut[unit], 0);
    }
    EXPECT_GT(inOrder.int8WinogradIn, wide.int8WinogradIn);
    EXPECT_LT(inOrder.weightBytesPerCycle, wide.weightBytesPerCycle);
}

TEST(CpuCosts, MeasuredOnesAreCostsThatCanBeRead) {
    const Kernels& kernels = selectKernels();
    int checks = 0;
    const CycleCosts measured = calibrate(kernels, [&] { ++checks; });
    EXPECT_GT(checks, 8);
    const CostSections sections = parseCosts(writeCosts(kernels.isa, measured));
    CycleCosts read;
    applyCosts(sections.at(kernels.isa), read);
    EXPECT_NEAR(read.winogradIn[2], measured.winogradIn[2], 1e-2 * measured.winogradIn[2]);
    EXPECT_NEAR(read.int8RowWeight, measured.int8RowWeight, 1e-2 * measured.int8RowWeight);
    const CycleCosts& known = kernels.costs->cycles;
    EXPECT_NEAR(read.winogradTaps[3], measured.winogradTaps[3], 1e-2 * measured.winogradTaps[3]);
    for (const int unit : {1, 2, 3}) EXPECT_NE(measured.winogradTaps[unit], known.winogradTaps[unit]);
    EXPECT_NE(measured.fewOutputsReduce, known.fewOutputsReduce);
    EXPECT_NE(measured.fewOutputsCall, known.fewOutputsCall);
    EXPECT_NE(measured.int8RowWeight, known.int8RowWeight);
    if (!kernels.int8->winograd) return;
    EXPECT_NE(measured.int8WinogradIn, known.int8WinogradIn);
    EXPECT_NE(measured.int8WinogradWeights, known.int8WinogradWeights);
    EXPECT_NE(measured.int8WinogradOut, known.int8WinogradOut);
}

TEST(CpuCosts, MeasuringEndsWhenTheCheckThrows) {
    EXPECT_THROW(calibrate(selectKernels(), [] { throw std::runtime_error("enough"); }), std::runtime_error);
}

TEST(CpuCosts, TheyDecide) {
    Kernels kernels = selectKernels();
    CpuCosts costs = *kernels.costs;
    kernels.costs = &costs;
    const ConvShape s = shape(64, 56, 56, 64, 3, 1, 1, 1);
    EXPECT_EQ(makeConvPlan(kernels, s, options(1))->algorithm().rfind("winograd", 0), 0u);
    for (double& in : costs.cycles.winogradIn) in = 500;
    EXPECT_NE(makeConvPlan(kernels, s, options(1))->algorithm().rfind("winograd", 0), 0u);
}

// With any caches all implementations compute the shapes that they accept.
TEST(CpuCosts, AnyBudgetComputesTheSame) {
    for (const int64_t level2 : {int64_t{64} << 10, int64_t{64} << 20}) {
        const CpuCosts costs = costsOf(Isa::Avx512, {{32 << 10, level2}});
        int checked = 0;
        for (const ConvImplementation* each : convImplementations()) {
            SCOPED_TRACE(each->name);
            const auto checkOne = [&](const ConvShape& s, const ConvOptions& o) {
                Case c{s, o};
                c.costs = &costs;
                c.tolerance = each->contests ? 1.6e-5 : 2e-6;
                checked += check(c, each);
            };
            checkOne(shape(131, 17, 15, 70, 1), options(1));
            checkOne(shape(67, 23, 21, 130, 3, 1, 1, 1), options(1));
            checkOne(shape(3, 37, 41, 35, 3, 2, 1, 1), options(1, false, true));
            checkOne(shape(40, 19, 18, 40, 3, 1, 1, 1), options(10));
        }
        EXPECT_GT(checked, 8);
    }
}

}  // namespace
}  // namespace mnnc::test
