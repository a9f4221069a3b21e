// Convolution and deconvolution against stored values; the weights are tensors.
#include "ops/convolution.h"

#include <gtest/gtest.h>

#include "op_harness.h"

namespace mnnc::test {
namespace {

ConvParams kernel(int size, int stride, ConvPad mode, std::vector<int> pads = {}) {
    ConvParams p;
    p.kernelX = p.kernelY = size;
    p.strideX = p.strideY = stride;
    p.padMode = mode;
    p.pads = std::move(pads);
    p.outputCount = 1;
    return p;
}

Value ones(Shape shape) {
    return {shape, std::vector<float>(static_cast<size_t>(shape.elements()), 1.0f), Format::NCHW, {}};
}

Value convolve(const ConvParams& params, const std::vector<Value>& inputs, OpType type = OpType::Convolution) {
    Value result;
    for (const std::string& isa : availableIsas()) {
        OpRun run(type, std::make_shared<ConvParams>(params), isa.c_str());
        const Value now = run(inputs)[0];
        if (!result.data.empty()) {
            EXPECT_LT(distance(now.data, result.data), 1e-5) << isa;
        }
        result = now;
    }
    return result;
}

void expectValues(const Value& got, const std::vector<float>& want) {
    EXPECT_LT(distance(got.data, want), 1e-4);
}

TEST(Convolution, Windows) {
    const Value x = iota({1, 1, 3, 3}), w = ones({1, 1, 3, 3});
    expectValues(convolve(kernel(3, 1, ConvPad::Explicit, {0, 1, 1, 0}), {x, w}), {27, 45, 24, 39});
    expectValues(convolve(kernel(3, 1, ConvPad::Explicit, {1, 0, 0, 1}), {x, w}), {21, 16, 45, 33});
    expectValues(convolve(kernel(1, 3, ConvPad::Same), {iota({1, 1, 6, 6}), ones({1, 1, 1, 1})}), {1, 4, 19, 22});
    expectValues(convolve(kernel(1, 4, ConvPad::Same), {iota({1, 1, 8, 8}), ones({1, 1, 1, 1})}), {1, 5, 33, 37});
    expectValues(convolve(kernel(2, 2, ConvPad::Same), {x, ones({1, 1, 2, 2})}), {12, 9, 15, 9});
    ConvParams shifted = kernel(3, 2, ConvPad::Valid);
    shifted.padX = shifted.padY = 1;
    expectValues(convolve(shifted, {iota({1, 1, 5, 5}), w}), {16, 33, 69, 117});
    expectValues(convolve(kernel(3, 1, ConvPad::Valid, {1, 1, 1, 1}), {iota({1, 1, 4, 4}), w}), {14, 24, 33, 54});
}

TEST(Convolution, GroupsRanksAndFormats) {
    ConvParams p = kernel(1, 1, ConvPad::Explicit);
    p.outputCount = p.group = 2;
    const Value w{{2, 1, 1, 1}, {2, 3}, Format::NCHW, {}}, b{{2}, {0, 1}, Format::NCHW, {}};
    for (const int stated : {0, 1, 2}) {
        p.inputCount = stated;
        expectValues(convolve(p, {iota({1, 2, 1, 2}), w, b}), {2, 4, 10, 13});
    }
    const Value nhwc{{1, 1, 2, 2}, {1, 3, 2, 4}, Format::NHWC, {}};
    expectValues(convolve(p, {nhwc, w, b}), {2, 10, 4, 13});
    expectValues(convolve(p, {iota({1, 2, 1, 2}), w, b}, OpType::ConvolutionDepthwise), {2, 4, 10, 13});
    ConvParams dense = kernel(1, 1, ConvPad::Explicit);
    dense.outputCount = 0;  // taken from the tensor
    const Value y = convolve(dense, {iota({2, 2}), {{3, 2, 1, 1}, {1, 0, 0, 1, 1, 1}, Format::NCHW, {}}});
    EXPECT_EQ(y.shape, (Shape{2, 3}));
    expectValues(y, {1, 2, 3, 3, 4, 7});
}

TEST(Convolution, ActivationAndErrors) {
    ConvParams p = kernel(1, 1, ConvPad::Explicit);
    const Value x{{1, 1, 1, 3}, {-1, 3, 9}, Format::NCHW, {}};
    p.epilogue.lo = 0;
    expectValues(convolve(p, {x, ones({1, 1, 1, 1})}), {0, 3, 9});
    p.epilogue.hi = 6;
    expectValues(convolve(p, {x, ones({1, 1, 1, 1})}), {0, 3, 6});
    EXPECT_THROW(convolve(p, {x, ones({3, 2, 2, 2})}), Error);
    EXPECT_THROW(convolve(p, {iota({4}), ones({1, 1, 1, 1})}), Error);
}

TEST(Deconvolution, Windows) {
    const Value x{{1, 1, 2, 2}, {1, 0, 0, 0}, Format::NCHW, {}}, w = iota({1, 1, 3, 3});
    const auto run = [&](ConvParams p, std::vector<int32_t> size = {}) {
        if (size.empty()) return convolve(p, {x, w}, OpType::Deconvolution);
        p.hasOutputShape = true;
        return convolve(p, {x, w, {{4}, {}, Format::NCHW, size}}, OpType::Deconvolution);
    };
    expectValues(run(kernel(3, 1, ConvPad::Explicit)), {1, 2, 3, 0, 4, 5, 6, 0, 7, 8, 9, 0, 0, 0, 0, 0});
    expectValues(run(kernel(3, 2, ConvPad::Explicit, {1, 1, 1, 1})), {5, 6, 0, 8, 9, 0, 0, 0, 0});
    expectValues(run(kernel(3, 2, ConvPad::Explicit, {1, 0, 0, 1})), {4, 5, 6, 0, 7, 8, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    ConvParams extra = kernel(3, 2, ConvPad::Explicit, {1, 1, 1, 1});
    extra.outPads = {1, 0};
    expectValues(run(extra), {5, 6, 0, 8, 9, 0, 0, 0, 0, 0, 0, 0});
    const std::vector<float> same = {1, 2, 3, 0, 4, 5, 6, 0, 7, 8, 9, 0, 0, 0, 0, 0};
    expectValues(run(kernel(3, 2, ConvPad::Same)), same);
    expectValues(run(kernel(3, 2, ConvPad::Same), {1, 3, 3, 1}), {5, 6, 0, 8, 9, 0, 0, 0, 0});
    const auto tall = [&](int rows) {
        ConvParams p = kernel(1, 1 << 20, ConvPad::Same);
        p.hasOutputShape = true;
        return convolve(p, {iota({1, 1, rows, 1}), ones({1, 1, 1, 1}), {{4}, {}, Format::NCHW, {1, 1000, 1, 1}}},
                        OpType::Deconvolution);
    };
    EXPECT_EQ(tall(2).shape, (Shape{1, 1, 1000, 1}));
    EXPECT_THROW(tall(4097), Error);  // half of the rows between its inputs would be padding
    const Value large = run(kernel(3, 2, ConvPad::Same), {1, 6, 6, 1});
    EXPECT_EQ(large.shape, (Shape{1, 1, 6, 6}));
    EXPECT_EQ(large.data[0], 1);
    EXPECT_EQ(large.data[2], 3);
    EXPECT_EQ(large.data[14], 9);
    const Value channels{{1, 2, 1, 1}, {1, 10}, Format::NCHW, {}};
    ConvParams mix = kernel(1, 1, ConvPad::Explicit);
    mix.outputCount = 2;
    expectValues(convolve(mix, {channels, {{2, 2, 1, 1}, {1, 2, 3, 4}, Format::NCHW, {}}}, OpType::Deconvolution),
                 {31, 42});
    mix.group = 2;
    expectValues(convolve(mix, {channels, {{2, 1, 1, 1}, {1, 2}, Format::NCHW, {}}}, OpType::DeconvolutionDepthwise),
                 {1, 20});
    // A window of one tap may have any dilation: its product with the stride is beyond 32 bits.
    mix.strideX = mix.strideY = 65537;
    mix.dilateX = mix.dilateY = 65535;
    expectValues(convolve(mix, {channels, {{2, 1, 1, 1}, {1, 2}, Format::NCHW, {}}}, OpType::DeconvolutionDepthwise),
                 {1, 20});
}

}  // namespace
}  // namespace mnnc::test
