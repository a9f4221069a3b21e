// Nets whose operators alternate between the device and the CPU: copies in both directions, once per tensor.
#include <gtest/gtest.h>

#include <cmath>

#include "backends/vulkan/device/device.h"
#include "session/session.h"
#include "tensor/host_copy.h"
#include "unit/net_builder.h"

namespace mnnc::test {
namespace {

using vulkan::Count;
using vulkan::Device;

// Operator i is a PReLU of channels, which no chain includes; names end in _host where the CPU must execute it. t0 is
// the input; operator i computes t(i+1) from `from`.
struct Link {
    int from;
    bool host;
};

wire::NetT chain(const std::vector<Link>& links, const std::vector<int>& outputs) {
    wire::NetT net;
    for (size_t i = 0; i <= links.size(); ++i) net.tensorName.push_back("t" + std::to_string(i));
    net.oplists.push_back(makeInput(0, {2, 5, 3, 7}));
    for (size_t i = 0; i < links.size(); ++i) {
        wire::PReluT prelu;
        prelu.slopeCount = 5;
        prelu.slope.assign(5, 0.5f + 0.25f * static_cast<float>(i % 3));
        const int to = static_cast<int>(i) + 1;
        net.oplists.push_back(makeOp(wire::OpType::PReLU,
                                     "op" + std::to_string(to) + (links[i].host ? "_host" : "_device"), {links[i].from},
                                     {to}, std::move(prelu)));
    }
    for (const int output : outputs) net.outputName.push_back("t" + std::to_string(output));
    return net;
}

struct Result {
    std::vector<std::vector<float>> outputs;
    std::string placement;  // D or H for each operator
};

Result run(const wire::NetT& net, ForwardType type, bool batch) {
    const auto interpreter = open(net);
    SessionConfig config;
    config.forwardType = type;
    config.backend.recordBatch = batch;
    config.backend.deviceLimits.refuse = "_host";
    Session session(interpreter, config);
    Result result;
    for (int round = 0; round < 3; ++round) {  // later runs replay the recording
        result = {};
        std::vector<float> values(static_cast<size_t>(session.input(0).elements()));
        for (size_t i = 0; i < values.size(); ++i)
            values[i] = std::sin(static_cast<float>(i) + static_cast<float>(round));
        copyFromHost(session.input(0), session.inputData(0), values.data(), Format::NCHW);
        session.run();
        for (size_t i = 0; i < session.outputCount(); ++i) {
            const Operand& output = session.output(i);
            result.outputs.emplace_back(static_cast<size_t>(output.elements()));
            copyToHost(output, session.outputData(i), result.outputs.back().data(), Format::NCHW);
        }
    }
    for (const OpRecord& record : session.records())
        result.placement += std::string(record.backend) == "vulkan" ? 'D' : 'H';
    return result;
}

void expectAlternates(const std::vector<Link>& links, const std::vector<int>& outputs) {
    const wire::NetT net = chain(links, outputs);
    const Result wanted = run(net, ForwardType::Cpu, true);
    std::string placement;
    for (const Link& link : links) placement += link.host ? 'H' : 'D';
    for (const bool batch : {true, false}) {
        const Result got = run(net, ForwardType::Vulkan, batch);
        EXPECT_EQ(got.outputs, wanted.outputs);
        EXPECT_EQ(got.placement, placement);
    }
}

TEST(Alternating, OperatorByOperator) {
    expectAlternates({{0, false}, {1, true}, {2, false}, {3, true}, {4, false}, {5, true}}, {6});
    expectAlternates({{0, true}, {1, false}, {2, true}, {3, false}, {4, true}, {5, false}}, {6});
}

TEST(Alternating, HostAtTheStartInTheMiddleAndAtTheEnd) {
    expectAlternates({{0, true}, {1, true}, {2, false}, {3, false}, {4, true}, {5, true}, {6, false}, {7, true}}, {8});
    expectAlternates({{0, true}, {1, true}}, {2});
    expectAlternates({{0, false}, {1, false}}, {2});
}

TEST(Alternating, TensorsReadByBothSides) {
    // The device, the CPU and the caller read t1, and also t2.
    expectAlternates({{0, false}, {1, false}, {1, true}, {2, true}, {2, false}, {3, false}, {1, true}, {3, true}},
                     {1, 2, 5, 6, 7, 8, 4});
    expectAlternates({{0, true}, {1, true}, {1, false}, {2, false}, {2, true}, {3, true}, {1, false}, {3, false}},
                     {1, 2, 5, 6, 7, 8, 4});
}

// Copies once per tensor: three readers on the other side cost one copy each way.
TEST(Alternating, OneCopyPerTensor) {
    const auto dispatches = [](const std::vector<Link>& links, const std::vector<int>& outputs) {
        const int64_t before = Device::counters()[static_cast<size_t>(Count::Dispatches)];
        run(chain(links, outputs), ForwardType::Vulkan, true);
        return Device::counters()[static_cast<size_t>(Count::Dispatches)] - before;
    };
    // upload, op, download, and three CPU readers
    EXPECT_EQ(dispatches({{0, false}, {1, true}, {1, true}, {1, true}}, {2, 3, 4}), 3);
    // upload of t1, three ops, three downloads for the caller
    EXPECT_EQ(dispatches({{0, true}, {1, false}, {1, false}, {1, false}}, {2, 3, 4}), 7);
}

}  // namespace
}  // namespace mnnc::test
