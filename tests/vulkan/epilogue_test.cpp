// Residuals, activations and clamps after every convolution kernel.
#include <gtest/gtest.h>

#include "convolution_case.h"
#include "device_nets.h"

namespace mnnc::vulkan::test {

namespace {

using BinaryCode = wire::BinaryOpOperation;
using UnaryCode = wire::UnaryOpOperation;

struct Kernel {
    const char* name;
    Conv conv;
};

// One case for each kernel and each of its ways to store.
const Kernel kKernels[] = {
    {"product of points", {.input = {2, 6, 17, 19}, .oc = 21}},
    {"product of windows", {.input = {1, 5, 15, 13}, .oc = 9, .kh = 3, .kw = 3, .pads = {1, 1, 1, 1}}},
    {"product with a shared depth", {.input = {1, 250, 5, 5}, .oc = 10, .kh = 3, .kw = 3}},
    {"transposed product",
     {.type = OpType::Deconvolution, .input = {1, 6, 7, 5}, .oc = 9, .kh = 3, .kw = 3, .strideY = 2, .strideX = 2}},
    {"fully connected", {.input = {3, 70, 1, 1}, .oc = 31}},
    {"depthwise",
     {.type = OpType::ConvolutionDepthwise, .input = {2, 6, 9, 7}, .oc = 6, .kh = 3, .kw = 3, .pads = {1, 1, 1, 1}}},
    {"depthwise, several rows",
     {.type = OpType::ConvolutionDepthwise, .input = {2, 33, 90, 80}, .oc = 33, .kh = 3, .kw = 3}},
    {"depthwise transposed",
     {.type = OpType::DeconvolutionDepthwise,
      .input = {1, 6, 7, 5},
      .oc = 6,
      .kh = 2,
      .kw = 2,
      .strideY = 2,
      .strideX = 2}},
    {"groups across quads", {.input = {1, 6, 7, 5}, .oc = 9, .kh = 3, .kw = 3, .group = 3}},
    {"weights as tensors", {.input = {1, 6, 7, 5}, .oc = 9, .kh = 3, .kw = 3, .tensors = true}},
    {"weights as tensors, no bias", {.input = {1, 6, 7, 5}, .oc = 9, .kh = 3, .kw = 3, .tensors = true, .bias = false}},
};

OpCase withEpilogue(const Conv& conv, const Epilogue& epilogue, bool packedResidual = true) {
    OpCase c = makeCase(conv);
    c.epilogue = epilogue;
    if (epilogue.residual) c.inputs.push_back(asPacked(randomValue(c.outputs[0].shape, 4, -3, 3), packedResidual));
    return c;
}

}  // namespace

TEST(Epilogue, EveryKernel) {
    for (const Kernel& kernel : kKernels) {
        SCOPED_TRACE(kernel.name);
        expectSameAsCpu(withEpilogue(kernel.conv, {.lo = 0, .residual = true}), kTolerance);
        expectSameAsCpu(withEpilogue(kernel.conv, {.act = Act::Silu, .hi = 0.5f}), kTolerance);
        expectSameAsCpu(withEpilogue(kernel.conv, {.act = Act::Tanh, .residual = true}, false), kTolerance);
    }
}

TEST(Epilogue, EveryActivation) {
    for (const Act act : {Act::None, Act::HardSwish, Act::Silu, Act::Gelu, Act::Sigmoid, Act::HardSigmoid, Act::Tanh})
        for (const bool residual : {false, true})
            for (const bool clips : {false, true}) {
                Epilogue epilogue;
                epilogue.act = act;
                epilogue.residual = residual;
                if (clips) epilogue.lo = -0.1f, epilogue.hi = 0.7f;
                if (!epilogue.any()) continue;
                expectSameAsCpu(withEpilogue({.input = {1, 5, 6, 7}, .oc = 6, .kh = 2, .kw = 2}, epilogue), kTolerance);
            }
}

namespace {

// relu(conv(x) + x), then sigmoid(conv(y)).
wire::NetT residualNet() {
    NetBuilder s;
    const int x = s.input({1, 16, 9, 11});
    const int y = s.relu(s.binary(BinaryCode::ADD, s.conv(x, 16, 16, 3), x));
    return s.finish({s.unary(UnaryCode::SIGMOID, s.conv(y, 16, 8, 1))});
}

}  // namespace

TEST(Epilogue, PlanTakesThem) {
    const NetResult result = expectNetSameAsCpu(residualNet(), 1e-5);
    EXPECT_EQ(placesOf(result), "Convolution on vulkan, Convolution on vulkan");
    const NetResult half =
        expectNetSameAsCpu(residualNet(), 2e-2, [](BackendConfig& b) { b.precision = Precision::Low; });
    EXPECT_EQ(placesOf(half), "Convolution on vulkan, Convolution on vulkan");
}

// A residual needs one buffer more than some devices bind.
TEST(Epilogue, FewBuffers) {
    const NetResult result =
        expectNetSameAsCpu(residualNet(), 1e-5, [](BackendConfig& b) { b.deviceLimits.storageBuffers = 4; });
    EXPECT_EQ(placesOf(result), "Convolution on vulkan, BinaryOp on vulkan, ReLU on vulkan, Convolution on vulkan");
}

// The CPU executes the convolution with its epilogue where the device refuses it.
TEST(Epilogue, Fallback) {
    NetBuilder s;
    const int x = s.input({1, 16, 9, 11});
    const int first = s.conv(x, 16, 16, 1);
    const int sum = s.binary(BinaryCode::ADD, s.conv(first, 16, 16, 3), x);
    const wire::NetT net = s.finish({s.clip(sum, -1, 2)});
    const std::string refused = net.oplists[2]->name;
    const NetResult result = expectNetSameAsCpu(net, 1e-5, [&](BackendConfig& b) { b.deviceLimits.refuse = refused; });
    EXPECT_EQ(placesOf(result), "Convolution on vulkan, Convolution on cpu");
}

// The clamp of the file's own convolution precedes the epilogue.
TEST(Epilogue, ClampOfTheFile) {
    NetBuilder s;
    const int x = s.input({1, 8, 9, 11});
    const wire::NetT net = s.finish({s.unary(UnaryCode::SIGMOID, s.conv(x, 8, 8, 3, true))});
    EXPECT_EQ(placesOf(expectNetSameAsCpu(net, 1e-5)), "Convolution on vulkan, UnaryOp on vulkan");
    NetBuilder clipped;
    const int z = clipped.conv(clipped.input({1, 8, 9, 11}), 8, 8, 3, true);
    const wire::NetT both = clipped.finish({clipped.clip(z, -1, 0.5f)});
    EXPECT_EQ(placesOf(expectNetSameAsCpu(both, 1e-5)), "Convolution on vulkan");
}

// The residual is added before a change of shape, with another shape.
TEST(Epilogue, ResidualOfAnotherShape) {
    NetBuilder s;
    const int x = s.input({6, 32}), residual = s.input({2, 3, 32});
    const int made = s.conv(s.reshape(x, {6, 32, 1, 1}), 32, 32, 1);
    const int y = s.binary(BinaryCode::ADD, s.reshape(made, {2, 3, 32}), residual);
    const NetResult result = expectNetSameAsCpu(s.finish({y}), 1e-5);
    EXPECT_EQ(result.count("BinaryOp"), 0u);
}

}  // namespace mnnc::vulkan::test
