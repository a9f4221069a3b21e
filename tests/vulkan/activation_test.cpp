// ReLU and ReLU6.
#include <gtest/gtest.h>

#include "ops/activation.h"
#include "vulkan_harness.h"

namespace mnnc::vulkan::testing {

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

TEST(Activation, relu) {
    auto params = std::make_shared<ReluParams>();
    overShapes(OpType::ReLU, params);
    params = std::make_shared<ReluParams>();
    params->slope = 0.25f;
    overShapes(OpType::ReLU, params);
}

TEST(Activation, relu6) {
    auto params = std::make_shared<ClipParams>();
    overShapes(OpType::ReLU6, params);
    params = std::make_shared<ClipParams>();
    params->lo = -1.5f;
    params->hi = 2.5f;
    overShapes(OpType::ReLU6, params);
}

}  // namespace mnnc::vulkan::testing
