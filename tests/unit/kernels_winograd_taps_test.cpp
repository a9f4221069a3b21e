// Winograd convolutions whose weights stay taps, which a run transforms, and those with 5x5 taps.
#include <string>
#include <tuple>

#include "base/aligned.h"
#include "conv_case.h"

namespace mnnc::test {
namespace {

// The output of a plan on as many threads as it was made for.
Floats outputOf(const ConvPlan& plan, const ConvShape& s, int threads, const Floats& x, const Floats& w) {
    const int P = selectKernels().lanes;
    ForkJoinPool pool(threads);
    RunLease lease(pool);
    AlignedBuffer packed(plan.packedWeightBytes()), scratch(plan.scratchBytes(threads));
    plan.packWeights(w.data(), packed.data(), lease.pool());
    const std::vector<float> bias = paddedBias(nullptr, s.oc);
    PostOps post;
    post.bias = bias.data();
    Floats y(size_t(ceilDiv(s.oc, P)) * P * s.oh * s.ow);
    plan.run(x.data(), packed.data(), y.data(), post, scratch.data(), lease.pool());
    return y;
}

// Weights that a run transforms give the same numbers up to the rounding of another order, in less memory.
TEST(KernelsConv, WinogradKeepsTapsWhereMemoryIsLow) {
    for (const ConvAlgorithm a : {ConvAlgorithm::Winograd2, ConvAlgorithm::Winograd4, ConvAlgorithm::Winograd6}) {
        const int unit = 2 * (static_cast<int>(a) - static_cast<int>(ConvAlgorithm::Winograd2) + 1);
        ConvOptions low = options(1, false, false, a);
        low.lowMemory = true;
        for (const int threads : {1, 3}) {
            low.threads = threads;
            for (const auto& [ic, size, oc, batch] :
                 {std::tuple(35, 7, 50, 1), std::tuple(200, 3, 33, 2), std::tuple(515, 4, 160, 1)}) {
                Case c{shape(ic, size, size + 1, oc, 3, 1, 1, 1, batch), low};
                c.tolerance = 1.6e-5;
                c.residual = true;
                c.lo = 0;
                check(c);
                const auto plan = makeConvPlan(selectKernels(), c.s, low);
                EXPECT_EQ(plan->algorithm(), "winograd" + std::to_string(unit) + ".taps");
                const int lanes = selectKernels().lanes;
                EXPECT_EQ(plan->packedWeightBytes(), int64_t{9} * ic * ((oc + lanes - 1) / lanes) * lanes * 4);
            }
        }
    }
    // The transforms of a map of some size are computed in chunks.
    ConvOptions low = options(1, false, false, ConvAlgorithm::Winograd4);
    low.lowMemory = true;
    EXPECT_EQ(makeConvPlan(selectKernels(), shape(256, 60, 60, 256, 3, 1, 1, 1), low)->algorithm(), "winograd4");
    // Without the option this applies only to weights that would be very large.
    low.lowMemory = false;
    EXPECT_EQ(makeConvPlan(selectKernels(), shape(384, 9, 9, 384, 3, 1, 1, 1), low)->algorithm(), "winograd4");
    EXPECT_EQ(makeConvPlan(selectKernels(), shape(2048, 9, 9, 512, 3, 1, 1, 1), low)->algorithm(), "winograd4.taps");
}

// From 256 tiles on a run also transforms the weights, with the same bits as weights that are transformed before.
TEST(KernelsConv, WinogradTransformsInTheRunForManyTiles) {
    const int P = selectKernels().lanes;
    const ConvShape many = shape(37, 90, 103, 70, 3, 1, 1, 1), few = shape(37, 58, 61, 70, 3, 1, 1, 1);
    for (const int threads : {1, 3}) {
        for (const auto& [a, name] :
             {std::pair(ConvAlgorithm::Winograd2, "winograd2"), std::pair(ConvAlgorithm::Winograd4, "winograd4"),
              std::pair(ConvAlgorithm::Winograd6, "winograd6")}) {
            SCOPED_TRACE(std::string(name) + " on " + std::to_string(threads));
            Case c{many, options(1, false, false, a)};
            c.o.threads = threads;
            c.tolerance = 1.6e-5;
            c.residual = true;
            c.lo = 0;
            check(c);
            const auto plan = makeConvPlan(selectKernels(), many, c.o);
            EXPECT_EQ(plan->algorithm(), std::string(name) + ".taps");
            EXPECT_EQ(plan->packedWeightBytes(), int64_t{9} * 37 * ((70 + P - 1) / P) * P * 4);
            ConvOptions shared = c.o;
            shared.onePacking = true;
            const auto before = makeConvPlan(selectKernels(), many, shared);
            EXPECT_EQ(before->algorithm(), name);
            const Floats x = randomFloats(size_t(P) * ((37 + P - 1) / P) * 90 * 103, 5),
                         w = randomFloats(size_t{70} * 37 * 9, 6);
            const Floats results[] = {outputOf(*before, many, threads, x, w), outputOf(*plan, many, threads, x, w)};
            for (size_t i = 0; i < results[0].size(); ++i) {
                if (i / P / (90 * 103) * P + i % P >= 70) continue;  // behind the last channel
                ASSERT_EQ(results[0][i], results[1][i]) << i;
            }
        }
    }
    EXPECT_EQ(makeConvPlan(selectKernels(), few, options(1, false, false, ConvAlgorithm::Winograd6))->algorithm(),
              "winograd6");
    // Weights that would be large are transformed before.
    EXPECT_EQ(makeConvPlan(selectKernels(), shape(128, 128, 128, 144, 3, 1, 1, 1),
                           options(1, false, false, ConvAlgorithm::Winograd6))
                  ->algorithm(),
              "winograd6");
}

// With many threads panels are narrower, which changes nothing about sums: they are cut at the same channels.
TEST(KernelsConv, WinogradPanelsGiveTheSameBitsOnManyThreads) {
    const int P = selectKernels().lanes;
    const ConvShape s = shape(1100, 5, 6, 330, 3, 1, 1, 1);
    const Floats x = randomFloats(size_t(P) * ceilDiv(1100, P) * 5 * 6, 5), w = randomFloats(size_t{330} * 1100 * 9, 6);
    for (const ConvAlgorithm a : {ConvAlgorithm::Winograd2, ConvAlgorithm::Winograd4, ConvAlgorithm::Winograd6}) {
        Floats first;
        for (const int threads : {1, 2, 3, 5, 16}) {
            ConvOptions low = options(1, false, false, a);
            low.lowMemory = true;
            low.threads = threads;
            const Floats y = outputOf(*makeConvPlan(selectKernels(), s, low), s, threads, x, w);
            if (threads == 1) first = y;
            for (size_t i = 0; i < y.size(); ++i) {
                if (i / P / (5 * 6) * P + i % P >= 330) continue;  // behind the last channel
                ASSERT_EQ(y[i], first[i]) << threads;
            }
        }
    }
}

// Transposed convolutions of 4x4 taps with a stride of two have phases of 2x2.
TEST(KernelsConv, WinogradOfTwoByTwoTaps) {
    for (const auto& [a, name] : {std::pair(ConvAlgorithm::Winograd2, std::string("winograd2.2x2")),
                                  std::pair(ConvAlgorithm::Winograd4, std::string("winograd4.2x2"))}) {
        const auto checkIt = [&](const ConvShape& s, const ConvOptions& o, const std::string& expected) {
            Case c{s, o};
            c.tolerance = 1.6e-5;
            EXPECT_EQ(makeConvPlan(selectKernels(), s, o)->algorithm(), expected);
            check(c);
            c.residual = true;
            c.act = Act::Silu;
            check(c);
        };
        ConvOptions o = options(1, false, false, a);
        for (const int size : {2, 3, 5, 8, 14}) checkIt(shape(35, size, size + 1, 50, 2, 1, 1, size % 2, 2), o, name);
        checkIt(shape(37, 90, 103, 30, 2, 1, 1, 1), o, name + ".taps");
        for (const int bits : {8, 4}) {
            Case c{shape(33, 10, 9, 20, 2, 1, 1, 1, 2), o};
            c.o.quantization = {bits, 3};
            c.tolerance = 1.6e-5;
            check(c);
        }
        o.lowMemory = true;
        checkIt(shape(200, 4, 3, 33, 2, 1, 1, 1, 2), o, name + ".taps");
    }
}

TEST(KernelsConv, WinogradOfFiveByFiveTaps) {
    const auto check5 = [](const ConvShape& s, ConvOptions o, const std::string& name) {
        Case c{s, o};
        c.tolerance = 2e-5;
        EXPECT_EQ(makeConvPlan(selectKernels(), s, o)->algorithm(), name);
        check(c);
        c.residual = true;
        c.lo = 0;
        check(c);
    };
    ConvOptions plain = options(1, false, false, ConvAlgorithm::Winograd4);
    for (const int size : {1, 3, 4, 5, 8, 14, 23})
        check5(shape(35, size, size + 1, 50, 5, 1, 1, 2), plain, "winograd4.5x5");
    check5(shape(64, 40, 41, 33, 5, 1, 1, 0, 2), plain, "winograd4.5x5");
    check5(shape(9, 5, 6, 12, 5, 1, 1, 21), plain, "winograd4.5x5");  // a border wider than a tile
    check5(shape(37, 90, 103, 30, 5, 1, 1, 2), plain, "winograd4.5x5.taps");
    Case c{shape(20, 11, 9, 17, 5, 1, 1, 2), plain};
    c.act = Act::Silu;
    c.tolerance = 2e-5;
    check(c);
    for (const int bits : {8, 4}) {
        c = {shape(33, 10, 9, 20, 5, 1, 1, 2, 2), plain};
        c.o.quantization = {bits, 3};
        c.tolerance = 2e-5;
        check(c);
    }
    // The choice: not where outputs fill a small part of a tile.
    EXPECT_EQ(makeConvPlan(selectKernels(), shape(64, 27, 27, 192, 5, 1, 1, 2), options(1))->algorithm(),
              "winograd4.5x5");
    EXPECT_NE(makeConvPlan(selectKernels(), shape(64, 1, 1, 192, 5, 1, 1, 2), options(1))->algorithm(),
              "winograd4.5x5");

    const int P = selectKernels().lanes;
    const ConvShape s = shape(515, 5, 6, 130, 5, 1, 1, 2);
    const Floats x = randomFloats(size_t(P) * ceilDiv(515, P) * 5 * 6, 5), w = randomFloats(size_t{130} * 515 * 25, 6);
    Floats first;
    for (const int threads : {1, 2, 3, 16}) {
        ConvOptions low = plain;
        low.lowMemory = true;
        low.threads = threads;
        check5(shape(200, 3, 3, 33, 5, 1, 1, 2, 2), low, "winograd4.5x5.taps");
        const auto plan = makeConvPlan(selectKernels(), s, low);
        EXPECT_EQ(plan->packedWeightBytes(), int64_t{25} * 515 * ceilDiv(130, P) * P * 4);
        const Floats y = outputOf(*plan, s, threads, x, w);
        if (threads == 1) first = y;
        for (size_t i = 0; i < y.size(); ++i) {
            if (i / P / (5 * 6) * P + i % P >= 130) continue;  // behind the last channel
            ASSERT_EQ(y[i], first[i]) << threads;
        }
    }
}

}  // namespace
}  // namespace mnnc::test
