// Reshaped tensors that the caller and the device both read are views of one another, not copies.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "backends/vulkan/device/device.h"
#include "session/session.h"
#include "tensor/host_copy.h"
#include "unit/net_builder.h"

namespace mnnc::test {
namespace {

using vulkan::Count;
using vulkan::Device;

int64_t counter(Count kind) {
    return Device::counters()[static_cast<size_t>(kind)];
}

// t0 -> ReLU -> t1 -> Reshape -> t2 -> ReLU -> t3 -> Reshape -> t4 -> ReLU -> t5
wire::NetT reshapes(const std::vector<int>& outputs) {
    wire::NetT net;
    for (int i = 0; i <= 5; ++i) net.tensorName.push_back("t" + std::to_string(i));
    net.oplists.push_back(makeInput(0, {2, 5, 3, 7}));
    const std::vector<int32_t> dims[] = {{2, 3, 35}, {6, 35}};
    for (int i = 0; i < 5; ++i) {
        const std::string name = "op" + std::to_string(i);
        if (i % 2 == 0) {
            wire::ReluT relu;
            relu.slope = 0.5f;
            net.oplists.push_back(makeOp(wire::OpType::ReLU, name, {i}, {i + 1}, std::move(relu)));
        } else {
            wire::ReshapeT reshape;
            reshape.dims = dims[i / 2];
            net.oplists.push_back(makeOp(wire::OpType::Reshape, name, {i}, {i + 1}, std::move(reshape)));
        }
    }
    for (const int output : outputs) net.outputName.push_back("t" + std::to_string(output));
    return net;
}

// Reads the bits of `input` as integers: the same memory with another type.
std::unique_ptr<wire::OpT> makeBits(int input, int output, const std::vector<int32_t>& dims) {
    wire::ExtraT table;
    const auto add = [&](const char* key, int32_t value, std::vector<int32_t> list) {
        auto attribute = std::make_unique<wire::AttributeT>();
        attribute->key = key;
        attribute->i = value;
        if (!list.empty()) {
            attribute->list = std::make_unique<wire::ListValueT>();
            attribute->list->i = std::move(list);
        }
        table.attr.push_back(std::move(attribute));
    };
    int32_t count = 1;
    for (const int32_t extent : dims) count *= extent;
    add("shape", 0, dims);
    add("code", 0, {});
    add("bits", 32, {});
    add("region", 0, {0, 0, 0, 1, 0, 0, 0, 1, 1, 1, count});
    return makeOp(wire::OpType::Raster, "bits", {input}, {output}, std::move(table));
}

std::unique_ptr<wire::OpT> makeMaximum(int a, int b, int output, wire::DataType type) {
    wire::BinaryOpT largest;
    largest.opType = wire::BinaryOpOperation::MAXIMUM;
    largest.T = type;
    return makeOp(wire::OpType::BinaryOp, "maximum" + std::to_string(output), {a, b}, {output}, std::move(largest));
}

// Runs twice with different values, so that an old copy would be detected.
std::vector<std::vector<float>> run(const wire::NetT& net, ForwardType type, Precision precision = Precision::Normal) {
    const auto interpreter = open(net);
    SessionConfig config;
    config.forwardType = type;
    config.backend.precision = precision;
    Session session(interpreter, config);
    std::vector<std::vector<float>> result;
    for (int round = 0; round < 2; ++round) {
        std::vector<float> values(static_cast<size_t>(session.input(0).elements()));
        for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i + 100 * round));
        copyFromHost(session.input(0), session.inputData(0), values.data(), Format::NCHW);
        session.run();
        for (size_t i = 0; i < session.outputCount(); ++i) {
            result.emplace_back(static_cast<size_t>(session.output(i).elements()));
            copyToHost(session.output(i), session.outputData(i), result.back().data(), Format::NCHW);
        }
    }
    return result;
}

TEST(Elision, AnyViewCanBeAnOutput) {
    for (int mask = 1; mask < 32; ++mask) {
        std::vector<int> outputs;
        for (int i = 0; i < 5; ++i)
            if (mask >> i & 1) outputs.push_back(i + 1);
        const wire::NetT net = reshapes(outputs);
        const int64_t submits = counter(Count::Submits);
        EXPECT_EQ(run(net, ForwardType::Vulkan), run(net, ForwardType::Cpu)) << "outputs " << mask;
        EXPECT_EQ(counter(Count::Submits), submits + 2) << "outputs " << mask;
    }
}

// A device may store floats narrower than integers, so each type needs separate memory on the device.
TEST(Elision, ViewsOfAnotherTypeAreConverted) {
    const std::vector<int32_t> dims = {2, 5, 3, 7};
    for (const bool bitsFirst : {false, true}) {
        wire::NetT net;
        for (const char* name : {"t0", "bits", "float maximum", "bit maximum"}) net.tensorName.emplace_back(name);
        net.oplists.push_back(makeInput(0, dims));
        net.oplists.push_back(makeBits(0, 1, dims));
        if (bitsFirst) net.oplists.push_back(makeMaximum(1, 1, 3, wire::DataType::DT_INT32));
        net.oplists.push_back(makeMaximum(0, 0, 2, wire::DataType::DT_FLOAT));
        if (!bitsFirst) net.oplists.push_back(makeMaximum(1, 1, 3, wire::DataType::DT_INT32));
        net.outputName = {"bit maximum"};
        const auto wanted = run(net, ForwardType::Cpu);
        EXPECT_EQ(run(net, ForwardType::Vulkan), wanted) << bitsFirst;
        net.outputName = {"float maximum", "bit maximum"};
        const auto low = run(net, ForwardType::Vulkan, Precision::Low);
        for (size_t round = 0; round < 2; ++round)
            EXPECT_EQ(
                0, std::memcmp(low[2 * round + 1].data(), wanted[round].data(), wanted[round].size() * sizeof(float)))
                << bitsFirst;
    }
}

TEST(Elision, ViewsAreNotUploadedAgain) {
    const int64_t before = counter(Count::Dispatches);
    run(reshapes({1, 2, 3, 4, 5}), ForwardType::Vulkan);
    // upload, three ReLUs, and downloads of t1, t3, t5: t2 and t4 are views of them
    EXPECT_EQ(counter(Count::Dispatches) - before, 7);
}

}  // namespace
}  // namespace mnnc::test
