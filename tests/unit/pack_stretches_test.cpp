// Many weights are packed in stretches: what was read may be gone, and the result is as of one go.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "backends/cpu/kernels/conv.h"
#include "base/aligned.h"

namespace mnnc {
namespace {

ConvShape square(int inputs, int outputs, int side, int kernel) {
    ConvShape s;
    s.ic = inputs, s.oc = outputs;
    s.ih = s.iw = s.oh = s.ow = side;
    s.kh = s.kw = kernel;
    s.padTop = s.padLeft = kernel / 2;
    return s;
}

class PackStretches : public ::testing::TestWithParam<int> {
  protected:
    // Outputs that divide into equal panels of any width.
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
            const auto bytes = static_cast<int64_t>(plan->packedWeightBytes());
            AlignedBuffer whole(bytes), pieces(bytes);
            std::memset(whole.data(), 0, whole.size());
            std::memset(pieces.data(), 0, pieces.size());
            plan->packWeights(weights.data(), whole.data(), pool);

            std::vector<size_t> stretches;
            plan->packWeights(weights.data(), pieces.data(), pool,
                              [&](size_t stretch) { stretches.push_back(stretch); });
            ASSERT_FALSE(stretches.empty());
            EXPECT_EQ(std::memcmp(whole.data(), pieces.data(), whole.size()), 0);

            // The same while everything that was read turns to NaN.
            size_t begin = count * sizeof(float);
            for (const size_t stretch : stretches) begin -= stretch;
            ASSERT_GT(begin, 0u);
            ASSERT_LT(begin, count * sizeof(float));
            std::vector<float> fading = weights;
            std::memset(pieces.data(), 0, pieces.size());
            plan->packWeights(fading.data(), pieces.data(), pool, [&](size_t stretch) {
                std::fill_n(fading.begin(), begin / sizeof(float), std::numeric_limits<float>::quiet_NaN());
                begin += stretch;
            });
            EXPECT_EQ(begin, count * sizeof(float));
            EXPECT_EQ(std::memcmp(whole.data(), pieces.data(), whole.size()), 0);
        }
    }
};

TEST_P(PackStretches, Products) {
    expectForgets(square(1200, 960, 1, 1), ConvAlgorithm::Direct);
    expectForgets(square(200, 960, 5, 3), ConvAlgorithm::Direct);
}

TEST_P(PackStretches, Winograd) {
    expectForgets(square(150, 960, 9, 3), ConvAlgorithm::Winograd2);
    expectForgets(square(150, 960, 9, 3), ConvAlgorithm::Winograd4);
}

INSTANTIATE_TEST_SUITE_P(Threads, PackStretches, ::testing::Values(1, 3));

TEST(PackInOneGo, FewWeightsAndTransposedOnes) {
    InlinePool pool;
    const auto hears = [&](const ConvShape& s, bool transposed) {
        ConvOptions options;
        options.transposed = transposed;
        const auto plan = makeConvPlan(selectKernels(), s, options);
        const std::vector<float> weights(size_t(s.oc) * s.ic * s.kh * s.kw);
        AlignedBuffer packed(static_cast<int64_t>(plan->packedWeightBytes()));
        size_t heard = 0;
        plan->packWeights(weights.data(), packed.data(), pool, [&](size_t) { ++heard; });
        return heard;
    };
    EXPECT_EQ(hears(square(64, 64, 5, 1), false), 0u);
    EXPECT_GT(hears(square(1200, 960, 1, 1), false), 0u);
    EXPECT_EQ(hears(square(1200, 960, 1, 1), true), 0u);  // its outputs are spread over all of the weights
}

}  // namespace
}  // namespace mnnc
