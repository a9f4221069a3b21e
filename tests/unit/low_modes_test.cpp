// Sessions with Memory Low and Precision Low: what they hold, what they say and what they compute.
#include <gtest/gtest.h>

#include <cmath>

#include "backends/cpu/kernels/kernels.h"
#include "model_builder.h"
#include "session/session.h"
#include "tensor/host_copy.h"

namespace mnnc::testing {
namespace {

constexpr int kChannels = 128;

// input -> 1x1 -> 3x3 -> 1x1, with int8 codes and a scale and an offset per output channel.
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

struct Result {
    std::vector<float> output;
    int64_t weightBytes = 0;
    std::vector<std::string> algorithms;
};

Result run(MemoryMode memory, Precision precision, int threads = 1) {
    const std::vector<uint8_t> bytes = pack(quantisedNet());
    const auto interpreter =
        std::make_shared<const Interpreter>(ModelBytes::copied(bytes.data(), bytes.size()), ModelOptions{});
    SessionConfig config;
    config.backend.threads = threads;
    config.backend.memory = memory;
    config.backend.precision = precision;
    Session session(interpreter, config);
    std::vector<float> values(static_cast<size_t>(session.input(0).elements()));
    for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i * 7 + 1));
    copyFromHost(session.input(0), values.data(), Format::NCHW);
    session.run();
    Result result;
    result.output.resize(static_cast<size_t>(session.output(0).elements()));
    copyToHost(session.output(0), result.output.data(), Format::NCHW);
    result.weightBytes = session.memory().weights;
    for (const OpRecord& op : session.records()) result.algorithms.push_back(op.algorithm);
    return result;
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
    double largest = 1e-30, worst = 0;
    for (size_t i = 0; i < a.size(); ++i) {
        largest = std::max(largest, std::abs(double(b[i])));
        worst = std::max(worst, std::abs(double(a[i]) - b[i]));
    }
    return worst / largest;
}

size_t naming(const Result& result, const std::string& text) {
    size_t count = 0;
    for (const std::string& algorithm : result.algorithms) count += algorithm.find(text) != std::string::npos;
    return count;
}

TEST(LowModes, MemoryLowKeepsCodes) {
    const Result normal = run(MemoryMode::Normal, Precision::Normal);
    EXPECT_EQ(naming(normal, ".w8"), 0u);
    for (const int threads : {1, 2}) {
        const Result low = run(MemoryMode::Low, Precision::Normal, threads);
        EXPECT_EQ(naming(low, ".w8"), 3u);
        EXPECT_EQ(naming(low, ".int16") > 0, selectKernels().codes != nullptr);
        EXPECT_LT(low.weightBytes * 3, normal.weightBytes);
        EXPECT_LT(distance(low.output, normal.output), 1e-5);
    }
}

TEST(LowModes, PrecisionLowRoundsOnlyWhereTheCpuCan) {
    const Result normal = run(MemoryMode::Normal, Precision::Normal);
    const bool bf16 = selectKernels().bf16;
    for (const MemoryMode memory : {MemoryMode::Normal, MemoryMode::Low}) {
        const Result low = run(memory, Precision::Low), again = run(memory, Precision::Low, 2);
        EXPECT_EQ(naming(low, ".bf16") > 0, bf16);
        EXPECT_LT(distance(low.output, normal.output), bf16 ? 5e-2 : 1e-5);
        EXPECT_EQ(low.output, again.output) << "threads change the result";
    }
}

}  // namespace
}  // namespace mnnc::testing
