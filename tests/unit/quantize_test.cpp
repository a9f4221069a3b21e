// The commands of a quantised net that run over int8 tensors, the casts between float and int8, and the errors of
// hostile tables.
#include "plan/passes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/kernels/int8/int8_kernels.h"
#include "backends/cpu/ops/int8.h"
#include "ops/pooling.h"
#include "quant_net.h"

namespace mnnc::test {
namespace {

TEST(Quantize, StaysInInt8BetweenConvolutions) {
    QuantNet n;
    const int x = n.input(), a = n.conv(x), b = n.relu(a), c = n.conv(b);
    n.quant(x).quant(a).quant(b).quant(c, 0.05f);
    const NetResult result = runNet(n.finish({c}));
    EXPECT_EQ(result.types(), (Types{"FloatToInt8", "ConvInt8", "ReLU", "ConvInt8", "Int8ToFloat"}));
    EXPECT_TRUE(onGrid(result.outputs[0], 0.05f));
}

// Where products of bytes exist for codes from 0 on, a convolution behind a sum takes them if the sum ends in a ReLU.
TEST(Quantize, CodesOfASumWithReluAreNotNegative) {
    const Kernels& kernels = selectKernels();
    const bool bytes = kernels.int8->unit == 2 && int8Kernels(kernels.id, Int8Product::Bytes);
    for (const bool relu : {true, false}) {
        QuantNet n;
        const int x = n.input(), a = n.conv(x), b = n.conv(x);
        const int sum = n.binary(wire::BinaryOpOperation::ADD, a, b, relu), c = n.conv(sum);
        n.quant(x).quant(a).quant(b).quant(sum).quant(c);
        const NetResult result = runNet(n.finish({c}));
        std::string last;
        for (const OpRecord& op : result.ops)
            if (op.type == std::string("ConvInt8")) last = op.algorithm;
        EXPECT_EQ(last.find("maddubs") != std::string::npos, relu && bytes) << last;
    }
}

// Sums have 32 bits.
TEST(Quantize, AveragesOfHugeWindowsAreFloat) {
    for (const bool average : {true, false}) {
        auto params = std::make_shared<PoolParams>();
        params->average = average;
        params->global = true;
        Operand x, y;
        y.shape = {1, 1, 1, 1};
        Command command;
        command.params = params;
        command.inputs = {&x};
        command.outputs = {&y};
        x.shape = {1, 1, 4095, 4096};
        EXPECT_TRUE(cpu::quantizesPooling(command));
        x.shape = {1, 1, 4096, 4096};
        EXPECT_EQ(cpu::quantizesPooling(command), !average);
    }
}

// The limits of a file need not be integers: codes are those inside of them, on every instruction set.
TEST(Quantize, LimitsBetweenCodes) {
    class Net : public QuantNet {
      public:
        void limit(float min, float max) {
            net_.extraTensorDescribe.back()->quantInfo->min = min;
            net_.extraTensorDescribe.back()->quantInfo->max = max;
        }
    } n;
    const int x = n.input(), sum = n.binary(BinaryCode::ADD, x, x);
    n.quant(x).quant(sum, 0.5f, 0);
    n.limit(-3.7f, 4.6f);
    const wire::NetT net = n.finish({sum});
    for (const std::string& isa : availableIsas()) {
        SessionConfig config;
        config.backend.cpuIsa = isa;
        const std::vector<float> y = runNet(net, config).outputs[0];
        EXPECT_EQ(*std::min_element(y.begin(), y.end()), -1.5f) << isa;
        EXPECT_EQ(*std::max_element(y.begin(), y.end()), 2.0f) << isa;
    }
}

TEST(Quantize, CastsEachTensorOnce) {
    QuantNet n;
    const int x = n.input(), a = n.conv(x), b = n.conv(x), c = n.sigmoid(a), d = n.sigmoid(a);
    n.quant(x).quant(a).quant(b);
    EXPECT_EQ(runNet(n.finish({b, c, d})).types(),
              (Types{"FloatToInt8", "ConvInt8", "ConvInt8", "Int8ToFloat", "Int8ToFloat", "UnaryOp", "UnaryOp"}));
}

TEST(Quantize, AScaleIsInherited) {
    QuantNet n;
    const int x = n.input(), a = n.conv(x), b = n.relu(a), c = n.conv(b);
    n.quant(x).quant(a).quant(c);
    EXPECT_EQ(runNet(n.finish({c})).types(), (Types{"FloatToInt8", "ConvInt8", "ReLU", "ConvInt8", "Int8ToFloat"}));
}

TEST(Quantize, WithoutScalesOfBothSidesAConvolutionIsFloat) {
    QuantNet n;
    const int x = n.input(), a = n.conv(x), b = n.conv(a);
    n.quant(x).quant(b);
    EXPECT_EQ(runNet(n.finish({b})).types(), (Types{"Convolution", "Convolution"}));
}

TEST(Quantize, AScaleOfZeroIsNone) {
    QuantNet n;
    const int x = n.input(), a = n.conv(x);
    n.quant(x).quant(a, 0);
    EXPECT_EQ(runNet(n.finish({a})).types(), (Types{"Convolution"}));
}

TEST(Quantize, ConcatOfTwoScalesIsFloat) {
    QuantNet n;
    const int x = n.input(), a = n.conv(x), b = n.conv(x), c = n.concat({a, b});
    n.quant(x).quant(a).quant(b, 0.04f).quant(c);
    EXPECT_EQ(runNet(n.finish({c})).types(),
              (Types{"FloatToInt8", "ConvInt8", "ConvInt8", "Int8ToFloat", "Int8ToFloat", "Raster"}));
}

TEST(Quantize, ScalesThatAreNoNumbersAreRefused) {
    for (const float scale : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), -1.0f}) {
        QuantNet n;
        const int x = n.input(), a = n.conv(x);
        n.quant(x).quant(a, scale);
        expectRefused(n.finish({a}), Status::BadParameter, "quantisation");
    }
}

// x -> explicit codes -> convolution
struct CodesNet : QuantNet {
    int x = input(), codes = 0, y = 0;
    CodesNet() {
        wire::QuantizedFloatParamT table;
        table.tensorScale = {1 / 0.03f};
        table.zeroPoint = 2;
        codes = cast(wire::OpType::FloatToInt8, x, std::move(table));
        y = conv(codes);
    }
};

TEST(Quantize, AConvolutionOfCodesComputesWithThem) {
    CodesNet n;
    n.quant(n.codes).quant(n.y, 0.05f);
    const NetResult result = runNet(n.finish({n.y}));
    EXPECT_EQ(result.types(), (Types{"FloatToInt8", "ConvInt8", "Int8ToFloat"}));
    EXPECT_TRUE(onGrid(result.outputs[0], 0.05f));
}

TEST(Quantize, AConvolutionOfCodesWithoutAScaleOfItsResultIsFloat) {
    CodesNet n;
    n.quant(n.codes);
    EXPECT_EQ(runNet(n.finish({n.y})).types(), (Types{"FloatToInt8", "Int8ToFloat", "Convolution"}));
}

TEST(Quantize, AConvolutionOfCodesNeedsTheirScale) {
    CodesNet n;
    n.quant(n.y);
    const auto net = n.finish({n.y});
    expectFailure(Status::NotSupported, "gives no scale", [&] { runNet(net); });
}

// An activation behind codes of the net computes with codes; between operators of floats it would gain nothing.
TEST(Quantize, AnActivationOfCodesOfTheNetComputesWithThem) {
    CodesNet n;
    wire::QuantizedFloatParamT table;
    table.tensorScale = {0.03f};
    table.zeroPoint = 2;
    const int values = n.cast(wire::OpType::Int8ToFloat, n.codes, std::move(table)), y = n.relu(values);
    n.quant(n.codes).quant(values).quant(y);
    EXPECT_EQ(runNet(n.finish({n.sigmoid(y)})).types(), (Types{"FloatToInt8", "ReLU", "Int8ToFloat", "UnaryOp"}));

    QuantNet floats;
    const int x = floats.input(), z = floats.relu(x);
    floats.quant(x).quant(z);
    EXPECT_EQ(runNet(floats.finish({floats.sigmoid(z)})).types(), (Types{"ElementwiseChain"}));
}

// x -> explicit codes -> their sum with themselves, with these numbers of scales
struct SumNet : CodesNet {
    int sum(size_t first, size_t second, size_t last) {
        wire::EltwiseInt8T table;
        std::unique_ptr<wire::QuantizedFloatParamT>* parts[] = {&table.inputQuan0, &table.inputQuan1,
                                                                &table.outputQuan};
        const size_t counts[] = {first, second, last};
        for (size_t i = 0; i < 3; ++i) {
            *parts[i] = std::make_unique<wire::QuantizedFloatParamT>();
            (*parts[i])->tensorScale.assign(counts[i], 0.5f);
        }
        return add(wire::OpType::EltwiseInt8, {codes, codes}, std::move(table));
    }
};

TEST(EltwiseInt8, ScalesThatDoNotFitAreRefused) {
    SumNet missing, many;
    const auto two = missing.finish({missing.sum(1, 1, 0)});
    expectFailure(Status::BadParameter, "scale 2 of its 3 is missing", [&] { runNet(two); });
    const auto five = many.finish({many.sum(1, kChannels - 1, kChannels)});
    expectFailure(Status::ComputeSizeError, "5 scales for 6 channels", [&] { runNet(five); });
}

TEST(QuantCast, BadTablesAreRefused) {
    wire::QuantizedFloatParamT scaleless, nan, crossed, many, zeros;
    nan.tensorScale = {std::nanf("")};
    crossed.tensorScale = many.tensorScale = zeros.tensorScale = {1};
    crossed.clampMin = 5;
    crossed.clampMax = 4;
    many.tensorScale.assign(kChannels - 1, 1.0f);
    zeros.floatzeros = {1, 2};
    const struct {
        wire::QuantizedFloatParamT* table;
        Status status;
    } cases[] = {{&scaleless, Status::BadParameter},
                 {&nan, Status::BadParameter},
                 {&crossed, Status::BadParameter},
                 {&zeros, Status::BadParameter},
                 {&many, Status::ComputeSizeError}};
    for (const auto& one : cases) {
        QuantNet n;
        const int x = n.input(), a = n.cast(wire::OpType::FloatToInt8, x, std::move(*one.table));
        const wire::NetT net = n.finish({a});
        expectFailure(one.status, "op1", [&] { runNet(net); });
    }
}

TEST(QuantCast, WithoutATableTheTensorMustHaveAScale) {
    QuantNet n;
    const int x = n.input(), a = n.castWithoutTable(wire::OpType::FloatToInt8, x);
    const wire::NetT net = n.finish({a});
    expectFailure(Status::NoExecution, "no table", [&] { runNet(net); });
    expectFailure(Status::NoExecution, "float32 1x6x5x4) and outputs (", [&] { runNet(net); });
}

wire::Convolution2DT foldedConv(size_t weights, size_t values) {
    wire::Convolution2DT conv = makeConv(kChannels, kChannels, 0);
    conv.bias.clear();
    conv.symmetricQuan = std::make_unique<wire::QuantizedFloatParamT>();
    conv.symmetricQuan->weight.assign(weights, 1);
    conv.symmetricQuan->bias.assign(values, 10);
    conv.symmetricQuan->scale.assign(values, 0.25f);
    return conv;
}

TEST(ConvInt8, OldFormCountsItsIntegers) {
    wire::QuantizedFloatParamT to, from;
    to.tensorScale = {1};
    from.tensorScale = {1};
    QuantNet n;
    const int x = n.input(), a = n.cast(wire::OpType::FloatToInt8, x, std::move(to));
    const int b = n.convInt8(a, foldedConv(kChannels * kChannels, kChannels));
    const int c = n.cast(wire::OpType::Int8ToFloat, b, std::move(from));
    const NetResult result = runNet(n.finish({c}));
    EXPECT_EQ(result.types(), (Types{"FloatToInt8", "ConvInt8", "Int8ToFloat"}));
    for (int i = 0; i < 20; ++i) {
        float sum = 10;
        for (int k = 0; k < kChannels; ++k) sum += std::round(3 * std::sin(static_cast<float>((k * 20 + i) * 7 + 1)));
        EXPECT_EQ(result.outputs[0][static_cast<size_t>(i)], std::round(sum * 0.25f));
    }
}

TEST(ConvInt8, WrongCountsAreRefused) {
    const auto net = [](wire::Convolution2DT conv) {
        wire::QuantizedFloatParamT to;
        to.tensorScale = {1};
        QuantNet n;
        const int x = n.input(), a = n.cast(wire::OpType::FloatToInt8, x, std::move(to));
        return n.finish({n.convInt8(a, std::move(conv))});
    };
    expectRefused(net(foldedConv(kChannels * kChannels, kChannels - 1)), Status::BadWeights, "int8 scale");
    expectRefused(net(foldedConv(kChannels * kChannels - 1, kChannels)), Status::BadWeights, "weights");
    // This convolution has neither integers to fold in nor scales of its tensors.
    wire::Convolution2DT bare = foldedConv(kChannels * kChannels, kChannels);
    bare.symmetricQuan->bias.clear();
    bare.symmetricQuan->scale.clear();
    const wire::NetT scaleless = net(std::move(bare));
    expectFailure(Status::BadParameter, "int8 scales", [&] { runNet(scaleless); });
}

}  // namespace
}  // namespace mnnc::test
