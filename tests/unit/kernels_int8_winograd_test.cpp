// Exact Winograd convolutions of int8: the sums are those of the definition for the largest codes, any number of
// channels and of tiles, and the plan is chosen where it has fewer products.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/cpu/kernels/int8/int8_conv.h"
#include "backends/cpu/kernels/int8/int8_winograd.h"
#include "base/aligned.h"
#include "int8_reference.h"
#include "int8_variants.h"

namespace mnnc::test {
namespace {

// Checks every table with such products, on one thread and on three.
void expectSums(const ConvShape& s, const Bytes& src, const Bytes& weights, int padding) {
    std::vector<int32_t> want;
    for (int n = 0; n < s.batch; ++n)
        for (int o = 0; o < s.oc; ++o)
            for (int i = 0; i < s.oh * s.ow; ++i)
                want.push_back(static_cast<int32_t>(window(s, 1, src, weights, padding, n, o, i / s.ow, i % s.ow).sum));
    int tables = 0;
    for (const Variant& variant : variants()) {
        if (!int8WinogradAccepts(variant.kernels, s, {})) continue;
        ++tables;
        const int lanes = variant.kernels.lanes;
        const auto plan = makeInt8WinogradPlan(variant.kernels, s);
        const Bytes input = packed(src, s.batch, s.ic, s.ih * s.iw, lanes);
        for (const int threads : {1, 3}) {
            ForkJoinPool pool(threads);
            AlignedBuffer codes(plan->packedWeightBytes()), scratch(plan->scratchBytes(threads));
            plan->packQuantized({weights, {}, {}}, codes.data(), pool);
            std::vector<int32_t> sums(
                static_cast<size_t>(s.batch * ((s.oc + lanes - 1) / lanes) * lanes * s.oh * s.ow));
            plan->runSums(input.data(), codes.data(), sums.data(), padding, scratch.data(), pool);
            ASSERT_EQ(unpacked(sums.data(), s.batch, s.oc, s.oh * s.ow, lanes), want)
                << variant.name << ", " << threads << " threads";
        }
    }
    EXPECT_GT(tables, 0);
}

size_t codesOf(const ConvShape& s) {
    return static_cast<size_t>(s.batch * s.ic * s.ih * s.iw);
}
size_t weightsOf(const ConvShape& s) {
    return static_cast<size_t>(s.oc * s.ic * 9);
}

// The sums reach the limits of the range for one part of the channels.
TEST(Int8Winograd, LargestSums) {
    for (const int ic : {kInt8WinogradChannels, kInt8WinogradChannels + 1, 2 * kInt8WinogradChannels + 40}) {
        const ConvShape s = shape(1, ic, 6, 6, 3, 3, 3, 1, 1);
        Bytes weights(weightsOf(s), -128);
        for (size_t i = weights.size() / 3; i < weights.size(); ++i)
            weights[i] = i < weights.size() / 3 * 2 ? int8_t{127} : static_cast<int8_t>(i % 2 ? 127 : -128);
        expectSums(s, Bytes(codesOf(s), -128), weights, -128);
        expectSums(s, Bytes(codesOf(s), 127), weights, 127);
    }
}

// The numbers between the transforms are the largest possible: codes of alternating signs.
TEST(Int8Winograd, LargestTransforms) {
    const ConvShape s = shape(1, 40, 9, 10, 18, 3, 3, 1, 1);
    for (int pattern = 0; pattern < 4; ++pattern) {
        Bytes src(codesOf(s)), weights(weightsOf(s));
        for (size_t i = 0; i < src.size(); ++i) {
            const size_t x = i % 10, y = i / 10 % 9;
            src[i] = ((pattern & 1 ? x : x / 2) + (pattern & 2 ? y : y / 2)) % 2 ? int8_t{127} : int8_t{-128};
        }
        for (size_t i = 0; i < weights.size(); ++i)
            weights[i] = (i % 9 % 3 + i % 9 / 3 + static_cast<size_t>(pattern)) % 2 ? int8_t{127} : int8_t{-128};
        expectSums(s, src, weights, pattern % 2 ? 127 : -128);
    }
}

// Several chunks of tiles, whose weights are transformed at once or for each chunk; tiles of several images.
TEST(Int8Winograd, ManyTiles) {
    for (const ConvShape& s : {shape(1, 36, 61, 63, 21, 3, 3, 1, 1), shape(3, 70, 18, 15, 40, 3, 3, 1, 2),
                               shape(13, 33, 5, 3, 80, 3, 3), shape(1, 9, 3, 90, 5, 3, 3, 1, 1)})
        expectSums(s, randomBytes(codesOf(s), 1), randomBytes(weightsOf(s), 2), 7);
    ConvShape cut = shape(2, 20, 30, 21, 17, 3, 3);  // the last rows and columns of tiles are cut off
    cut.oh -= 3;
    cut.ow -= 2;
    cut.padTop = 2;
    expectSums(cut, randomBytes(codesOf(cut), 3), randomBytes(weightsOf(cut), 4), -90);
}

TEST(Int8Winograd, IsTakenWhereItIsFaster) {
    for (const Variant& variant : variants()) {
        const auto algorithm = [&](const ConvShape& s, const Int8ConvOptions& options = {}) {
            const std::string text = makeInt8ConvPlan(variant.kernels, s, options)->algorithm();
            return text.substr(0, text.rfind(' '));  // without the kind of products
        };
        const bool has = variant.kernels.int8->winograd != nullptr;
        EXPECT_EQ(algorithm(shape(1, 64, 56, 56, 64, 3, 3, 1, 1)), has ? "int8 winograd4" : "int8 direct")
            << variant.name;
        EXPECT_EQ(algorithm(shape(1, 64, 56, 56, 64, 3, 3, 2, 1)), "int8 direct") << variant.name;
        EXPECT_EQ(algorithm(shape(1, 64, 56, 56, 64, 3, 3, 1, 2, 2)), "int8 direct") << variant.name;
        EXPECT_EQ(algorithm(shape(1, 64, 56, 56, 64, 3, 1, 1, 1)), "int8 direct") << variant.name;
        EXPECT_EQ(algorithm(shape(1, 64, 3, 3, 64, 3, 3, 1, 0)), "int8 direct") << variant.name;
        EXPECT_EQ(algorithm(shape(1, 64, 56, 56, 64, 3, 3, 1, 1), {2}), "int8 grouped") << variant.name;
        EXPECT_EQ(algorithm(shape(1, 64, 56, 56, 64, 3, 3, 1, 1), {1, false, true}), "int8 direct") << variant.name;
        EXPECT_EQ(algorithm(shape(1, 3, 56, 56, 64, 3, 3, 1, 1)), "int8 first") << variant.name;
    }
}

}  // namespace
}  // namespace mnnc::test
