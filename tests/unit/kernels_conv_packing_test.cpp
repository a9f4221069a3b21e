// Many weights are packed in chunks, each read when it is needed, with the same result as all at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "backends/cpu/kernels/conv/conv.h"
#include "base/aligned.h"

namespace mnnc::test {
namespace {

ConvShape square(int inputs, int outputs, int side, int kernel) {
    ConvShape s;
    s.ic = inputs, s.oc = outputs;
    s.ih = s.iw = s.oh = s.ow = side;
    s.kh = s.kw = kernel;
    s.padTop = s.padLeft = kernel / 2;
    return s;
}

class PackInChunks : public ::testing::TestWithParam<int> {
  protected:
    void expectForgets(const ConvShape& s, ConvAlgorithm algorithm) const {
        const size_t count = size_t(s.oc) * s.ic * s.kh * s.kw;
        std::vector<float> weights(count);
        std::mt19937 random(3);
        for (float& w : weights) w = std::uniform_real_distribution<float>(-1, 1)(random);
        ForkJoinPool pool(GetParam());
        for (const std::string& isa : availableIsas()) {
            ConvOptions options;
            options.algorithm = algorithm;
            const auto plan = makeConvPlan(selectKernels(isa), s, options);
            SCOPED_TRACE(isa + " " + plan->algorithm());
            const auto bytes = plan->packedWeightBytes();
            AlignedBuffer whole(bytes), pieces(bytes);
            std::memset(whole.data(), 0, whole.size());
            std::memset(pieces.data(), 0, pieces.size());
            plan->packWeights(weights.data(), whole.data(), pool);

            // Provides pieces in order; each is invalid when the next is requested.
            std::vector<float> piece;
            size_t asked = 0, calls = 0, largest = 0;
            const auto reader = [&](size_t first, size_t stretch) {
                EXPECT_EQ(first, asked);
                asked += stretch;
                ++calls;
                largest = std::max(largest, stretch);
                std::fill(piece.begin(), piece.end(), std::numeric_limits<float>::quiet_NaN());
                piece = std::vector<float>(weights.begin() + static_cast<ptrdiff_t>(first),
                                           weights.begin() + static_cast<ptrdiff_t>(first + stretch));
                return static_cast<const float*>(piece.data());
            };
            plan->packWeights(reader, pieces.data(), pool);
            EXPECT_EQ(asked, count);
            EXPECT_GT(calls, 1u);
            EXPECT_LE(largest, count / 2);
            EXPECT_EQ(std::memcmp(whole.data(), pieces.data(), whole.size()), 0);
        }
    }
};

TEST_P(PackInChunks, Products) {
    expectForgets(square(1200, 983, 1, 1), ConvAlgorithm::Direct);
    expectForgets(square(1200, 960, 1, 1), ConvAlgorithm::Direct);
    expectForgets(square(200, 960, 5, 3), ConvAlgorithm::Direct);
}

TEST_P(PackInChunks, Winograd) {
    expectForgets(square(150, 983, 9, 3), ConvAlgorithm::Winograd4);
    expectForgets(square(150, 960, 9, 3), ConvAlgorithm::Winograd2);
    expectForgets(square(150, 960, 9, 3), ConvAlgorithm::Winograd4);
}

INSTANTIATE_TEST_SUITE_P(Threads, PackInChunks, ::testing::Values(1, 3));

TEST(PackInOneGo, FewWeightsAndTransposedOnes) {
    InlinePool pool;
    const auto calls = [&](const ConvShape& s, int groups, bool transposed) {
        ConvOptions options;
        options.groups = groups;
        options.transposed = transposed;
        const auto plan = makeConvPlan(selectKernels(), s, options);
        const size_t count = size_t(s.oc) * s.ic / groups * s.kh * s.kw;
        const std::vector<float> weights(count);
        AlignedBuffer packed(plan->packedWeightBytes());
        size_t heard = 0, asked = 0;
        const auto reader = [&](size_t first, size_t stretch) {
            ++heard;
            asked += stretch;
            return weights.data() + first;
        };
        plan->packWeights(reader, packed.data(), pool);
        EXPECT_EQ(asked, count);
        return heard;
    };
    EXPECT_EQ(calls(square(64, 64, 5, 1), 1, false), 1u);
    EXPECT_GT(calls(square(1200, 960, 1, 1), 1, false), 1u);
    EXPECT_EQ(calls(square(1200, 960, 1, 1), 1, true), 1u);  // its outputs are spread over all of the weights
    EXPECT_GT(calls(square(1200, 1200, 5, 3), 2, false), 1u);
    EXPECT_EQ(calls(square(1200, 1200, 5, 3), 1200, false), 1u);
    // There are groups that do not fill vectors, whose plan differs between instruction sets, and outputs that do not
    // fill panels.
    EXPECT_GE(calls(square(1530, 1530, 5, 3), 15, false), 1u);
    EXPECT_GT(calls(square(1200, 997, 1, 1), 1, false), 1u);
}

}  // namespace
}  // namespace mnnc::test
