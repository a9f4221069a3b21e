// Convolutions: every kernel, odd shapes, every form of parameters.
#include "convolution_case.h"

#include "backends/vulkan/device/device.h"
#include "device_nets.h"

namespace mnnc::vulkan::test {

TEST(Convolution, Pointwise) {
    check({
        {.input = {1, 3, 5, 7}, .oc = 5},
        {.input = {2, 6, 9, 11}, .oc = 33, .relu = true},
        {.input = {1, 64, 23, 24}, .oc = 40, .relu6 = true},
        {.input = {3, 130, 4, 4}, .oc = 70},
        {.input = {1, 8, 33, 31}, .oc = 1, .bias = false},
        {.input = {1, 5, 40, 1}, .oc = 9},
        {.input = {2, 5, 6}, .oc = 9},
    });
}

TEST(Convolution, FullyConnected) {
    check({
        {.input = {1, 1}, .oc = 1},
        {.input = {1, 70}, .oc = 130, .relu = true},
        {.input = {3, 33, 1, 1}, .oc = 10},
        {.input = {8, 257, 1, 1}, .oc = 6, .relu6 = true},
        {.input = {1, 5, 2, 3}, .oc = 7},
        {.input = {3, 6, 1, 2}, .oc = 7, .bias = false},
        {.input = {40, 18}, .oc = 7},
    });
}

TEST(Convolution, Window) {
    check({
        {.input = {1, 3, 13, 11}, .oc = 10, .kh = 3, .kw = 3, .strideY = 2, .strideX = 2, .pads = {1, 1, 1, 1}},
        {.input = {2, 5, 7, 6}, .oc = 9, .kh = 3, .kw = 3, .pads = {1, 1, 1, 1}, .relu = true},
        {.input = {1, 1, 9, 9}, .oc = 4, .kh = 5, .kw = 2, .strideY = 1, .strideX = 2, .pads = {2, 0, 2, 1}},
        {.input = {1, 7, 12, 10}, .oc = 6, .kh = 3, .kw = 3, .dilateY = 2, .dilateX = 3, .pads = {2, 3, 2, 3}},
        {.input = {1, 9, 1, 1}, .oc = 8, .kh = 3, .kw = 3, .pads = {1, 1, 1, 1}},
        {.input = {2, 6, 5, 4}, .oc = 13, .kh = 5, .kw = 4},
        {.input = {1, 4, 8, 9}, .oc = 4, .kh = 3, .kw = 3, .pads = {-1, -2, 1, 0}},
        {.input = {1, 16, 20, 21}, .oc = 16, .kh = 3, .kw = 3, .pads = {-1, -2, 1, 0}},
        {.input = {1, 4, 6, 6}, .oc = 4, .strideY = 3, .strideX = 3, .mode = ConvPad::Same},
        {.input = {1, 6, 7, 8}, .oc = 5, .kh = 3, .kw = 3, .strideY = 2, .strideX = 2, .mode = ConvPad::Same},
        {.input = {1, 6, 7, 8}, .oc = 5, .kh = 3, .kw = 2, .mode = ConvPad::Valid},
        {.input = {2, 6, 17}, .oc = 5, .kh = 3, .pads = {1, 0, 1, 0}},
        {.input = {1, 3, 40, 41}, .oc = 64, .kh = 3, .kw = 3, .pads = {1, 1, 1, 1}, .relu6 = true},
    });
}

// Large enough for the largest tiles.
TEST(Convolution, Large) {
    check({
        {.input = {1, 9, 100, 127}, .oc = 254, .relu = true},
        {.input = {2, 3, 71, 97}, .oc = 252, .kh = 3, .kw = 3, .pads = {1, 1, 1, 1}},
    });
}

// Deep and small: the depth is cut into slices; under a forced range the weights are cut into parts.
TEST(Convolution, Deep) {
    check({
        {.input = {1, 258, 4, 5}, .oc = 30, .kh = 3, .kw = 3, .pads = {1, 1, 1, 1}, .relu = true},
        {.input = {2, 64, 7, 7}, .oc = 41, .kh = 3, .kw = 3, .strideY = 2, .strideX = 2, .pads = {1, 1, 1, 1}},
        {.input = {1, 600, 4, 4}, .oc = 45},
        {.input = {1, 900}, .oc = 50},
    });
}

TEST(Convolution, Grouped) {
    check({
        {.input = {2, 16, 6, 7}, .oc = 24, .kh = 3, .kw = 3, .pads = {1, 1, 1, 1}, .group = 2, .relu = true},
        {.input = {1, 12, 9, 5}, .oc = 12, .group = 3},
        {.input = {2, 6, 5, 5}, .oc = 9, .kh = 3, .kw = 2, .strideY = 2, .strideX = 1, .group = 3},
        {.input = {1, 5, 6, 6}, .oc = 10, .kh = 3, .kw = 3, .pads = {1, 1, 1, 1}, .group = 5, .relu6 = true},
        {.input = {1, 6, 6, 6}, .oc = 8, .kh = 3, .kw = 3, .dilateY = 2, .dilateX = 2, .group = 2},
        {.input = {1, 128, 6, 6}, .oc = 128, .kh = 3, .kw = 3, .group = 2},  // its weights exceed the small limit
    });
}

TEST(Convolution, Depthwise) {
    const OpType type = OpType::ConvolutionDepthwise;
    check({
        {.type = type, .input = {2, 5, 9, 7}, .oc = 5, .kh = 3, .kw = 3, .pads = {1, 1, 1, 1}, .relu = true},
        {.type = type, .input = {1, 8, 11, 12}, .oc = 8, .kh = 3, .kw = 3, .strideY = 2, .strideX = 2},
        {.type = type,
         .input = {1, 6, 12, 12},
         .oc = 6,
         .kh = 5,
         .kw = 3,
         .dilateY = 2,
         .dilateX = 3,
         .pads = {4, 3, 4, 3}},
        {.type = type, .input = {1, 1, 5, 5}, .oc = 1, .kh = 3, .kw = 3, .pads = {1, 1, 1, 1}},
        {.type = type, .input = {3, 7, 1, 1}, .oc = 7, .kh = 3, .kw = 3, .pads = {1, 1, 1, 1}},
        {.type = type, .input = {1, 4, 7, 6}, .oc = 4, .kh = 7, .kw = 6, .bias = false},
        {.type = type, .input = {1, 4, 7, 9}, .oc = 4, .kh = 2, .kw = 2, .pads = {-1, -1, 0, 0}},
        {.type = type, .input = {1, 4, 27, 29}, .oc = 4, .kh = 3, .kw = 3, .pads = {-2, -3, 0, 0}},
        {.type = OpType::Convolution, .input = {1, 9, 7, 9}, .oc = 9, .kh = 3, .kw = 3, .group = 9},
    });
}

// Large enough for invocations that compute several outputs.
TEST(Convolution, DepthwiseRows) {
    const OpType type = OpType::ConvolutionDepthwise;
    check({
        {.type = type, .input = {1, 62, 97, 95}, .oc = 62, .kh = 3, .kw = 3, .pads = {1, 1, 1, 1}, .relu6 = true},
        {.type = type,
         .input = {2, 33, 151, 121},
         .oc = 33,
         .kh = 5,
         .kw = 5,
         .strideY = 2,
         .strideX = 2,
         .pads = {2, 2, 2, 2}},
        {.type = type,
         .input = {1, 36, 96, 95},
         .oc = 36,
         .kh = 3,
         .kw = 3,
         .dilateY = 2,
         .dilateX = 2,
         .pads = {2, 2, 2, 2}},
    });
}

TEST(Convolution, WideDepthwise) {
    const Conv conv{.type = OpType::ConvolutionDepthwise, .input = {1, 4, 260, 260}, .oc = 4, .kh = 257, .kw = 257};
    expectSameAsCpuOrRefused(makeCase(conv), "rounds", 1e-4);
}

// Weights that can be bound where they have 16 bits each, but not in an operator that keeps 32.
TEST(Convolution, KeptPrecisionBeyondTheLimit) {
    if (!Device::get("", true)->info().storage16) GTEST_SKIP() << "the device stores no halves";
    NetBuilder s;
    const int y = s.grouped(s.input({1, 128, 6, 6}), 128, 2);
    const wire::NetT net = s.finish({y});
    for (const bool kept : {false, true}) {
        const NetResult result = expectNetSameAsCpu(net, 2e-2, [&](BackendConfig& config) {
            config.precision = Precision::Low;
            config.deviceLimits.storageRange = 200000;
            if (kept) config.fp32Operators.push_back("op" + std::to_string(y));
        });
        EXPECT_EQ(placesOf(result).find("Convolution on vulkan") == std::string::npos, kept) << placesOf(result);
    }
}

TEST(Convolution, ManyTaps) {
    expectSameAsCpuOrRefused(makeCase({.input = {1, 1, 1000, 1000}, .oc = 4, .kh = 1000, .kw = 1000}), "rounds", 1e-3);
    // With so many outputs the depth has one slice. These taps take a few more rounds than a software driver does.
    expectSameAsCpuOrRefused(makeCase({.input = {1, 1, 257, 258}, .oc = 4, .kh = 130, .kw = 131}), "rounds", 1e-3);
}

TEST(Convolution, ManyChannelsOfTensorWeights) {
    expectSameAsCpuOrRefused(makeCase({.input = {1, 2048, 4, 4}, .oc = 8, .kh = 3, .kw = 3, .tensors = true}), "rounds",
                             1e-4);
    expectSameAsCpuOrRefused(makeCase({.input = {1, 3, 85, 85}, .oc = 6, .kh = 85, .kw = 85, .group = 3}), "rounds",
                             1e-4);
}

TEST(Convolution, TensorWeights) {
    check({
        {.input = {2, 6, 7, 5}, .oc = 9, .kh = 3, .kw = 3, .pads = {1, 1, 1, 1}, .relu = true, .tensors = true},
        {.input = {1, 6, 7, 5}, .oc = 10, .tensors = true, .bias = false},
        {.input = {1, 8, 6, 5}, .oc = 6, .kh = 3, .kw = 3, .group = 2, .tensors = true},
        {.type = OpType::ConvolutionDepthwise, .input = {1, 7, 6, 5}, .oc = 7, .kh = 3, .kw = 3, .tensors = true},
        {.type = OpType::Deconvolution,
         .input = {2, 5, 4, 5},
         .oc = 6,
         .kh = 4,
         .kw = 3,
         .strideY = 2,
         .strideX = 2,
         .tensors = true},
        {.type = OpType::DeconvolutionDepthwise,
         .input = {1, 5, 4, 5},
         .oc = 5,
         .kh = 2,
         .kw = 2,
         .strideY = 2,
         .strideX = 2,
         .tensors = true,
         .bias = false},
    });
}

}  // namespace mnnc::vulkan::test
