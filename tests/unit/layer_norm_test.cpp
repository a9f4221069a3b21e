// LayerNorm over the channel and InstanceNorm, from the file's tables to values, against their formulas in double.
#include <gtest/gtest.h>

#include <cmath>

#include "net_builder.h"

namespace mnnc::test {
namespace {

constexpr int kBatch = 2, kChannels = 5, kPlane = 6;
constexpr float kEpsilon = 0.125f;

// Returns the values that runNet gives input 0.
double inputAt(int i) {
    return 3 * std::sin(static_cast<float>(i * 7 + 1));
}
float scaleOf(int channel) {
    return 1 + 0.25f * static_cast<float>(channel);
}
float biasOf(int channel) {
    return 0.5f - static_cast<float>(channel);
}

template <typename Element>
void expectEach(const std::vector<float>& got, Element expected) {
    ASSERT_EQ(got.size(), size_t{kBatch * kChannels * kPlane});
    for (int n = 0; n < kBatch; ++n)
        for (int c = 0; c < kChannels; ++c)
            for (int p = 0; p < kPlane; ++p) {
                const int i = (n * kChannels + c) * kPlane + p;
                ASSERT_NEAR(got[static_cast<size_t>(i)], expected(n, c, p, inputAt(i)), 1e-5)
                    << "batch " << n << ", channel " << c << ", place " << p;
            }
}

// Normalises `count` values of the input, `step` apart, to mean 0 and variance 1.
double normalised(double x, int first, int step, int count) {
    double mean = 0, variance = 0;
    for (int i = 0; i < count; ++i) mean += inputAt(first + i * step) / count;
    for (int i = 0; i < count; ++i) variance += std::pow(inputAt(first + i * step) - mean, 2) / count;
    return (x - mean) / std::sqrt(variance + kEpsilon);
}

class Net : public NetBuilder {
  public:
    int image() { return input({kBatch, kChannels, 2, 3}); }
    int layerNorm(int x, std::vector<int32_t> axes) {
        wire::LayerNormT norm;
        norm.axis = std::move(axes);
        norm.epsilon = kEpsilon;
        for (int c = 0; c < kChannels; ++c) {
            norm.gamma.push_back(scaleOf(c));
            norm.beta.push_back(biasOf(c));
        }
        const int y = add(wire::OpType::LayerNorm, {x}, std::move(norm));
        net_.oplists.back()->defaultDimentionFormat = wire::MNN_DATA_FORMAT::NC4HW4;
        return y;
    }
    int instanceNorm(std::vector<int32_t> inputs) {
        wire::BatchNormT norm;
        norm.channels = kChannels;
        norm.epsilon = kEpsilon;
        for (int c = 0; c < kChannels; ++c) {
            norm.slopeData.push_back(scaleOf(c));
            norm.biasData.push_back(biasOf(c));
        }
        return add(wire::OpType::InstanceNorm, std::move(inputs), std::move(norm));
    }
    // A value for each channel of each image.
    int perChannel(std::vector<float> values) {
        const int id = tensor();
        net_.oplists.push_back(makeConst(id, {kBatch, kChannels}, std::move(values)));
        return id;
    }
};

void refusesAxes(std::vector<int32_t> axes, Status status, const std::string& part) {
    class Axes : public NetBuilder {
      public:
        wire::NetT build(std::vector<int32_t> list) {
            wire::LayerNormT norm;
            norm.axis = std::move(list);
            norm.epsilon = kEpsilon;
            const int x = input({2, 3, 4});
            return finish({add(wire::OpType::LayerNorm, {x}, std::move(norm))});
        }
    } net;
    const wire::NetT built = net.build(std::move(axes));
    expectFailure(status, part, [&] { runNet(built); });
}

TEST(LayerNorm, RefusesAxesThatAreNoSet) {
    refusesAxes({1, 1}, Status::BadParameter, "axis 1 is normalised twice");
    refusesAxes({-1, 2}, Status::BadParameter, "axis 2 is normalised twice");
    refusesAxes({0, 1, 2, 0}, Status::ComputeSizeError, "4 axes are normalised, the input has rank 3");
    refusesAxes({0, 3}, Status::BadRange, "3");
    refusesAxes({-4}, Status::BadRange, "-4");
}

// Axes 0 and 2 of the sum of two inputs.
TEST(LayerNorm, OfASumOverAxesApart) {
    class Sum : public NetBuilder {
      public:
        wire::NetT build() {
            wire::LayerNormT norm;
            norm.axis = {0, 2};
            norm.epsilon = kEpsilon;
            const int x = input({2, 3, 4}), r = input({2, 3, 4});
            const int sum = add(wire::OpType::LayerNorm, {x, r}, std::move(norm)), y = tensor();
            net_.oplists.back()->outputIndexes.push_back(y);
            return finish({sum, y});
        }
    } net;
    const NetResult result = runNet(net.build());
    const std::vector<float>&sum = result.outputs[0], &y = result.outputs[1];
    ASSERT_EQ(sum.size(), 24u);
    ASSERT_EQ(y.size(), 24u);
    const auto at = [](int n, int row, int column) { return static_cast<size_t>((n * 3 + row) * 4 + column); };
    for (int row = 0; row < 3; ++row) {
        double mean = 0, variance = 0;
        for (int i = 0; i < 8; ++i) mean += sum[at(i / 4, row, i % 4)] / 8;
        for (int i = 0; i < 8; ++i) variance += std::pow(sum[at(i / 4, row, i % 4)] - mean, 2) / 8;
        for (int i = 0; i < 8; ++i) {
            const size_t place = at(i / 4, row, i % 4);
            EXPECT_NEAR(y[place], (sum[place] - mean) / std::sqrt(variance + kEpsilon), 1e-5) << place;
        }
    }
}

// In a net of packed channels the axes that the file names are ignored.
TEST(LayerNorm, OverTheChannel) {
    for (const std::vector<int32_t>& axes :
         {std::vector<int32_t>{}, std::vector<int32_t>{-1}, std::vector<int32_t>{1}}) {
        Net net;
        const NetResult result = runNet(net.finish({net.layerNorm(net.image(), axes)}));
        expectEach(result.outputs[0], [](int n, int c, int p, double x) {
            return normalised(x, n * kChannels * kPlane + p, kPlane, kChannels) * scaleOf(c) + biasOf(c);
        });
    }
}

TEST(InstanceNorm, OfTheImageItself) {
    Net net;
    const NetResult result = runNet(net.finish({net.instanceNorm({net.image()})}));
    expectEach(result.outputs[0], [](int n, int c, int, double x) {
        return normalised(x, (n * kChannels + c) * kPlane, 1, kPlane) * scaleOf(c) + biasOf(c);
    });
}

TEST(InstanceNorm, WithAGivenMeanAndVariance) {
    std::vector<float> mean, variance;
    for (int i = 0; i < kBatch * kChannels; ++i) {
        mean.push_back(static_cast<float>(i) - 4);
        variance.push_back(static_cast<float>(i) / 4);
    }
    Net net;
    const int x = net.image(), means = net.perChannel(mean), variances = net.perChannel(variance);
    const NetResult result = runNet(net.finish({net.instanceNorm({x, means, variances})}));
    expectEach(result.outputs[0], [&](int n, int c, int, double at) {
        const auto i = static_cast<size_t>(n * kChannels + c);
        return (at - mean[i]) / std::sqrt(double(variance[i]) + kEpsilon) * scaleOf(c) + biasOf(c);
    });
}

TEST(InstanceNorm, TakesNoMeanWithoutAVariance) {
    Net net;
    const int x = net.image(), means = net.perChannel(std::vector<float>(kBatch * kChannels));
    const wire::NetT made = net.finish({net.instanceNorm({x, means})});
    expectFailure(Status::ComputeSizeError, "one input, or three", [&] { runNet(made); });
}

}  // namespace
}  // namespace mnnc::test
