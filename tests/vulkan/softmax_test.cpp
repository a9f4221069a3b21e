// Softmax.
#include "ops/softmax.h"

#include <gtest/gtest.h>

#include <limits>

#include "vulkan_harness.h"

namespace mnnc::vulkan::test {

namespace {

ParamsPtr softmaxParams(int axis) {
    auto params = std::make_shared<SoftmaxParams>();
    params->axis = axis;
    return params;
}

}  // namespace

TEST(Softmax, Axes) {
    const Value input = randomValue({2, 5, 3, 8}, 1, -6, 6);
    for (int axis = -1; axis < 4; ++axis) expectSameAsCpu(sameShape(OpType::Softmax, softmaxParams(axis), input), 1e-6);
    Value packed = input;
    packed.packed = true;
    expectSameAsCpu(sameShape(OpType::Softmax, softmaxParams(1), packed), 1e-6);
    expectSameAsCpu(sameShape(OpType::Softmax, softmaxParams(0), randomValue({1}, 2)), 1e-6);
}

TEST(Softmax, Lengths) {
    for (const int64_t length : {1, 3, 10, 65, 1000, 1031, 5000})
        expectSameAsCpu(sameShape(OpType::Softmax, softmaxParams(1), randomValue({3, length}, 3, -20, 20)), 1e-6);
    expectSameAsCpu(sameShape(OpType::Softmax, softmaxParams(0), randomValue({700, 3}, 4, -20, 20)), 1e-6);
    expectSameAsCpu(sameShape(OpType::Softmax, softmaxParams(-1), randomValue({300, 7}, 5, -20, 20)), 1e-6);
}

TEST(Softmax, LongRows) {
    expectSameAsCpuOrRefused(sameShape(OpType::Softmax, softmaxParams(0), randomValue({5130001}, 3)), "rounds", 1e-6);
}

// Masks: rows that are partly or completely -inf, and large values.
TEST(Softmax, Extremes) {
    Value input = randomValue({6, 12}, 6, -300, 300);
    const float inf = std::numeric_limits<float>::infinity();
    for (size_t i = 0; i < 12; ++i) {
        input.floats[i] = -inf;
        input.floats[12 + i] = i % 3 ? -inf : 1;
        input.floats[24 + i] = -1e30f;
    }
    for (const int axis : {0, 1}) expectSameAsCpu(sameShape(OpType::Softmax, softmaxParams(axis), input), 1e-6, -1);
}

}  // namespace mnnc::vulkan::test
