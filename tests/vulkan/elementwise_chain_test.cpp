// Element-wise operators that run as one dispatch on the device.
#include <gtest/gtest.h>

#include <random>

#include "device_nets.h"

namespace mnnc::vulkan::test {

namespace {

using BinaryCode = wire::BinaryOpOperation;
using UnaryCode = wire::UnaryOpOperation;

constexpr double kChainTolerance = 1e-5;

void half(BackendConfig& config) {
    config.precision = Precision::Low;
}

// Runs the net in both precisions and expects these operators on the device.
void expectPlaces(const wire::NetT& net, const std::string& places) {
    EXPECT_EQ(placesOf(expectNetSameAsCpu(net, kChainTolerance)), places);
    EXPECT_EQ(placesOf(expectNetSameAsCpu(net, 2e-2, half)), places);
}

const char* const kOne = "ElementwiseChain on vulkan";

// x + tanh(|x|)
int twoSteps(NetBuilder& s, int x) {
    return s.binary(BinaryCode::ADD, x, s.unary(UnaryCode::TANH, s.unary(UnaryCode::ABS, x)));
}

}  // namespace

TEST(ElementwiseChain, Shapes) {
    for (const std::vector<int32_t>& dims :
         {std::vector<int32_t>{1}, {7}, {1, 5}, {3, 1111}, {2, 19, 7, 5}, {1, 64, 33, 32}}) {
        NetBuilder s;
        expectPlaces(s.finish({twoSteps(s, s.input(dims))}), kOne);
    }
}

// After a convolution the tensors are channel-packed; the second input is row-major.
TEST(ElementwiseChain, Packed) {
    NetBuilder s;
    const int x = s.input({2, 5, 9, 7});
    const int made = s.conv(x, 5, 6, 3), other = s.input({2, 6, 9, 7});
    const int y = s.binary(BinaryCode::MUL, twoSteps(s, made), s.unary(UnaryCode::SIN, other));
    expectPlaces(s.finish({s.conv(y, 6, 4, 1), made}),
                 "Convolution on vulkan, ElementwiseChain on vulkan, Convolution on vulkan");
}

TEST(ElementwiseChain, SingleNumbers) {
    {  // known single numbers are no inputs: there are more than the kernel binds buffers
        NetBuilder s;
        int x = s.input({3, 37});
        for (int i = 0; i < 10; ++i)
            x = s.binary(i % 2 ? BinaryCode::MUL : BinaryCode::SUB, i % 3 ? x : s.scalar(0.9f),
                         i % 3 ? s.scalar(0.3f * static_cast<float>(i)) : x);
        expectPlaces(s.finish({x}), kOne);
    }
    {  // a single number that is an input of the net
        NetBuilder s;
        const int x = s.input({3, 37}), number = s.input({1});
        const int y = s.unary(UnaryCode::SQUARE, s.binary(BinaryCode::SUB, number, x));
        expectPlaces(s.finish({s.binary(BinaryCode::MAXIMUM, y, number, true)}), kOne);
    }
}

TEST(ElementwiseChain, ActivationsWithParameters) {
    NetBuilder s;
    int x = s.input({2, 19, 7});
    for (int i = 0; i < 6; ++i) {
        x = s.relu(x, 0.1f * static_cast<float>(i));
        x = s.binary(BinaryCode::SUB, s.clip(x, -2, 2.5f - 0.1f * static_cast<float>(i)), s.scalar(0.4f));
    }
    expectPlaces(s.finish({x}), "ElementwiseChain on vulkan, ElementwiseChain on vulkan");
}

// c' = f c + i g, h = o tanh(c'): other operators read both.
TEST(ElementwiseChain, SeveralOutputs) {
    NetBuilder s;
    const int x = s.input({2, 32, 7, 5});
    const int a = s.unary(UnaryCode::ABS, x), b = s.unary(UnaryCode::TANH, a);
    const int c = s.binary(BinaryCode::SUB, b, x);
    const int d = s.softmax(b), e = s.softmax(a);
    expectPlaces(s.finish({c, d, e}), "ElementwiseChain on vulkan, Softmax on vulkan, Softmax on vulkan");
}

// A chain that exceeds the kernel's limits is cut: inputs, outputs and steps.
TEST(ElementwiseChain, Limits) {
    {
        NetBuilder s;
        int sum = s.input({3, 111});
        for (int i = 0; i < 7; ++i) sum = s.binary(BinaryCode::ADD, sum, s.input({3, 111}));
        expectPlaces(s.finish({sum}), "ElementwiseChain on vulkan, ElementwiseChain on vulkan");
    }
    {
        NetBuilder s;
        int x = s.input({3, 111});
        std::vector<int> outputs;
        std::vector<int> values;
        for (int i = 0; i < 5; ++i) values.push_back(x = s.unary(i % 2 ? UnaryCode::TANH : UnaryCode::SIN, x));
        for (const int value : values) outputs.push_back(s.softmax(value));
        const NetResult result = expectNetSameAsCpu(s.finish(outputs), kChainTolerance);
        EXPECT_EQ(result.count("ElementwiseChain"), 2u);
        EXPECT_EQ(result.count("Softmax"), 5u);
    }
    {
        NetBuilder s;
        int x = s.input({3, 111});
        for (int i = 0; i < 20; ++i) x = s.unary(i % 2 ? UnaryCode::TANH : UnaryCode::SIN, x);
        expectPlaces(s.finish({x}), "ElementwiseChain on vulkan, ElementwiseChain on vulkan");
    }
}

// The device has too few buffers for the kernel of chains: each operator runs separately.
TEST(ElementwiseChain, FewBuffers) {
    NetBuilder s;
    const wire::NetT net = s.finish({twoSteps(s, s.input({3, 111}))});
    const NetResult result =
        expectNetSameAsCpu(net, kChainTolerance, [](BackendConfig& b) { b.deviceLimits.storageBuffers = 7; });
    EXPECT_EQ(placesOf(result), "UnaryOp on vulkan, UnaryOp on vulkan, BinaryOp on vulkan");
}

TEST(ElementwiseChain, FewGroups) {
    NetBuilder s;
    const wire::NetT net = s.finish({twoSteps(s, s.input({3, 11111}))});
    const NetResult result = expectNetSameAsCpu(net, kChainTolerance, [](BackendConfig& b) {
        b.deviceLimits.groupCount = 7;
        b.deviceLimits.groupInvocations = 16;
    });
    EXPECT_EQ(placesOf(result), kOne);
}

// The CPU has a pattern of the same name.
TEST(ElementwiseChain, Fallback) {
    NetBuilder s;
    const int x = s.input({3, 111});
    const int chain = s.binary(BinaryCode::SUB, twoSteps(s, x), s.scalar(0.5f));
    const wire::NetT net = s.finish({s.softmax(chain)});
    const std::string last = net.oplists[net.oplists.size() - 2]->name;
    const NetResult result =
        expectNetSameAsCpu(net, kChainTolerance, [&](BackendConfig& b) { b.deviceLimits.refuse = last; });
    EXPECT_EQ(placesOf(result), "ElementwiseChain on cpu, Softmax on vulkan");
}

TEST(ElementwiseChain, TwoExponentials) {
    NetBuilder s;
    const int x = s.unary(UnaryCode::SIGMOID, s.input({3, 111}));
    expectPlaces(s.finish({s.binary(BinaryCode::SUB, s.unary(UnaryCode::TANH, x), x)}), kOne);
}

// Each operator has its number in the kernel.
TEST(ElementwiseChain, EveryUnaryCode) {
    for (int code = 0; code <= 34; ++code) {
        SCOPED_TRACE(code);
        NetBuilder s;
        // In (0.1, 0.9); for acosh in (1.1, 1.9).
        int x = s.binary(BinaryCode::MUL, s.unary(UnaryCode::SIGMOID, s.input({3, 111})), s.scalar(0.8f));
        x = s.binary(BinaryCode::ADD, x, s.scalar(code == 18 ? 1.1f : 0.1f));
        const int y = s.unary(static_cast<UnaryCode>(code), x);
        expectPlaces(s.finish({s.binary(BinaryCode::SUB, y, x)}), kOne);
    }
}

TEST(ElementwiseChain, EveryBinaryCode) {
    for (const int code : {0, 1, 2, 6, 7, 8, 9, 14, 20, 29}) {
        SCOPED_TRACE(code);
        NetBuilder s;
        const int a = s.binary(BinaryCode::ADD, s.unary(UnaryCode::SIGMOID, s.input({3, 111})), s.scalar(0.5f));
        const int b = s.binary(BinaryCode::ADD, s.unary(UnaryCode::ABS, s.input({3, 111})), s.scalar(0.5f));
        expectPlaces(s.finish({s.binary(static_cast<BinaryCode>(code), a, b, code % 2 == 1)}), kOne);
    }
    for (const int code : {13, 17, 19}) {  // they jump where operands are rounded
        SCOPED_TRACE(code);
        NetBuilder s;
        const int a = s.binary(BinaryCode::SUB, s.input({3, 111}), s.scalar(0.1f));
        const int y = s.binary(static_cast<BinaryCode>(code), a, s.scalar(1.7f));
        EXPECT_EQ(placesOf(expectNetSameAsCpu(s.finish({y}), kChainTolerance)), kOne);
    }
}

// Random expressions of bounded operators, with values that are used again and single numbers.
TEST(ElementwiseChain, RandomExpressions) {
    constexpr UnaryCode kUnaries[] = {UnaryCode::ABS,  UnaryCode::NEG,     UnaryCode::SIN,
                                      UnaryCode::TANH, UnaryCode::SIGMOID, UnaryCode::HARDSWISH};
    constexpr BinaryCode kBinaries[] = {BinaryCode::ADD, BinaryCode::SUB, BinaryCode::MUL, BinaryCode::MAXIMUM,
                                        BinaryCode::MINIMUM};
    for (uint32_t seed = 0; seed < 24; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
        NetBuilder s;
        const std::vector<int32_t> dims = seed % 2 ? std::vector<int32_t>{2, 6, 5, 3} : std::vector<int32_t>{5, 33};
        std::vector<int> values = {s.input(dims), s.input(dims)};
        if (seed % 4 == 1) values[0] = s.conv(values[0], 6, 6, 1);
        for (size_t i = 0; i < 4 + seed % 16; ++i) {
            // Bounded again after each operation; later values are chosen more often than early ones.
            const int a = values[values.size() - 1 - below(std::min<size_t>(values.size(), 3))];
            int y = 0;
            switch (below(3)) {
                case 0:
                    y = s.unary(kUnaries[below(std::size(kUnaries))], a);
                    break;
                case 1:
                    y = s.binary(kBinaries[below(std::size(kBinaries))], s.scalar(0.7f), a, below(4) == 0);
                    break;
                default:
                    y = s.binary(kBinaries[below(std::size(kBinaries))], a, values[below(values.size())]);
            }
            values.push_back(s.clip(y, -4, 4));
        }
        const wire::NetT net = s.finish({values.back()});
        const NetResult result = expectNetSameAsCpu(net, kChainTolerance);
        EXPECT_GE(result.count("ElementwiseChain"), 1u);
        for (const OpRecord& op : result.ops) EXPECT_STREQ(op.backend, "vulkan") << op.name;
        expectNetSameAsCpu(net, 3e-2, half);
    }
}

}  // namespace mnnc::vulkan::test
