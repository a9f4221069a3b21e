// Sessions with Memory Low and Precision Low: their weights, algorithms and results.
#include <gtest/gtest.h>

#include "backends/cpu/kernels/conv_kernels.h"
#include "backends/cpu/kernels/kernels.h"
#include "float_util.h"
#include "net_builder.h"

namespace mnnc::test {
namespace {

constexpr int kChannels = 128;

// input -> 1x1 -> 3x3 -> 1x1, with int8 weights and a scale and an offset per output channel.
wire::NetT quantisedNet() {
    wire::NetT net;
    net.tensorName = {"in", "a", "b", "out"};
    net.outputName = {"out"};
    net.oplists.push_back(makeInput(0, {1, kChannels, 9, 9}));
    const int kernels[] = {1, 3, 1};
    for (int i = 0; i < 3; ++i) {
        const int kernel = kernels[i];
        wire::Convolution2DT conv = makeConv(kChannels, kChannels, 0);
        conv.common->kernelX = conv.common->kernelY = kernel;
        conv.common->pads = {kernel / 2, kernel / 2, kernel / 2, kernel / 2};
        conv.quanParameter = std::make_unique<wire::IDSTQuanT>();
        conv.quanParameter->type = 4;
        conv.quanParameter->readType = kChannels;
        conv.quanParameter->aMin = -128;
        conv.quanParameter->quantScale = 1.0f;
        for (int k = 0; k < kChannels * kChannels * kernel * kernel; ++k)
            conv.quanParameter->buffer.push_back(static_cast<int8_t>(k * 37 % 256 - 128));
        for (int k = 0; k < kChannels; ++k) {
            conv.quanParameter->alpha.push_back(-0.1f);
            conv.quanParameter->alpha.push_back(0.001f * static_cast<float>(k % 7 - 3));
        }
        net.oplists.push_back(
            makeOp(wire::OpType::Convolution, "conv" + std::to_string(i), {i}, {i + 1}, std::move(conv)));
    }
    return net;
}

NetResult run(MemoryMode memory, Precision precision, int threads = 1) {
    SessionConfig config;
    config.backend.threads = threads;
    config.backend.memory = memory;
    config.backend.precision = precision;
    return runNet(quantisedNet(), config);
}

// Counts the operators whose algorithm's name contains the text.
size_t naming(const NetResult& result, const std::string& text) {
    size_t count = 0;
    for (const OpRecord& op : result.ops) count += std::string(op.algorithm).find(text) != std::string::npos;
    return count;
}

TEST(BackendConfig, MemoryLowKeepsQuantizedWeights) {
    const NetResult normal = run(MemoryMode::Normal, Precision::Normal);
    EXPECT_EQ(naming(normal, ".w8"), 0u);
    for (const int threads : {1, 2}) {
        const NetResult low = run(MemoryMode::Low, Precision::Normal, threads);
        EXPECT_EQ(naming(low, ".w8"), 3u);
        EXPECT_EQ(naming(low, ".int16") > 0, selectKernels().w8a16 != nullptr);
        EXPECT_LT(low.weightBytes * 3, normal.weightBytes);
        EXPECT_LT(distanceToLargest(low.outputs[0], normal.outputs[0]), 1e-5);
    }
}

TEST(BackendConfig, PrecisionLowRoundsOnlyWhereTheCpuCan) {
    const NetResult normal = run(MemoryMode::Normal, Precision::Normal);
    const Bf16Kernels* bf16 = selectKernels().bf16;
    const std::string name = bf16 ? std::string(".") + bf16->type : ".bf16";
    for (const MemoryMode memory : {MemoryMode::Normal, MemoryMode::Low}) {
        const NetResult low = run(memory, Precision::Low), again = run(memory, Precision::Low, 2);
        EXPECT_EQ(naming(low, name) > 0, bf16 != nullptr);
        // The pointwise convolution multiplies weights that stay quantised as integers on x86.
        const bool integers =
            memory == MemoryMode::Low && selectKernels().w8a16 && (!bf16 || selectKernels().id != Isa::Neon);
        EXPECT_EQ(naming(low, "gemm1x1.int16.w8") > 0, integers);
        EXPECT_LT(distanceToLargest(low.outputs[0], normal.outputs[0]), bf16 ? 5e-2 : 1e-5);
        EXPECT_EQ(low.outputs, again.outputs) << "threads change the result";
    }
}

}  // namespace
}  // namespace mnnc::test
