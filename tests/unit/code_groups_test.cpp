// Operators that compute over int8 codes although their formulas are of floats: the commands of a net, and results
// equal to those of the float operators with casts around them.
#include <gtest/gtest.h>

#include <cmath>

#include "quant_net.h"

namespace mnnc::test {
namespace {

constexpr float kStep = 0.05f;  // the quantisation scale of the net's result

class CodeNet : public QuantNet {
  public:
    int deconv(int x) {
        wire::Convolution2DT conv = makeConv(kChannels, kChannels, 0);
        conv.common->kernelX = 3;
        conv.common->kernelY = 2;
        conv.common->strideX = conv.common->strideY = 2;
        conv.common->pads = {0, 1, 0, 0};
        conv.quanParameter = std::make_unique<wire::IDSTQuanT>();
        conv.quanParameter->type = 4;
        conv.quanParameter->quantScale = 1;
        for (int i = 0; i < kChannels * kChannels * 6; ++i)
            conv.quanParameter->buffer.push_back(static_cast<int8_t>(i * 37 % 251 - 125));
        conv.quanParameter->alpha.assign(kChannels, 0.002f);
        conv.symmetricQuan = std::make_unique<wire::QuantizedFloatParamT>();
        return add(wire::OpType::Deconvolution, {x}, std::move(conv));
    }
};

// The net is an input, a convolution, the result of `middle`, a convolution. With `watch` the middle is an output, too,
// and must be float.
template <typename Middle>
NetResult run(const Middle& middle, bool watch) {
    CodeNet n;
    const int x = n.input(), a = n.conv(x), b = middle(n, a), c = n.conv(b);
    n.quant(x).quant(a, 0.04f, -3).quant(c, kStep);
    return runNet(n.finish(watch ? std::vector<int>{c, b} : std::vector<int>{c}));
}

// Every operator computes over codes, with the results of floats with casts around them.
template <typename Middle>
void expectCodes(const Middle& middle, const Types& between, int steps = 1) {
    const NetResult codes = run(middle, false), floats = run(middle, true);
    Types all{"FloatToInt8", "ConvInt8"};
    all.insert(all.end(), between.begin(), between.end());
    all.insert(all.end(), {"ConvInt8", "Int8ToFloat"});
    EXPECT_EQ(codes.types(), all);
    ASSERT_EQ(codes.outputs[0].size(), floats.outputs[0].size());
    int others = 0;
    for (size_t i = 0; i < codes.outputs[0].size(); ++i) {
        EXPECT_NEAR(codes.outputs[0][i], floats.outputs[0][i], kStep * (static_cast<float>(steps) + 0.01f)) << i;
        others += std::fabs(codes.outputs[0][i] - floats.outputs[0][i]) > kStep / 2;
    }
    EXPECT_LE(others * 20, static_cast<int>(codes.outputs[0].size()) * steps);
}

TEST(CodeGroups, AUnaryOperatorIsATable) {
    for (const auto code : {wire::UnaryOpOperation::HARDSWISH, wire::UnaryOpOperation::SIGMOID,
                            wire::UnaryOpOperation::TANH, wire::UnaryOpOperation::SQRT})
        expectCodes(
            [&](CodeNet& n, int a) {
                const int b = n.unary(code, a);
                n.quant(b, 0.02f, 1);
                return b;
            },
            {"ElementwiseChain"});
}

TEST(CodeGroups, AChainIsOneTable) {
    expectCodes(
        [](CodeNet& n, int a) {
            const int third = n.binary(wire::BinaryOpOperation::MUL, a, n.scalar(1.0f / 6));
            const int gate = n.clip(n.binary(wire::BinaryOpOperation::ADD, n.scalar(0.5f), third), 0, 1);
            const int b = n.binary(wire::BinaryOpOperation::MUL, gate, a);
            n.quant(b, 0.02f, 1);
            return b;
        },
        {"ElementwiseChain"});
}

TEST(CodeGroups, AReluOfAnotherScale) {
    expectCodes(
        [](CodeNet& n, int a) {
            const int b = n.relu(a, 0.2f);
            n.quant(b, 0.03f, 5);
            return b;
        },
        {"ElementwiseChain"});
}

TEST(CodeGroups, AConcatOfTwoScales) {
    expectCodes(
        [](CodeNet& n, int a) {
            const int b = n.unary(wire::UnaryOpOperation::TANH, a), c = n.concat({b, a}, 2);
            n.quant(b, 0.01f, 0).quant(c, 0.06f, 4);
            return c;
        },
        {"ElementwiseChain", "ReLU6", "Raster"});
}

TEST(CodeGroups, Resizing) {
    for (const int type : {1, 2})
        for (const float scale : {0.04f, 0.035f})
            expectCodes(
                [&](CodeNet& n, int a) {
                    const int b = n.resize(a, type, 9, 7);
                    n.quant(b, scale, -3);
                    return b;
                },
                type == 1 && scale != 0.04f ? Types{"ReLU6", "Interp"} : Types{"Interp"});
}

// A resized tensor that is concatenated immediately gets the scale of the concatenation.
TEST(CodeGroups, AScaleIsPassedBack) {
    expectCodes(
        [](CodeNet& n, int a) {
            const int b = n.resize(a, 2, 10, 4), c = n.concat({b, a}, 2);
            n.quant(b, 0.011f, 0).quant(c, 0.06f, 4);
            return c;
        },
        {"Interp", "ReLU6", "Raster"});
}

TEST(CodeGroups, AGateForEachChannel) {
    for (const auto code : {wire::BinaryOpOperation::MUL, wire::BinaryOpOperation::ADD})
        for (const bool first : {true, false}) {
            const auto middle = [&](CodeNet& n, int a) {
                const int gate = n.unary(wire::UnaryOpOperation::SIGMOID, n.NetBuilder::input({1, kChannels, 1, 1}));
                const int b = first ? n.binary(code, gate, a) : n.binary(code, a, gate);
                n.quant(gate, 0.008f, 0).quant(b, 0.03f, 2);
                return b;
            };
            expectCodes(middle, {"UnaryOp", "BinaryOp"});
        }
}

// Its weights are rounded a second time.
TEST(CodeGroups, ADeconvolution) {
    expectCodes(
        [](CodeNet& n, int a) {
            const int b = n.deconv(a);
            n.quant(b, 0.02f, 7);
            return b;
        },
        {"Deconvolution"}, 4);
}

TEST(CodeGroups, AFloatReaderKeepsFloats) {
    CodeNet n;
    const int x = n.input(), a = n.conv(x), b = n.unary(wire::UnaryOpOperation::TANH, a), c = n.conv(b),
              d = n.softmax(b);
    n.quant(x).quant(a).quant(b, 0.01f, 0).quant(c);
    EXPECT_EQ(runNet(n.finish({c, d})).count("ElementwiseChain"), 0u);
}

TEST(CodeGroups, AFloatOperandKeepsFloats) {
    CodeNet n;
    const int x = n.input(), a = n.softmax(x), b = n.unary(wire::UnaryOpOperation::TANH, a), c = n.conv(b);
    n.quant(b, 0.01f, 0).quant(c);
    EXPECT_EQ(runNet(n.finish({c})).count("FloatToInt8"), 1u);
}

}  // namespace
}  // namespace mnnc::test
