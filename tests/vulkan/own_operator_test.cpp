// Operators of the host in sessions on a device: their tensors are copied from and to it.
#include <cmath>

#include "unit/own_operator.h"

#include "validation_guard.h"

namespace mnnc::vulkan::test {
namespace {

using namespace mnnc::test;

// conv -> own with two outputs -> conv of one, an addition to the other.
std::vector<uint8_t> net() {
    PluginNet net;
    const int x = net.conv(net.input({1, 5, 6, 7}), 5, 6, 3, true);
    const Ints own = net.several(wire::OpType::Plugin, {x}, 2, PluginNet::table("Own"));
    const int sum = net.binary(wire::BinaryOpOperation::ADD, own[1], net.scalar(1));
    return pack(net.finish({net.conv(own[0], 6, 9, 1), sum}));
}

// Computes, from six maps, the squares, and the mean of each map.
mnn_status compute(mnn_operator_call_t& call) {
    const size_t plane = 42;
    for (size_t c = 0; c < 6; ++c) {
        float sum = 0;
        for (size_t i = 0; i < plane; ++i) {
            const float value = inputFloats(call)[c * plane + i];
            outputFloats(call)[c * plane + i] = value * value;
            sum += value;
        }
        outputFloats(call, 1)[c] = sum / plane;
    }
    return MNN_OK;
}

TEST(OwnOperator, RunsOnTheHostBetweenOperatorsOfTheDevice) {
    Floats values(5 * 42);
    for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i * 3));
    std::vector<Floats> results[2];
    for (const bool device : {false, true}) {
        OwnOperator own("Own");
        own.shape = [](mnn_operator_call_t& call) {
            shapeLikeInput(call);
            call.outputs[1]->rank = 2;
            call.outputs[1]->dims[1] = call.inputs[0]->dims[1];
            return MNN_OK;
        };
        own.prepare = [](mnn_operator_call_t& call) {
            return call.inputs[0]->rank == 4 && call.inputs[0]->bytes == 6 * 42 * 4 ? MNN_OK : MNN_ERROR_INTERNAL;
        };
        own.compute = compute;
        const uint64_t before = ValidationGuard::unexpected();
        {
            OwnNet model(net(), {&own});
            PublicSession session(model.interpreter,
                                  {"", device ? MNN_FORWARD_VULKAN : MNN_FORWARD_CPU, 1, MNN_GPU_RECORD_BATCH});
            ASSERT_EQ(session.created, MNN_OK) << session.error;
            EXPECT_EQ(session.backendOf("several"), "cpu");
            if (device) {
                EXPECT_EQ(session.backendOf("op1"), "vulkan");
            }
            for (int run = 0; run < 2; ++run) {
                session.write(0, values);
                ASSERT_EQ(session.run(), MNN_OK) << session.error;
            }
            results[device] = {session.read(0), session.read(1)};
        }
        EXPECT_EQ(own.computes, 2);
        EXPECT_EQ(own.finalized, 1);
        EXPECT_EQ(ValidationGuard::unexpected(), before) << "the validation layer has messages";
    }
    for (size_t output = 0; output < 2; ++output) {
        ASSERT_EQ(results[0][output].size(), results[1][output].size());
        for (size_t i = 0; i < results[0][output].size(); ++i)
            EXPECT_NEAR(results[0][output][i], results[1][output][i], 1e-3 * (1 + std::fabs(results[0][output][i])))
                << "output " << output << ", element " << i;
    }
}

}  // namespace
}  // namespace mnnc::vulkan::test
