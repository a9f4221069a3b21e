// Activations and sums behind a product run in its epilogue, with the numbers of the separate operators.
#include "plan/passes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "net_builder.h"

namespace mnnc::test {
namespace {

// Expects `ops` operators; the algorithm of the one at `index` ends with `text`.
void expectFused(const wire::NetT& net, size_t ops, const std::string& text, size_t index = SIZE_MAX) {
    const NetResult apart = runUnfused(net);
    for (const int threads : {1, 2}) {
        SessionConfig config;
        config.backend.threads = threads;
        const NetResult fused = runNet(net, config);
        ASSERT_EQ(fused.ops.size(), ops);
        const std::string algorithm = fused.ops[index == SIZE_MAX ? ops - 1 : index].algorithm;
        EXPECT_TRUE(algorithm.size() >= text.size() && algorithm.ends_with(text)) << algorithm;
        ASSERT_EQ(fused.outputs.size(), apart.outputs.size());
        for (size_t i = 0; i < fused.outputs.size(); ++i)
            for (size_t k = 0; k < fused.outputs[i].size(); ++k)
                ASSERT_NEAR(fused.outputs[i][k], apart.outputs[i][k],
                            1e-5f * std::max(1.0f, std::fabs(apart.outputs[i][k])))
                    << text << " at " << k;
    }
    double flops[2] = {0, 0};
    for (const OpRecord& op : apart.ops) flops[0] += op.flops;
    for (const OpRecord& op : runNet(net).ops) flops[1] += op.flops;
    EXPECT_DOUBLE_EQ(flops[0], flops[1]);
}

const std::vector<int32_t> kDims = {2, 5, 7, 6};
constexpr int kIn = 5;

// Operators behind a product, and the end of the algorithm name when they are fused.
struct Tail {
    std::function<int(NetBuilder&, int)> build;
    std::string text;
};
std::vector<Tail> tails() {
    const auto u = [](UnaryCode code) { return [code](NetBuilder& s, int x) { return s.unary(code, x); }; };
    return {
        {u(UnaryCode::SIGMOID), " +sigmoid"},
        {u(UnaryCode::TANH), " +tanh"},
        {u(UnaryCode::HARDSWISH), " +hardswish"},
        {u(UnaryCode::GELU), " +gelu"},
        {u(UnaryCode::GELU_STANDARD), " +gelu"},
        {u(UnaryCode::SILU), " +silu"},
        {[](NetBuilder& s, int x) { return s.relu(x); }, " +clip"},
        {[](NetBuilder& s, int x) { return s.clip(x, -1, 2); }, " +clip"},
        {[](NetBuilder& s, int x) { return s.clip(s.relu(x), -1, 2); }, " +clip"},
        {[](NetBuilder& s, int x) { return s.clip(s.clip(x, 3, 4), -1, 2); }, " +clip"},
        {[](NetBuilder& s, int x) { return s.clip(s.unary(UnaryCode::TANH, x), -0.5f, 0.25f); }, " +tanh +clip"},
        {[](NetBuilder& s, int x) { return s.binary(BinaryCode::MUL, s.unary(UnaryCode::SIGMOID, x), x); }, " +silu"},
        // hard swish in the exporters' form
        {[](NetBuilder& s, int x) {
             const int clipped = s.clip(s.binary(BinaryCode::ADD, x, s.scalar(3)), 0, 6);
             return s.binary(BinaryCode::REALDIV, s.binary(BinaryCode::MUL, x, clipped), s.scalar(6));
         },
         " +hardswish"},
        {[](NetBuilder& s, int x) {
             const int clipped = s.clip(s.binary(BinaryCode::ADD, s.scalar(3), x), 0, 6);
             return s.binary(BinaryCode::MUL, s.binary(BinaryCode::MUL, clipped, s.scalar(1 / 6.0f)), x);
         },
         " +hardswish"},
        {[](NetBuilder& s, int x) {
             const int line =
                 s.binary(BinaryCode::ADD, s.binary(BinaryCode::MUL, x, s.scalar(1 / 6.0f)), s.scalar(0.5f));
             return s.binary(BinaryCode::MUL, x, s.clip(line, 0, 1));
         },
         " +hardswish"},
        // GELU by tanh: the cube by pow, a product of everything with x / 2
        {[](NetBuilder& s, int x) {
             const int cube = s.binary(BinaryCode::POW, x, s.scalar(3));
             const int sum = s.binary(BinaryCode::ADD, x, s.binary(BinaryCode::MUL, cube, s.scalar(0.044715f)));
             const int t = s.unary(UnaryCode::TANH, s.binary(BinaryCode::MUL, sum, s.scalar(0.79788456f)));
             return s.binary(BinaryCode::MUL, s.binary(BinaryCode::MUL, x, s.scalar(0.5f)),
                             s.binary(BinaryCode::ADD, t, s.scalar(1)));
         },
         " +gelu-tanh"},
        // the cube by products, x taken out of the sum, a half at the end
        {[](NetBuilder& s, int x) {
             const int square = s.binary(BinaryCode::MUL, x, x);
             const int line =
                 s.binary(BinaryCode::ADD, s.scalar(1), s.binary(BinaryCode::MUL, s.scalar(0.044715f), square));
             const int slope = s.binary(BinaryCode::MUL, x, s.scalar(0.79788456f));
             const int t = s.unary(UnaryCode::TANH, s.binary(BinaryCode::MUL, slope, line));
             const int y = s.binary(BinaryCode::MUL, x, s.binary(BinaryCode::ADD, s.scalar(1), t));
             return s.binary(BinaryCode::MUL, s.scalar(0.5f), y);
         },
         " +gelu-tanh"},
        {[](NetBuilder& s, int x) {
             const int cube = s.binary(BinaryCode::MUL, s.binary(BinaryCode::MUL, x, x), x);
             const int sum = s.binary(BinaryCode::ADD, s.binary(BinaryCode::MUL, cube, s.scalar(0.044715f)), x);
             const int t = s.unary(UnaryCode::TANH, s.binary(BinaryCode::MUL, sum, s.scalar(0.79788456f)));
             const int half = s.binary(BinaryCode::ADD, s.binary(BinaryCode::MUL, t, s.scalar(0.5f)), s.scalar(0.5f));
             return s.binary(BinaryCode::MUL, half, x);
         },
         " +gelu-tanh"},
        // and without the product
        {[](NetBuilder& s, int x) {
             const int line = s.binary(BinaryCode::SUB, s.binary(BinaryCode::REALDIV, x, s.scalar(6)), s.scalar(-0.5f));
             return s.clip(line, 0, 1);
         },
         " +hardsigmoid"},
        {[](NetBuilder& s, int x) {
             const int clipped = s.clip(s.binary(BinaryCode::ADD, x, s.scalar(3)), 0, 6);
             return s.binary(BinaryCode::REALDIV, clipped, s.scalar(6));
         },
         " +hardsigmoid"},
    };
}

TEST(FusePostOps, ActivationsOfConvolutions) {
    for (const Tail& tail : tails())
        for (const int kernel : {1, 3}) {
            NetBuilder s;
            const int x = s.conv(s.input(kDims), kIn, 19, kernel);
            const int y = tail.build(s, x);
            expectFused(s.finish({y}), 1, tail.text);
        }
}

TEST(FusePostOps, ActivationsOfDepthwiseConvolutions) {
    for (const Tail& tail : tails()) {
        NetBuilder s;
        const int x = s.depthwise(s.input(kDims), kIn);
        const int y = tail.build(s, x);
        expectFused(s.finish({y}), 1, tail.text);
    }
}

TEST(FusePostOps, ActivationsOfScales) {
    for (const Tail& tail : tails()) {
        NetBuilder s;
        const int x = s.scale(s.conv(s.input(kDims), kIn, 19, 3), 19);
        const int y = tail.build(s, x);
        expectFused(s.finish({y}), 2, tail.text);
    }
}

TEST(FusePostOps, ASumBeforeAnActivation) {
    for (const bool second : {false, true}) {
        NetBuilder s;
        const int x = s.input(kDims);
        const int a = s.conv(x, kIn, 19, 3), b = s.conv(x, kIn, 19, 1);
        const int sum = second ? s.binary(BinaryCode::ADD, a, b) : s.binary(BinaryCode::ADD, b, a);
        expectFused(s.finish({s.unary(UnaryCode::SILU, sum)}), 2, " +add +silu");
    }
    for (const bool relu : {false, true}) {
        NetBuilder s;
        const int x = s.input(kDims);
        const int y = s.binary(BinaryCode::ADD, s.conv(x, kIn, kIn, 3), x, relu);
        expectFused(s.finish({y}), 1, relu ? " +add +clip" : " +add");
    }
}

// Arithmetic that only looks like GELU by tanh is not changed.
TEST(FusePostOps, OtherArithmeticWithTanh) {
    const auto net = [](float cubic, float half, float power) {
        NetBuilder s;
        const int x = s.conv(s.input(kDims), kIn, 19, 1);
        const int cube = s.binary(BinaryCode::POW, x, s.scalar(power));
        const int sum = s.binary(BinaryCode::ADD, x, s.binary(BinaryCode::MUL, cube, s.scalar(cubic)));
        const int t = s.unary(UnaryCode::TANH, s.binary(BinaryCode::MUL, sum, s.scalar(0.79788456f)));
        return s.finish({s.binary(BinaryCode::MUL, s.binary(BinaryCode::MUL, x, s.scalar(half)),
                                  s.binary(BinaryCode::ADD, t, s.scalar(1)))});
    };
    const auto fuses = [](const wire::NetT& made) { return runNet(made).ops[0].algorithm.ends_with(" +gelu-tanh"); };
    EXPECT_TRUE(fuses(net(0.044715f, 0.5f, 3)));
    EXPECT_FALSE(fuses(net(0.0448f, 0.5f, 3)));
    EXPECT_FALSE(fuses(net(0.044715f, 0.51f, 3)));
    EXPECT_FALSE(fuses(net(0.044715f, 0.5f, 2)));
    EXPECT_FALSE(fuses(net(0.044715f, 0.5f, 2.5f)));
}

TEST(FusePostOps, AnActivationBehindAReshape) {
    for (const UnaryCode code : {UnaryCode::GELU_STANDARD, UnaryCode::SILU}) {
        NetBuilder s;
        const int x = s.conv(s.input(kDims), kIn, 19, 1);
        const int y = s.unary(code, s.reshape(s.reshape(x, {2, 19, 42}), {38, 42}));
        const std::string text = code == UnaryCode::SILU ? " +silu" : " +gelu";
        expectFused(s.finish({y}), 1, text);
    }
}

TEST(FusePostOps, ASumBehindAReshape) {
    for (const bool relu : {false, true}) {
        NetBuilder s;
        const int x = s.input({11, 5, 1, 1}), other = s.input({1, 11, 32});
        const int y = s.reshape(s.conv(x, 5, 32, 1), {1, 11, 32});
        expectFused(s.finish({s.binary(BinaryCode::ADD, other, y, relu)}), 1, relu ? " +add +clip" : " +add");
    }
    {  // a stream of residuals
        NetBuilder s;
        const int x = s.input({11, 32, 1, 1});
        int stream = s.reshape(s.conv(x, 32, 32, 1), {1, 11, 32});
        for (int i = 0; i < 3; ++i) {
            const int branch = s.reshape(s.softmax(stream, 2), {11, 32, 1, 1});
            const int y = s.reshape(s.reshape(s.conv(branch, 32, 32, 1), {11, 32}), {1, 11, 32});
            stream = s.binary(BinaryCode::ADD, stream, y);
        }
        expectFused(s.finish({stream}), 7, " +add");
    }
    {  // and an activation behind the sum
        NetBuilder s;
        const int x = s.input({11, 5, 1, 1}), other = s.input({1, 11, 32});
        const int y = s.reshape(s.conv(x, 5, 32, 1), {1, 11, 32});
        expectFused(s.finish({s.unary(UnaryCode::TANH, s.binary(BinaryCode::ADD, other, y))}), 1, " +add +tanh");
    }
    // These are not fused: the shapes are stored differently, or the sum without the residual has another consumer.
    for (const std::vector<int32_t>& dims : {std::vector<int32_t>{11, 5, 1, 1}, {1, 5, 3, 3}}) {
        const int channels = dims[2] == 1 ? 19 : 32;
        NetBuilder s;
        const int x = s.input(dims), other = s.input({1, dims[0] * dims[2] * dims[3], channels});
        const int y = s.reshape(s.conv(x, 5, channels, 1), {1, dims[0] * dims[2] * dims[3], channels});
        expectFused(s.finish({s.binary(BinaryCode::ADD, other, y)}), 2, "");
    }
    NetBuilder s;
    const int x = s.input({11, 5, 1, 1}), other = s.input({1, 11, 32});
    const int y = s.reshape(s.conv(x, 5, 32, 1), {1, 11, 32});
    expectFused(s.finish({y, s.binary(BinaryCode::ADD, other, y)}), 2, "");
}

// The ReLU of a convolution in the file is a post-op like those that follow it; it is the first one.
TEST(FusePostOps, BehindAReluOfTheFile) {
    const auto build = [](const std::function<int(NetBuilder&, int x, int y)>& tail, size_t ops,
                          const std::string& text) {
        for (const bool depthwise : {false, true}) {
            NetBuilder s;
            const int x = s.input(kDims);
            const int y = depthwise ? s.depthwise(x, kIn) : s.conv(x, kIn, kIn, 3);
            wire::NetT net = s.finish({tail(s, x, y)});
            for (const auto& op : net.oplists)
                if (auto* conv = op->main.AsConvolution2D()) conv->common->relu = true;
            expectFused(net, ops, text, 0);
        }
    };
    build([](NetBuilder&, int, int y) { return y; }, 1, " +clip");
    build([](NetBuilder& s, int, int y) { return s.relu(y); }, 1, " +clip");
    build([](NetBuilder& s, int, int y) { return s.clip(y, -1, 0.5f); }, 1, " +clip");
    build([](NetBuilder& s, int, int y) { return s.clip(y, -2, -1); }, 1, " +clip");
    build([](NetBuilder& s, int, int y) { return s.clip(y, 1, 2); }, 1, " +clip");
    // These would precede the clamp.
    build([](NetBuilder& s, int, int y) { return s.unary(UnaryCode::TANH, y); }, 2, " +clip");
    build([](NetBuilder& s, int x, int y) { return s.binary(BinaryCode::ADD, y, x); }, 2, " +clip");
    build([](NetBuilder& s, int x, int y) { return s.binary(BinaryCode::ADD, x, y, true); }, 2, " +clip");
}

TEST(FusePostOps, OtherConsumersPreventIt) {
    {  // an output
        NetBuilder s;
        const int x = s.conv(s.input(kDims), kIn, 19, 3);
        const int y = s.relu(x);
        expectFused(s.finish({x, y}), 2, "");
    }
    {  // two readers
        NetBuilder s;
        const int x = s.conv(s.input(kDims), kIn, 19, 3);
        const int a = s.unary(UnaryCode::TANH, x), b = s.unary(UnaryCode::SIGMOID, x);
        expectFused(s.finish({a, b}), 3, "");
    }
    {  // part of a hard swish is an output
        NetBuilder s;
        const int x = s.conv(s.input(kDims), kIn, 19, 3);
        const int clipped = s.clip(s.binary(BinaryCode::ADD, x, s.scalar(3)), 0, 6);
        const int y = s.binary(BinaryCode::REALDIV, s.binary(BinaryCode::MUL, x, clipped), s.scalar(6));
        expectFused(s.finish({clipped, y}), 3, "");
    }
    {  // x + x
        NetBuilder s;
        const int x = s.conv(s.input(kDims), kIn, 19, 3);
        expectFused(s.finish({s.binary(BinaryCode::ADD, x, x)}), 2, "");
    }
}

TEST(FusePostOps, OtherPatternsAreKept) {
    const std::vector<std::function<int(NetBuilder&, int)>> others = {
        [](NetBuilder& s, int x) { return s.relu(x, 0.1f); },
        [](NetBuilder& s, int x) { return s.unary(UnaryCode::EXP, x); },
        [](NetBuilder& s, int x) { return s.binary(BinaryCode::MUL, x, s.scalar(2)); },
        [](NetBuilder& s, int x) { return s.binary(BinaryCode::ADD, x, s.scalar(2)); },
    };
    for (const auto& other : others) {
        NetBuilder s;
        const int x = s.conv(s.input(kDims), kIn, 19, 3);
        expectFused(s.finish({other(s, x)}), 2, "");
    }
    {  // with another constant it is no hard swish
        NetBuilder s;
        const int x = s.conv(s.input(kDims), kIn, 19, 3);
        const int clipped = s.clip(s.binary(BinaryCode::ADD, x, s.scalar(3)), 0, 6);
        const int y = s.binary(BinaryCode::REALDIV, s.binary(BinaryCode::MUL, x, clipped), s.scalar(5));
        expectFused(s.finish({y}), 2, "");
    }
    {  // an activation, then a sum
        NetBuilder s;
        const int x = s.input(kDims);
        const int y = s.binary(BinaryCode::ADD, s.unary(UnaryCode::TANH, s.conv(x, kIn, kIn, 3)), x);
        expectFused(s.finish({y}), 2, " +tanh", 0);
    }
    {  // a sum that is broadcast
        NetBuilder s;
        const int x = s.input(kDims), one = s.input({1, kIn, 1, 1});
        const int y = s.binary(BinaryCode::ADD, s.conv(x, kIn, kIn, 3), one);
        expectFused(s.finish({y}), 2, "");
    }
}

}  // namespace
}  // namespace mnnc::test
