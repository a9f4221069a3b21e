// Element-wise operators that run as one command: which ones do, and that their numbers stay the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "net_builder.h"

namespace mnnc::test {
namespace {

// Expects `ops` operators, of which `chains` are chains, with every bit of the separate operators.
void expectChains(const wire::NetT& net, size_t ops, size_t chains) {
    const NetResult apart = runUnfused(net);
    EXPECT_EQ(apart.count("ElementwiseChain"), 0u);
    double flops[2] = {0, 0};
    for (const OpRecord& op : apart.ops) flops[0] += op.flops;
    for (const int threads : {1, 2}) {
        SessionConfig config;
        config.backend.threads = threads;
        const NetResult together = runNet(net, config);
        EXPECT_EQ(together.ops.size(), ops);
        EXPECT_EQ(together.count("ElementwiseChain"), chains);
        EXPECT_EQ(together.outputs, apart.outputs);
        flops[1] = 0;
        for (const OpRecord& op : together.ops) flops[1] += op.flops;
        EXPECT_DOUBLE_EQ(flops[0], flops[1]);
    }
}

TEST(ElementwiseChain, GeluAsExportersWriteIt) {
    for (const std::vector<int32_t>& dims : {std::vector<int32_t>{1, 5}, {3, 1111}, {2, 19, 7, 5}, {1, 64, 33, 32}}) {
        NetBuilder s;
        const int x = s.input(dims);
        const int erf = s.unary(UnaryCode::ERF, s.binary(BinaryCode::REALDIV, x, s.scalar(std::sqrt(2.0f))));
        const int sum = s.binary(BinaryCode::ADD, erf, s.scalar(1));
        const int y = s.binary(BinaryCode::MUL, s.binary(BinaryCode::MUL, x, sum), s.scalar(0.5f));
        expectChains(s.finish({y}), 1, 1);
    }
}

// c' = f c + i g, h = o tanh(c'), the gates from one product of all four.
TEST(ElementwiseChain, CellOfAnLstm) {
    for (const bool carried : {false, true}) {
        NetBuilder s;
        const int gates = s.conv(s.input({1, 5, 1, 1}), 5, 128, 1);
        const std::vector<int> gate = s.split(gates, 1, {32, 64, 96});
        const int c = s.input({1, 32, 1, 1});
        const int i = s.unary(UnaryCode::SIGMOID, gate[0]), o = s.unary(UnaryCode::SIGMOID, gate[1]);
        const int f = s.unary(UnaryCode::SIGMOID, gate[2]), g = s.unary(UnaryCode::TANH, gate[3]);
        const int cell = s.binary(BinaryCode::ADD, s.binary(BinaryCode::MUL, f, c), s.binary(BinaryCode::MUL, i, g));
        const int h = s.binary(BinaryCode::MUL, o, s.unary(UnaryCode::TANH, cell));
        // The new state has other consumers, so the operators after it are another chain.
        if (carried)
            expectChains(s.finish({h, cell}), 3, 2);
        else
            expectChains(s.finish({h}), 2, 1);
    }
}

TEST(ElementwiseChain, DiamondsAndRows) {
    {  // several ways from one tensor to another
        NetBuilder s;
        const int x = s.unary(UnaryCode::ABS, s.input({2, 19, 7, 5}));
        const int a = s.unary(UnaryCode::TANH, x), b = s.relu(x, 0.1f), c = s.clip(x, -1, 1);
        expectChains(s.finish({s.binary(BinaryCode::MUL, s.binary(BinaryCode::SUB, a, b), c, true)}), 1, 1);
    }
    {  // x + 0.1 f + g
        NetBuilder s;
        const int x = s.input({1, 5, 9, 9});
        const int f = s.conv(x, 5, 5, 3), g = s.conv(x, 5, 5, 1);
        const int scaled = s.binary(BinaryCode::MUL, f, s.scalar(0.1f));
        const int y = s.binary(BinaryCode::ADD, g, s.binary(BinaryCode::ADD, scaled, x));
        expectChains(s.finish({y, f, g}), 3, 1);
    }
    {  // the same tensor twice
        NetBuilder s;
        const int x = s.unary(UnaryCode::SQUARE, s.input({3, 1111}));
        expectChains(s.finish({s.binary(BinaryCode::POW, x, x)}), 1, 1);
    }
    {  // a long row is cut
        NetBuilder s;
        int x = s.input({3, 111});
        for (int i = 0; i < 30; ++i) x = s.unary(i % 2 ? UnaryCode::TANH : UnaryCode::SIN, x);
        expectChains(s.finish({x}), 2, 2);
    }
}

TEST(ElementwiseChain, AValueWithAnotherConsumerIsAnOutput) {
    NetBuilder s;
    const int x = s.input({2, 32, 7, 5});
    const int a = s.unary(UnaryCode::ABS, x), b = s.unary(UnaryCode::TANH, a);
    const int c = s.binary(BinaryCode::SUB, b, x);
    const int d = s.conv(b, 32, 32, 1);
    expectChains(s.finish({c, d}), 2, 1);
}

TEST(ElementwiseChain, AConsumerInBetweenEndsTheChain) {
    {
        NetBuilder s;
        const int x = s.input({2, 32, 7, 5});
        const int a = s.unary(UnaryCode::ABS, x), b = s.conv(a, 32, 32, 1);
        const int c = s.unary(UnaryCode::SIN, a), d = s.unary(UnaryCode::COS, s.softmax(b));
        expectChains(s.finish({b, c, d}), 5, 0);
    }
    {  // an output in the middle
        NetBuilder s;
        const int a = s.unary(UnaryCode::ABS, s.unary(UnaryCode::SIN, s.input({2, 32})));
        const int b = s.unary(UnaryCode::ABS, s.unary(UnaryCode::COS, a));
        expectChains(s.finish({a, b}), 2, 2);
    }
}

TEST(ElementwiseChain, OtherShapesAndTypesEndTheChain) {
    {  // one value per channel
        NetBuilder s;
        const int x = s.input({2, 32, 7, 5}), scale = s.input({1, 32, 1, 1});
        const int a = s.binary(BinaryCode::MUL, s.unary(UnaryCode::ABS, x), scale);
        expectChains(s.finish({s.unary(UnaryCode::SIN, a)}), 3, 0);
    }
    {  // a number per tensor that is computed, too
        NetBuilder s;
        const int x = s.input({2, 32, 7, 5}), number = s.unary(UnaryCode::ABS, s.input({1}));
        const int a = s.binary(BinaryCode::MUL, s.unary(UnaryCode::ABS, x), number);
        expectChains(s.finish({s.binary(BinaryCode::SUB, number, a)}), 2, 1);
    }
}

// A random expression over tensors of one shape, which is also evaluated in double.
class RandomExpression {
  public:
    using Doubles = std::vector<double>;

    RandomExpression(unsigned seed, std::vector<int32_t> dims, bool packed) : random_(seed) {
        inputs_ = {steps_.input(dims), steps_.input(dims)};
        if (packed) {
            const int channels = dims[1];
            for (int& input : inputs_) input = steps_.conv(input, channels, channels, 1);
        }
        live_ = inputs_;
        const size_t steps = 2 + random_() % 12;
        for (size_t i = 0; i < steps; ++i) step();
        packed_ = packed;
    }
    // Returns a net with the result, its last operands (if computed), and an intermediate value, if requested, as
    // outputs.
    wire::NetT net() {
        std::vector<int> outputs = {live_.back()};
        if (packed_) outputs.insert(outputs.end(), inputs_.begin(), inputs_.end());
        return steps_.finish(outputs);
    }
    std::vector<Doubles> evaluate(std::vector<Doubles> values) const {
        for (const auto& one : functions_) {
            Doubles result(values[0].size());
            for (size_t i = 0; i < result.size(); ++i) result[i] = one(values, i);
            values.push_back(std::move(result));
        }
        return values;
    }

  private:
    using Function = std::function<double(const std::vector<Doubles>&, size_t)>;

    size_t any() {
        const size_t near = std::min<size_t>(live_.size(), 4);
        return live_.size() - 1 - random_() % near;
    }
    void add(int id, Function function) {
        live_.push_back(id);
        functions_.push_back(std::move(function));
    }
    void step() {
        const size_t a = any(), b = any();
        switch (random_() % 9) {
            case 0:
                return add(steps_.unary(UnaryCode::TANH, live_[a]),
                           [a](const auto& v, size_t i) { return std::tanh(v[a][i]); });
            case 1:
                return add(steps_.unary(UnaryCode::SIN, live_[a]),
                           [a](const auto& v, size_t i) { return std::sin(v[a][i]); });
            case 2:
                return add(steps_.unary(UnaryCode::ABS, live_[a]),
                           [a](const auto& v, size_t i) { return std::fabs(v[a][i]); });
            case 3:
                return add(steps_.relu(live_[a], 0.25f),
                           [a](const auto& v, size_t i) { return v[a][i] < 0 ? v[a][i] / 4 : v[a][i]; });
            case 4:
                return add(steps_.clip(live_[a], -0.75f, 2),
                           [a](const auto& v, size_t i) { return std::min(std::max(v[a][i], -0.75), 2.0); });
            case 5:
                return add(steps_.binary(BinaryCode::SUB, live_[a], live_[b]),
                           [a, b](const auto& v, size_t i) { return v[a][i] - v[b][i]; });
            case 6:
                return add(steps_.binary(BinaryCode::ADD, live_[a], live_[b], true),
                           [a, b](const auto& v, size_t i) { return std::max(v[a][i] + v[b][i], 0.0); });
            case 7:
                return add(steps_.binary(BinaryCode::MUL, steps_.scalar(0.375f), live_[a]),
                           [a](const auto& v, size_t i) { return 0.375 * v[a][i]; });
            default:
                return add(steps_.binary(BinaryCode::MAXIMUM, live_[a], live_[b]),
                           [a, b](const auto& v, size_t i) { return std::max(v[a][i], v[b][i]); });
        }
    }

    std::mt19937 random_;
    NetBuilder steps_;
    bool packed_ = false;
    std::vector<int> inputs_, live_;
    std::vector<Function> functions_;
};

TEST(ElementwiseChain, RandomExpressions) {
    const std::vector<std::vector<int32_t>> shapes = {{1, 5},        {3, 1111},       {7},
                                                      {2, 19, 7, 5}, {1, 37, 13, 11}, {2, 3, 64, 65}};
    size_t chains = 0;
    for (unsigned seed = 0; seed < 90; ++seed) {
        const std::vector<int32_t>& dims = shapes[seed % shapes.size()];
        const bool packed = dims.size() == 4 && seed % 4 != 0;
        RandomExpression expression(seed, dims, packed);
        const wire::NetT net = expression.net();
        const NetResult apart = runUnfused(net);
        std::vector<std::vector<double>> values(2);
        for (size_t k = 0; k < 2; ++k) {
            const size_t n = apart.outputs[0].size();
            for (size_t i = 0; i < n; ++i)
                values[k].push_back(packed ? apart.outputs[k + 1][i]
                                           : 3 * std::sin(static_cast<float>(i * 7 + 11 * k + 1)));
        }
        const std::vector<double> expected = expression.evaluate(std::move(values)).back();
        for (const int threads : {1, 2, 5}) {
            SessionConfig config;
            config.backend.threads = threads;
            const NetResult together = runNet(net, config);
            chains += together.count("ElementwiseChain");
            ASSERT_EQ(together.outputs, apart.outputs) << "seed " << seed << ", threads " << threads;
            for (size_t i = 0; i < expected.size(); ++i)
                ASSERT_NEAR(together.outputs[0][i], expected[i], 1e-4 * std::max(1.0, std::fabs(expected[i])))
                    << "seed " << seed << " at " << i;
        }
    }
    EXPECT_GT(chains, 150u);
}

}  // namespace
}  // namespace mnnc::test
