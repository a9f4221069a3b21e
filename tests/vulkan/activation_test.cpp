// ReLU, ReLU6, ELU, Selu, Threshold, PReLU.
#include "ops/activation.h"

#include <gtest/gtest.h>

#include "channel_cases.h"

namespace mnnc::vulkan::test {

namespace {

const Shape kShapes[] = {{1, 1}, {7}, {2, 3, 5, 7}, {3, 4, 1}, {1, 65, 9, 11}};

void overShapes(OpType type, const ParamsPtr& params) {
    for (const Shape& shape : kShapes)
        for (const bool packed : {false, true}) {
            if (packed && shape.rank() < 2) continue;
            OpCase c;
            c.type = type;
            c.params = params;
            c.inputs = {randomValue(shape, 3, -9, 9)};
            c.inputs[0].packed = packed;
            c.outputs.resize(1);
            c.outputs[0].shape = shape;
            expectSameAsCpu(c, 1e-6, 1e-3);
        }
}

}  // namespace

TEST(Activation, Relu) {
    auto params = std::make_shared<ReluParams>();
    overShapes(OpType::ReLU, params);
    params = std::make_shared<ReluParams>();
    params->slope = 0.25f;
    overShapes(OpType::ReLU, params);
}

TEST(Activation, Relu6) {
    auto params = std::make_shared<ClipParams>();
    overShapes(OpType::ReLU6, params);
    params = std::make_shared<ClipParams>();
    params->lo = -1.5f;
    params->hi = 2.5f;
    overShapes(OpType::ReLU6, params);
}

TEST(Activation, EluSeluThreshold) {
    auto params = std::make_shared<EluParams>();
    params->alpha = 0.7f;
    params->scale = 1.05f;
    for (const OpType type : {OpType::ELU, OpType::Selu, OpType::Threshold})
        for (const bool packed : {false, true})
            expectSameAsCpu(sameShape(type, params, asPacked(randomValue({2, 5, 3, 7}, 4, -4, 4), packed)), 1e-6,
                            type == OpType::Threshold ? 0 : 2e-2);
}

TEST(Activation, Prelu) {
    overChannels(OpType::PReLU, [](int64_t channels) {
        auto params = std::make_shared<PReluParams>();
        params->slopes = randomValue({channels}, 8).floats;
        return params;
    });
    auto one = std::make_shared<PReluParams>();
    one->slopes = {0.3f};
    expectSameAsCpu(sameShape(OpType::PReLU, one, asPacked(randomValue({2, 5, 3}, 9))), 1e-6);
}

}  // namespace mnnc::vulkan::test
