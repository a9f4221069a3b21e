// The list of implementations of float convolutions: which of them accept a shape, which one is chosen, and that each
// computes the shapes that it accepts.
#include "backends/cpu/kernels/conv/conv_implementations.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "backend/thread_pool.h"
#include "backends/cpu/kernels/conv/measure_conv.h"
#include "backends/cpu/kernels/cpu_costs.h"
#include "base/error.h"
#include "conv_case.h"

namespace mnnc::test {
namespace {

using Names = std::vector<std::string>;

Names candidates(const ConvShape& s, const ConvOptions& o, const Kernels& k = selectKernels()) {
    Names names;
    for (const ConvCandidate& candidate : convCandidates(k, s, o)) names.emplace_back(candidate.name);
    return names;
}

std::string chosen(const ConvShape& s, const ConvOptions& o, const Kernels& k = selectKernels()) {
    std::string name;
    for (const ConvCandidate& candidate : convCandidates(k, s, o))
        if (candidate.chosen) name += candidate.name;  // more than one would make a name that is not in the list
    return name;
}

TEST(KernelsConvImplementations, SpecialKindsComeFirst) {
    Names names;
    for (const ConvImplementation* each : convImplementations()) names.emplace_back(each->name);
    EXPECT_EQ(names, (Names{"depthwise",
                            "w8a16",
                            "grouped_planes",
                            "first_layer",
                            "pointwise",
                            "deconvolution",
                            "phased",
                            "direct",
                            "clipped",
                            "few_outputs",
                            "dilated",
                            "separate_groups",
                            "winograd2",
                            "winograd4",
                            "winograd6",
                            "winograd2.2x2",
                            "winograd4.2x2",
                            "winograd4.5x5",
                            "winograd4.1x3",
                            "winograd6.1x3",
                            "winograd4.1x5",
                            "winograd2.1x7",
                            "winograd4.3x1",
                            "winograd6.3x1",
                            "winograd4.5x1",
                            "winograd2.7x1",
                            "winograd2.stride2",
                            "winograd2.4x4.stride2",
                            "winograd2.5x5.stride2",
                            "winograd4.1x3.stride2",
                            "winograd4.3x1.stride2"}));
}

TEST(KernelsConvImplementations, AllThatAcceptAreListed) {
    EXPECT_EQ(candidates(shape(64, 14, 14, 64, 3, 1, 1, 1), options(1)),
              (Names{"direct", "clipped", "winograd2", "winograd4", "winograd6"}));
    EXPECT_EQ(candidates(shape(64, 14, 14, 64, 3, 2, 1, 1), options(1)),
              (Names{"direct", "clipped", "winograd2.stride2"}));
    EXPECT_EQ(candidates(shape(64, 14, 14, 64, 3, 1, 2, 2), options(1)), (Names{"direct", "clipped", "dilated"}));
    EXPECT_EQ(candidates(shape(64, 14, 14, 64, 1), options(1)), (Names{"pointwise", "direct"}));
    EXPECT_EQ(candidates(shape(3, 32, 32, 16, 3, 2, 1, 1), options(1)), (Names{"first_layer", "direct"}));
    EXPECT_EQ(candidates(shape(3, 32, 32, 16, 3, 2, 1, 1), options(1, false, true)), Names{"first_layer"});
    EXPECT_EQ(candidates(shape(32, 9, 9, 32, 3, 1, 1, 1), options(32)),
              (Names{"depthwise", "grouped_planes", "direct"}));
    EXPECT_EQ(candidates(shape(12, 9, 9, 24, 3, 1, 1, 1), options(4)), (Names{"grouped_planes", "direct"}));
    EXPECT_EQ(candidates(shape(32, 9, 9, 64, 3, 1, 1, 1), options(2)), (Names{"direct", "clipped", "separate_groups"}));
    EXPECT_EQ(candidates(transposedShape(16, 5, 6, 20, 3, 2, 1, 1), options(1, true)),
              (Names{"deconvolution", "phased", "clipped"}));
    EXPECT_EQ(candidates(transposedShape(16, 5, 6, 20, 3, 1, 2, 1), options(1, true)),
              (Names{"deconvolution", "clipped"}));
    EXPECT_EQ(candidates(transposedShape(16, 5, 6, 16, 3, 2, 1, 1), options(16, true)),
              (Names{"depthwise", "deconvolution"}));
    EXPECT_EQ(candidates(shape(20, 9, 9, 20, 3), options(1, false, true)), Names{});
    EXPECT_EQ(candidates(shape(3, 1, 1, 20, 1, 1, 1, 0, 9), options(1, false, true)), Names{"pointwise"});
    EXPECT_EQ(candidates(shape(64, 14, 14, 2, 3, 2, 1, 1), options(1)),
              (Names{"direct", "clipped", "few_outputs", "winograd2.stride2"}));
    EXPECT_EQ(candidates(shape(64, 14, 14, 1, 1), options(1)), (Names{"pointwise", "direct", "few_outputs"}));
}

TEST(KernelsConvImplementations, TheFirstIsTakenUnlessAnotherContests) {
    EXPECT_EQ(chosen(shape(64, 14, 14, 64, 1), options(1)), "pointwise");
    EXPECT_EQ(chosen(shape(32, 9, 9, 32, 3, 1, 1, 1), options(32)), "depthwise");
    EXPECT_EQ(chosen(shape(3, 32, 32, 16, 3, 2, 1, 1), options(1)), "first_layer");
    EXPECT_EQ(chosen(shape(64, 28, 28, 1, 5, 1, 1, 2), options(1)), "few_outputs");
    // The costs of this CPU decide among direct, clipped and Winograd: a later candidate replaces the best one before
    // it only if it needs less than the share CycleCosts::contest of its cycles.
    for (const int side : {2, 7, 14, 28, 56}) {
        for (const auto& [channels, stride] :
             {std::pair(8, 1), std::pair(64, 1), std::pair(512, 1), std::pair(64, 2)}) {
            const ConvShape s = shape(channels, side, side, channels, 3, stride, 1, 1);
            std::string expected;
            double best = 0;
            for (const ConvCandidate& candidate : convCandidates(selectKernels(), s, options(1))) {
                EXPECT_GT(candidate.cycles, 0);
                if (!expected.empty() && candidate.cycles >= best * CycleCosts{}.contest) continue;
                expected = candidate.name;
                best = candidate.cycles;
            }
            EXPECT_EQ(chosen(s, options(1)), expected) << channels << " channels, " << side;
        }
    }
}

// Groups of whole blocks cost what as many convolutions of one group cost: panels do not span groups.
TEST(KernelsConvImplementations, GroupsAreEstimatedOneByOne) {
    const int width = std::max(8, selectKernels().lanes), groups = 12;  // four channels are a first layer
    const auto cyclesOf = [](const ConvShape& s, const ConvOptions& o, const std::string& name) {
        for (const ConvCandidate& candidate : convCandidates(selectKernels(), s, o))
            if (candidate.name == name) return candidate.cycles;
        return 0.0;
    };
    for (const char* name : {"direct", "clipped"}) {
        const double one = cyclesOf(shape(width, 14, 14, width, 3, 1, 1, 1), options(1), name),
                     all = cyclesOf(shape(groups * width, 14, 14, groups * width, 3, 1, 1, 1), options(groups), name);
        EXPECT_NEAR(all / (groups * one), 1, 0.02) << name;
    }
}

// Transforms cost time in every form of Winograd's algorithm: with few channels they take longer than the products that
// they save. The 6 channels fill no vector: with whole vectors Winograd's products have faster kernels.
TEST(KernelsConvImplementations, TransformsAreNeverFree) {
    for (const auto& [kernel, stride] :
         {std::pair(2, 1), std::pair(3, 1), std::pair(3, 2), std::pair(4, 2), std::pair(5, 2)})
        EXPECT_EQ(chosen(shape(6, 27, 27, 8, kernel, stride), options(1)).rfind("winograd", 0), std::string::npos)
            << kernel << ", stride " << stride;
}

// Weights that are packed in each run are not transformed to a larger form, for which packing would allocate.
TEST(KernelsConvImplementations, PhasesNeedWeightsThatArePackedBefore) {
    const ConvShape s = transposedShape(256, 14, 14, 256, 4, 2, 1, 1);
    ConvOptions o = options(1, true);
    EXPECT_EQ(candidates(s, o), (Names{"deconvolution", "phased", "clipped"}));
    o.packedInRuns = true;
    EXPECT_EQ(candidates(s, o), (Names{"deconvolution", "clipped"}));
}

TEST(KernelsConvImplementations, ANamedAlgorithmIsTakenWhereItAccepts) {
    const ConvShape s = shape(64, 14, 14, 64, 3, 1, 1, 1), wide = shape(64, 14, 14, 64, 5, 1, 1, 2);
    const auto named = [](ConvAlgorithm a) { return options(1, false, false, a); };
    EXPECT_EQ(chosen(s, named(ConvAlgorithm::Direct)), "direct");
    EXPECT_EQ(chosen(s, named(ConvAlgorithm::Winograd2)), "winograd2");
    EXPECT_EQ(chosen(s, named(ConvAlgorithm::Winograd4)), "winograd4");
    EXPECT_EQ(chosen(s, named(ConvAlgorithm::Winograd6)), "winograd6");
    EXPECT_EQ(chosen(wide, named(ConvAlgorithm::Winograd6)), "direct");
    EXPECT_EQ(chosen(wide, named(ConvAlgorithm::Winograd4)), "winograd4.5x5");
}

TEST(KernelsConvImplementations, W8A16StandsInForExpandedWeights) {
    Kernels k = selectKernels();
    if (!k.w8a16) GTEST_SKIP() << "this CPU has no products of 16-bit integers";
    const ConvShape s = shape(512, 7, 7, 512, 1);
    ConvOptions o = options(1);
    o.quantization = {8, 1, true};
    EXPECT_EQ(candidates(s, o, k), (Names{"w8a16", "pointwise", "direct"}));
    EXPECT_EQ(chosen(s, o, k), "w8a16");
    o.exact = true;
    EXPECT_EQ(chosen(s, o, k), "pointwise");
    o.exact = false;
    k.w8a16 = nullptr;
    EXPECT_EQ(chosen(s, o, k), "pointwise");
}

// There is one time for each implementation, for weights of every kind.
TEST(KernelsConvImplementations, AllCandidatesAreMeasured) {
    ForkJoinPool pool(2);
    RunLease lease(pool);
    ConvOptions quantized = options(1), blocks = options(1), bf16 = options(1), low = options(1);
    quantized.quantization = {8, 1, true};
    blocks.quantization = {4, 2, false};
    bf16.bf16 = true;
    low.lowMemory = true;
    ConvShape column = shape(64, 99, 1, 50, 1);
    column.kh = 3;
    column.oh = 97;
    const std::pair<ConvShape, ConvOptions> cases[] = {
        {shape(64, 9, 7, 50, 3, 1, 1, 1), options(1)},
        {shape(64, 9, 7, 50, 3, 1, 1, 1), low},
        {shape(3, 9, 7, 50, 3, 2, 1, 1), options(1)},
        {shape(48, 9, 7, 48, 5, 1, 1, 2), options(48)},
        {shape(64, 9, 7, 50, 1), quantized},
        {shape(64, 9, 7, 50, 1), blocks},
        {shape(64, 9, 7, 50, 3, 1, 1, 1), quantized},
        {shape(64, 9, 7, 50, 3, 1, 1, 1), bf16},
        {column, options(1)},
    };
    for (const auto& [s, o] : cases) {
        const std::vector<double> times = measureConvCandidates(selectKernels(), s, o, lease.pool());
        EXPECT_EQ(times.size(), convCandidates(selectKernels(), s, o).size());
        for (const double ms : times) EXPECT_GT(ms, 0);
    }
}

// This includes those that are never chosen because another precedes them.
TEST(KernelsConvImplementations, EachComputesWhatItAccepts) {
    int checked = 0;
    for (const ConvImplementation* each : convImplementations()) {
        SCOPED_TRACE(each->name);
        const auto checkOne = [&](const ConvShape& s, const ConvOptions& o) {
            Case c{s, o};
            c.tolerance = (each->contests ? 1.6e-5 : 2e-6) * (s.ic > 300 ? 4 : 1);  // long sums
            c.residual = true;
            c.lo = -1;
            checked += check(c, each);
        };
        checkOne(shape(37, 7, 9, 21, 1), options(1));
        checkOne(shape(35, 9, 10, 20, 3, 1, 1, 1, 2), options(1));
        checkOne(shape(35, 5, 6, 20, 3, 1, 1, 1, 7), options(1));
        checkOne(shape(35, 13, 10, 20, 3, 2, 1, 1, 2), options(1));
        checkOne(shape(20, 9, 10, 20, 3, 2, 1, 1), options(20));
        checkOne(shape(24, 9, 8, 36, 3, 1, 1, 1), options(12));
        checkOne(shape(35, 7, 8, 20, 3, 1, 6, 6, 2), options(1));
        checkOne(shape(35, 7, 8, 20, 3, 1, 12, 12), options(1));
        checkOne(shape(35, 13, 11, 20, 3, 1, 3, 2, 2), options(1));
        // 1501 channels are summed in slices; in the first shape all taps but one are outside of the map.
        checkOne(shape(1501, 14, 13, 20, 3, 1, 14, 14), options(1));
        checkOne(shape(1501, 14, 13, 20, 1), options(1));
        checkOne(shape(1501, 14, 13, 20, 3, 1, 1, 1), options(1));
        checkOne(shape(301, 17, 24, 20, 8, 8), options(1));
        // Large weights are read once for all parts of the map.
        checkOne(shape(700, 14, 14, 130, 3, 2, 1, 1), options(1));
        checkOne(shape(515, 7, 7, 130, 3, 1, 1, 1), options(1));
        // A single pixel is multiplied by two panels at a time, but not by panels of two groups.
        checkOne(shape(37, 1, 1, 205, 1), options(1));
        checkOne(shape(37, 3, 3, 150, 3), options(1));
        checkOne(shape(96, 1, 1, 288, 1), options(3));
        checkOne(shape(90, 48, 57, 70, 8, 8), options(1));  // several slices of taps, several panels
        checkOne(shape(18, 11, 12, 33, 5, 2, 2, 3), options(1));
        // The regions are higher than wide, on a small map and on one that is larger than the first level cache.
        checkOne(oneRowKernel(shape(20, 13, 11, 20, 9, 1, 1, 4, 2)), options(1));
        checkOne(oneRowKernel(shape(20, 13, 11, 20, 9, 2, 1, 4)), options(1));
        checkOne(oneRowKernel(shape(20, 25, 31, 20, 7, 1, 1, 3)), options(1));
        checkOne(transposedShape(20, 9, 3, 20, 5, 2, 1, 2), options(1, true));
        // One output and several, whose last vector of inputs is not full, and lines that are cut into pieces.
        for (const int outputs : {1, 2, 3, 4, 5, 8}) checkOne(shape(37, 9, 14, outputs, 3, 1, 1, 1, 2), options(1));
        checkOne(shape(64, 30, 11, 2, 5, 2, 1, 2), options(1));
        checkOne(shape(21, 11, 12, 1, 3, 1, 4, 4, 3), options(1));
        checkOne(oneRowKernel(shape(20, 3, 701, 1, 3, 1, 1, 1)), options(1));
        checkOne(shape(1501, 7, 5, 2, 1), options(1));
        checkOne(shape(64, 6, 5, 32, 1), options(2));
        // Groups of one vector and of several, on a map that many taps leave.
        for (const int groups : {2, 4, 8, 16}) checkOne(shape(64, 9, 8, 64, 3, 1, 4, 4, 2), options(groups));
        for (const int groups : {2, 4, 8, 16}) checkOne(shape(64, 9, 8, 64, 3, 1, 1, 1), options(groups));
        checkOne(shape(3, 15, 14, 20, 3, 2, 1, 1), options(1));
        checkOne(shape(3, 15, 14, 20, 3, 1, 2, 2), options(1, false, true));
        checkOne(transposedShape(20, 5, 6, 20, 3, 2, 1, 1), options(20, true));
        checkOne(transposedShape(12, 5, 6, 18, 3, 2, 1, 1), options(3, true));
    }
    EXPECT_GE(checked, 20);
}

// The last vector of a row-major result is not full. A single row is multiplied by two panels at a time.
TEST(KernelsConvImplementations, RowMajorResults) {
    for (const int outputs : {5, 77, 205}) {
        for (const int rows : {1, 7}) {
            Case c{shape(37, 1, 1, outputs, 1, 1, 1, 0, rows), options(1)};
            c.o.dstRowMajor = true;
            c.residual = true;
            check(c);
        }
    }
}

// A map that is one pixel wide is treated as one that is one pixel high.
TEST(KernelsConvImplementations, OneColumn) {
    const auto column = [](ConvShape s) {
        s.iw = s.ow = s.kw = s.strideW = s.dilateW = 1;
        s.padLeft = 0;
        return s;
    };
    for (const int stride : {1, 2, 5}) {
        Case c{column(shape(37, 101, 1, 20, 3, stride, 1, 1, 2)), options(1)};
        c.residual = true;
        check(c);
        check({column(shape(1, 101, 1, 20, 10, stride, 1, 3)), options(1, false, true)});
        check({column(shape(20, 50, 1, 20, 3, stride, 2, 2)), options(20)});
        check({column(transposedShape(12, 25, 1, 18, 3, stride, 1, 0)), options(1, true)});
    }
    EXPECT_EQ(candidates(column(shape(37, 101, 1, 20, 3, 1, 1, 1)), options(1)),
              (Names{"direct", "clipped", "winograd4.1x3", "winograd6.1x3"}));
}

// A signal of a million samples is one row: the numbers of its vectors, times those of its tiles, exceed 32 bits.
TEST(KernelsConvImplementations, LongSignalsOfGroups) {
    for (const ConvImplementation* each : convImplementations()) {
        if (each->name != std::string("grouped_planes")) continue;
        for (const int outputs : {1, 2, 4}) {
            ConvShape s = shape(4, 1, 1100000, 2 * outputs, 1);
            s.kw = 3;
            s.padLeft = 1;
            Case c{s, options(2)};
            c.tolerance = 2e-6;
            EXPECT_GT(check(c, each), 0) << outputs;
        }
        return;
    }
    FAIL() << "there is no grouped_planes";
}

// The product of these extents is 1 in 32 bits.
TEST(KernelsConvImplementations, ALongRowIsNotFullyConnected) {
    ConvShape s = shape(3, 1, 130561, 4, 1);
    s.ow = 131585;
    EXPECT_FALSE(isFullyConnected(s, options(1)));
    EXPECT_TRUE(isFullyConnected(shape(3, 1, 1, 4, 1), options(1)));
}

TEST(KernelsConvImplementations, FloatsAreNotPackedWhereWeightsStayQuantised) {
    ConvOptions o = options(1);
    o.quantization = {8, 1, true};
    const auto plan = makeConvPlan(selectKernels(), shape(32, 5, 5, 32, 1), o);
    ASSERT_EQ(plan->floatPacker(), nullptr);
    InlinePool pool;
    const Floats weights(32 * 32);
    Aligned packed(size_t(plan->packedWeightBytes()));
    EXPECT_THROW(plan->packWeights(weights.data(), packed.data, pool), Error);
}

TEST(KernelsConvImplementations, ImpossibleShapes) {
    EXPECT_THROW(convCandidates(selectKernels(), shape(10, 9, 9, 20, 3), options(3)), Error);
    EXPECT_THROW(makeConvPlan(selectKernels(), shape(20, 9, 9, 20, 3), options(1, false, true)), Error);
    ConvShape s = shape(10, 9, 9, 20, 3);
    s.strideH = 0;
    EXPECT_THROW(makeConvPlan(selectKernels(), s, options(1)), Error);
}

}  // namespace
}  // namespace mnnc::test
