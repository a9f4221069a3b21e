// Group convolutions that are computed as a convolution for each group, and products of one block of channels.
#include <stdexcept>
#include <string>

#include "conv_case.h"

namespace mnnc::test {
namespace {

constexpr double kTolerance = 1.6e-5;

const ConvImplementation& separateGroups() {
    for (const ConvImplementation* each : convImplementations())
        if (each->name == std::string("separate_groups")) return *each;
    throw std::logic_error("there is no such implementation");
}

// Checks a convolution on the instruction sets that accept it. Returns their number.
int checkSeparate(const ConvShape& s, const ConvOptions& o) {
    Case c{s, o};
    c.tolerance = kTolerance;
    int checked = check(c, &separateGroups());
    c.residual = true;
    c.lo = 0;
    checked += check(c, &separateGroups());
    c.bias = false;
    c.act = Act::Silu;
    return checked + check(c, &separateGroups());
}

TEST(KernelsConv, SeparateGroups) {
    for (const int width : {4, 8, 16, 32, 48}) {
        const int channels = 3 * width;
        const ConvOptions o = options(3);
        SCOPED_TRACE(width);
        for (const int size : {1, 3, 7, 14, 29})
            EXPECT_GT(checkSeparate(shape(channels, size, size + 1, channels, 3, 1, 1, 1), o), 0);
        EXPECT_GT(checkSeparate(shape(channels, 9, 8, channels, 3, 2, 1, 1, 3), o), 0);
        EXPECT_GT(checkSeparate(shape(channels, 9, 8, channels, 5, 1, 1, 2), o), 0);
        EXPECT_GT(checkSeparate(shape(channels, 6, 7, channels, 1, 1, 1, 0, 2), o), 0);
        EXPECT_GT(checkSeparate(shape(channels, 11, 12, channels, 3, 1, 3, 3), o), 0);
    }
    EXPECT_GT(checkSeparate(shape(64, 9, 8, 96, 3, 1, 1, 1, 2), options(2)), 0);
    EXPECT_GT(checkSeparate(transposedShape(64, 6, 5, 96, 4, 2, 1, 1), options(2, true)), 0);
}

// With fewer groups than threads, the threads share each group. A plan for any number of threads runs on any other.
TEST(KernelsConv, SeparateGroupsOnManyThreads) {
    const Kernels& k = selectKernels();
    for (const auto& [groups, planned] : {std::pair(2, 16), std::pair(2, 1), std::pair(5, 3), std::pair(12, 3)}) {
        const int channels = 32 * groups;
        const ConvShape s = shape(channels, 29, 30, channels, 3, 1, 1, 1);
        const Floats src = randomFloats(size_t(channels) * 29 * 30, 1), w = randomFloats(size_t(channels) * 32 * 9, 2);
        const Floats bias(size_t(channels) + 16, 0.25f);
        const size_t floats = packedFloats(k.lanes, 1, channels, 29 * 30);
        Floats first;
        for (const int threads : {1, 2, 3, 16}) {
            ConvOptions o = options(groups);
            o.threads = threads == 2 ? 2 : planned;
            const auto plan = separateGroups().make(k, s, o);
            ForkJoinPool pool(threads);
            RunLease lease(pool);
            const Aligned packedSrc = packNan(k, src, 1, channels, 29 * 30);
            Aligned packed(plan->packedWeightBytes()), dst(floats * 4), scratch(plan->scratchBytes(threads));
            plan->packWeights(w.data(), packed.data, lease.pool());
            PostOps post;
            post.bias = bias.data();
            plan->run(packedSrc.data, packed.data, dst.data, post, scratch.data, lease.pool());
            ASSERT_TRUE(scratch.guardIntact() && packed.guardIntact() && dst.guardIntact());
            const Floats result(dst.data, dst.data + floats);
            if (first.empty()) first = result;
            EXPECT_EQ(0, std::memcmp(first.data(), result.data(), floats * 4)) << groups << " groups, " << threads;
        }
    }
}

TEST(KernelsConv, SeparateGroupsDecline) {
    const Kernels& k = selectKernels();
    const auto accepts = [&](const ConvShape& s, const ConvOptions& o) { return separateGroups().accepts(k, s, o); };
    const ConvShape s = shape(64, 14, 14, 64, 3, 1, 1, 1);
    EXPECT_TRUE(accepts(s, options(2)));
    EXPECT_FALSE(accepts(s, options(1)));
    EXPECT_FALSE(accepts(s, options(64)));  // depthwise
    EXPECT_FALSE(accepts(s, options(2, false, false, ConvAlgorithm::Direct)));
    // Zeros between groups that share a vector would not keep an infinite number of one from the others.
    EXPECT_FALSE(accepts(s, options(32)));
    // Transformed weights are larger, which memory Low and large weights do not permit.
    ConvOptions low = options(2);
    low.lowMemory = true;
    EXPECT_FALSE(accepts(s, low));
    EXPECT_TRUE(accepts(shape(896, 14, 14, 896, 3, 1, 1, 1), options(4)));
    EXPECT_FALSE(accepts(shape(1024, 14, 14, 1024, 3, 1, 1, 1), options(4)));
}

TEST(KernelsConv, SmallGroupsTakeWinograd) {
    for (const std::string& isa : availableIsas()) {
        const Kernels& k = selectKernels(isa);
        // With vectors of four lanes, Winograd's products of eight channels cost more than direct ones on some CPUs.
        const int width = k.lanes > 4 ? k.lanes : 16;
        const auto plan = makeConvPlan(k, shape(12 * width, 28, 28, 12 * width, 3, 1, 1, 1), options(12));
        EXPECT_EQ(plan->algorithm().rfind("separate winograd", 0), 0u) << isa << " " << plan->algorithm();
    }
}

// A block of channels that becomes another one, from floats, taps and codes, whose results may end within the block.
TEST(KernelsConv, WinogradOfOneBlock) {
    for (const std::string& isa : availableIsas()) {
        const int lanes = selectKernels(isa).lanes;
        if (lanes == 4) continue;  // a first layer
        for (const int outputs : {lanes, lanes - 3}) {
            for (const int size : {6, 13, 30, 70}) {
                Case c{shape(lanes, size, size + 1, outputs, 3, 1, 1, 1, 2),
                       options(1, false, false, ConvAlgorithm::Winograd4)};
                c.tolerance = kTolerance;
                check(c);
                c.o.lowMemory = true;
                check(c);
                c.o.lowMemory = false;
                c.o.quantization = {8, 1, true};
                check(c);
            }
        }
    }
}

}  // namespace
}  // namespace mnnc::test
