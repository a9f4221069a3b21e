// Results that overwrite an input: the memory that this saves, and that the numbers stay the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "net_builder.h"

namespace mnnc::test {
namespace {

int64_t arenaOf(const wire::NetT& net) {
    const auto interpreter = open(net);
    return Session(interpreter, {}).memory().arena;
}

constexpr int kWidth = 4096;
constexpr int64_t kTensor = kWidth * 4 + 64;  // with the slack behind it

TEST(ComputeInPlace, AChainOfOperatorsNeedsOneTensor) {
    NetBuilder steps;
    int y = steps.input({1, kWidth});
    for (int i = 0; i < 3; ++i) {
        y = steps.softmax(y);
        y = steps.relu(y, 0.5f);
    }
    EXPECT_EQ(arenaOf(steps.finish({y})), kTensor);
}

TEST(ComputeInPlace, EitherOperandMayBeOverwritten) {
    NetBuilder steps;
    const int x = steps.input({1, kWidth});
    const int a = steps.softmax(x), b = steps.relu(x);
    const int c = steps.softmax(steps.binary(BinaryCode::SUB, a, b));  // in the memory of a
    const int d = steps.softmax(steps.binary(BinaryCode::SUB, b, c));
    EXPECT_EQ(arenaOf(steps.finish({d})), 2 * kTensor);
}

TEST(ComputeInPlace, ATensorThatIsReadLaterIsKept) {
    NetBuilder steps;
    const int a = steps.softmax(steps.input({1, kWidth}));
    const int b = steps.softmax(a);
    const int c = steps.binary(BinaryCode::MUL, b, a);
    EXPECT_EQ(arenaOf(steps.finish({c})), 2 * kTensor);
    NetBuilder kept;
    const int x = kept.softmax(kept.input({1, kWidth}));
    EXPECT_EQ(arenaOf(kept.finish({kept.softmax(x), x})), 2 * kTensor);
}

TEST(ComputeInPlace, ASumOverwritesItsResidual) {
    NetBuilder steps;
    const int x = steps.conv(steps.input({1, 5, 32, 32}), 5, 32, 3);
    const int y = steps.binary(BinaryCode::ADD, steps.conv(x, 32, 32, 3), x);  // x is read around each output
    const int z = steps.conv(y, 32, 32, 3);
    const int sum = steps.binary(BinaryCode::ADD, steps.conv(z, 32, 32, 3), y);
    const wire::NetT net = steps.finish({sum});
    const NetResult together = runNet(net), apart = runUnfused(net);
    ASSERT_EQ(together.ops.size(), 4u);
    for (size_t i = 0; i < together.outputs[0].size(); ++i)
        ASSERT_NEAR(together.outputs[0][i], apart.outputs[0][i], 1e-4f * std::fabs(apart.outputs[0][i]) + 1e-4f);
}

// Every kind of convolution reads the residual before it stores the sum, or does not overwrite it.
TEST(ComputeInPlace, ResidualsOfEveryConvolution) {
    const std::vector<std::function<int(NetBuilder&, int)>> kinds = {
        [](NetBuilder& s, int x) { return s.conv(x, 24, 24, 1); },
        [](NetBuilder& s, int x) { return s.conv(x, 24, 24, 3); },
        [](NetBuilder& s, int x) { return s.conv(x, 24, 24, 5); },
        [](NetBuilder& s, int x) { return s.depthwise(x, 24); },
        [](NetBuilder& s, int x) { return s.grouped(x, 24, 3); },
        [](NetBuilder& s, int x) { return s.grouped(x, 24, 6); },
    };
    for (const auto& kind : kinds)
        for (const bool activated : {false, true}) {
            NetBuilder steps;
            const int x = steps.input({2, 24, 15, 14});
            const int a = steps.softmax(steps.conv(x, 24, 24, 1)), b = steps.conv(x, 24, 24, 1);
            int sum = steps.binary(BinaryCode::ADD, kind(steps, b), steps.conv(a, 24, 24, 1));
            if (activated) sum = steps.unary(UnaryCode::TANH, sum);
            const wire::NetT net = steps.finish({sum});
            const NetResult apart = runUnfused(net);
            for (const int threads : {1, 2}) {
                SessionConfig config;
                config.backend.threads = threads;
                const NetResult together = runNet(net, config);
                for (size_t i = 0; i < together.outputs[0].size(); ++i)
                    ASSERT_NEAR(together.outputs[0][i], apart.outputs[0][i],
                                1e-4f * std::max(1.0f, std::fabs(apart.outputs[0][i])));
            }
        }
}

// The first row is subtracted from every row, so the difference must not overwrite it.
TEST(ComputeInPlace, ASliceOfTheInputPreventsOverwriting) {
    NetBuilder steps;
    const int x = steps.softmax(steps.input({4, 64}));
    const int first = steps.split(x, 0, {1})[0];
    const wire::NetT net = steps.finish({steps.binary(BinaryCode::SUB, x, first)});
    EXPECT_EQ(runNet(net).outputs, runUnfused(net).outputs);
}

// Nets with every way of sharing memory: views, concatenations in place, results that overwrite inputs.
class RandomNet {
  public:
    RandomNet(unsigned seed) : random_(seed) {
        const int plane = pick(2) ? 1 : 1 + pick(9);
        dims_ = {1 + pick(2), pick(2) ? 16 * (1 + pick(3)) : 1 + pick(40), plane, plane};
    }
    wire::NetT build() {
        const int x = steps_.input(dims_);
        const int c = dims_[1];
        live_ = {x, steps_.conv(x, c, c, 1), steps_.conv(x, c, c, 3)};
        for (int i = 0; i < 14; ++i) live_.push_back(step(c));
        std::vector<int> outputs = {live_.back()};
        for (int i = 0; i < 2; ++i)
            if (const int one = any(); one != x && one != outputs[0]) outputs.push_back(one);
        if (outputs.size() == 3 && outputs[1] == outputs[2]) outputs.pop_back();
        return steps_.finish(outputs);
    }

  private:
    int pick(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
    int any() {
        // Later values are chosen more often, because most values have a short life.
        const int n = static_cast<int>(live_.size());
        return live_[static_cast<size_t>(n - 1 - (pick(2) ? pick(std::min(n, 3)) : pick(n)))];
    }
    int step(int c) {
        static constexpr UnaryCode kUnary[] = {UnaryCode::ABS, UnaryCode::SIGMOID, UnaryCode::TANH, UnaryCode::SIN,
                                               UnaryCode::NEG};
        static constexpr BinaryCode kBinary[] = {BinaryCode::ADD, BinaryCode::SUB, BinaryCode::MUL,
                                                 BinaryCode::MAXIMUM};
        const auto binary = kBinary[pick(4)];
        switch (pick(11)) {
            case 0:
            case 1:
                return steps_.unary(kUnary[pick(5)], any());
            case 2:
            case 3:
                return steps_.unary(UnaryCode::TANH, steps_.binary(binary, any(), any(), pick(4) == 0));
            case 4:
                return steps_.binary(binary, any(), steps_.scalar(0.5f));
            case 5:
                return pick(2) ? steps_.relu(any(), 0.25f) : steps_.clip(any(), -1, 0.5f);
            case 6:
                return steps_.softmax(any());
            case 7:
                return steps_.unary(UnaryCode::TANH,
                                    steps_.binary(BinaryCode::ADD, steps_.conv(any(), c, c, pick(2) ? 3 : 1), any()));
            case 8:
                return steps_.unary(UnaryCode::TANH, steps_.scale(any(), c));
            case 9: {  // halves, exchanged
                if (c < 2) return steps_.unary(UnaryCode::NEG, any());
                const int half = c >= 32 ? c / 32 * 16 : c / 2;
                const std::vector<int> parts = steps_.split(any(), 1, {half});
                return steps_.concat({parts[1], steps_.unary(UnaryCode::NEG, parts[0])});
            }
            default: {  // one channel or image for all
                const int x = any();
                const int axis = dims_[0] > 1 ? 0 : 1;
                if (dims_[static_cast<size_t>(axis)] < 2) return steps_.unary(UnaryCode::ABS, x);
                return steps_.binary(binary, x, steps_.split(x, axis, {1})[0]);
            }
        }
    }

    std::mt19937 random_;
    std::vector<int32_t> dims_;
    std::vector<int> live_;
    NetBuilder steps_;
};

TEST(ComputeInPlace, RandomNetsMatchUnsharedRuns) {
    for (unsigned seed = 0; seed < 150; ++seed) {
        const wire::NetT net = RandomNet(seed).build();
        const NetResult apart = runUnfused(net);
        for (const int threads : {1, 2}) {
            SessionConfig config;
            config.backend.threads = threads;
            const NetResult together = runNet(net, config);
            for (size_t i = 0; i < together.outputs.size(); ++i)
                for (size_t k = 0; k < together.outputs[i].size(); ++k)
                    ASSERT_NEAR(together.outputs[i][k], apart.outputs[i][k],
                                1e-4f * std::max(1.0f, std::fabs(apart.outputs[i][k])))
                        << "seed " << seed << ", output " << i << " at " << k;
        }
    }
}

}  // namespace
}  // namespace mnnc::test
