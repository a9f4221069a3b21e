// Softmax, LayerNorm, InstanceNorm.
#include <gtest/gtest.h>

#include <limits>

#include "ops/norm.h"
#include "ops/scale.h"
#include "ops/softmax.h"
#include "vulkan_harness.h"

namespace mnnc::vulkan::testing {

namespace {

OpCase sameShape(OpType type, ParamsPtr params, Value input) {
    OpCase c;
    c.type = type;
    c.params = std::move(params);
    Value output;
    output.shape = input.shape;
    output.format = input.format;
    c.inputs = {std::move(input)};
    c.outputs = {output};
    return c;
}

ParamsPtr softmaxParams(int axis) {
    auto params = std::make_shared<SoftmaxParams>();
    params->axis = axis;
    return params;
}

std::shared_ptr<LayerNormParams> layerNorm(std::vector<int> axes, int64_t affine, bool rms = false) {
    auto params = std::make_shared<LayerNormParams>();
    params->axes = std::move(axes);
    params->epsilon = 1e-5f;
    params->rms = rms;
    if (affine > 0) {
        params->gamma = randomValue({affine}, 31).floats;
        params->beta = randomValue({affine}, 32).floats;
    }
    return params;
}

}  // namespace

TEST(Softmax, axes) {
    const Value input = randomValue({2, 5, 3, 8}, 1, -6, 6);
    for (int axis = -1; axis < 4; ++axis)
        expectSameAsCpu(sameShape(OpType::Softmax, softmaxParams(axis), input), 1e-6);
    Value packed = input;
    packed.packed = true;
    expectSameAsCpu(sameShape(OpType::Softmax, softmaxParams(1), packed), 1e-6);
    expectSameAsCpu(sameShape(OpType::Softmax, softmaxParams(0), randomValue({1}, 2)), 1e-6);
}

TEST(Softmax, lengths) {
    for (const int64_t length : {1, 3, 10, 65, 1000, 1031, 5000})
        expectSameAsCpu(sameShape(OpType::Softmax, softmaxParams(1), randomValue({3, length}, 3, -20, 20)),
                        1e-6);
    expectSameAsCpu(sameShape(OpType::Softmax, softmaxParams(0), randomValue({700, 3}, 4, -20, 20)), 1e-6);
    expectSameAsCpu(sameShape(OpType::Softmax, softmaxParams(-1), randomValue({300, 7}, 5, -20, 20)), 1e-6);
}

// Masks: rows partly and wholly -inf, and large values.
TEST(Softmax, extremes) {
    Value input = randomValue({6, 12}, 6, -300, 300);
    const float inf = std::numeric_limits<float>::infinity();
    for (size_t i = 0; i < 12; ++i) {
        input.floats[i] = -inf;
        input.floats[12 + i] = i % 3 ? -inf : 1;
        input.floats[24 + i] = -1e30f;
    }
    for (const int axis : {0, 1})
        expectSameAsCpu(sameShape(OpType::Softmax, softmaxParams(axis), input), 1e-6, -1);
}

TEST(LayerNorm, rows) {
    for (const int64_t length : {1, 3, 8, 65, 768, 1031})
        for (const bool rms : {false, true})
            for (const bool affine : {false, true})
                expectSameAsCpu(sameShape(OpType::LayerNorm, layerNorm({-1}, affine ? length : 0, rms),
                                          randomValue({2, 3, length}, 7, -2, 3)),
                                2e-6);
}

TEST(LayerNorm, blocks) {
    const Value input = randomValue({2, 6, 5, 3}, 8, -2, 3);
    expectSameAsCpu(sameShape(OpType::LayerNorm, layerNorm({2, 3}, 15), input), 2e-6);
    expectSameAsCpu(sameShape(OpType::LayerNorm, layerNorm({1, 2}, 30), input), 2e-6);
    expectSameAsCpu(sameShape(OpType::LayerNorm, layerNorm({}, 0), input), 2e-6);
    auto grouped = layerNorm({}, 0);
    grouped->group = 3;
    expectSameAsCpu(sameShape(OpType::LayerNorm, grouped, input), 2e-6);
    auto channels = layerNorm({}, 6);
    channels->overChannel = true;
    expectSameAsCpu(sameShape(OpType::LayerNorm, channels, input), 2e-6);
    Value even = randomValue({2, 6, 5, 4}, 8, -2, 3);
    even.packed = true;
    expectSameAsCpu(sameShape(OpType::LayerNorm, channels, even), 2e-6);
}

// The mean is large against the spread.
TEST(LayerNorm, offset) {
    Value input = randomValue({4, 512}, 9, 100, 101);
    expectSameAsCpu(sameShape(OpType::LayerNorm, layerNorm({1}, 512), input), 1e-4, -1);
}

TEST(InstanceNorm, storage) {
    auto make = [](int64_t channels) {
        auto params = std::make_shared<InstanceNormParams>();
        params->scale = randomValue({channels}, 10).floats;
        params->bias = randomValue({channels}, 11).floats;
        params->epsilon = 1e-5f;
        return params;
    };
    for (const Shape& shape : {Shape{2, 5, 3, 7}, Shape{1, 8, 4, 4}, Shape{3, 3, 40, 31}, Shape{2, 6, 9}})
        for (const bool packed : {false, true}) {
            Value input = randomValue(shape, 12, -2, 3);
            input.packed = packed;
            expectSameAsCpu(sameShape(OpType::InstanceNorm, make(shape[1]), input), 5e-6);
        }
    for (const int64_t channels : {5, 8}) {
        Value last = randomValue({2, 4, 5, channels}, 13, -2, 3);
        last.format = Format::NHWC;
        expectSameAsCpu(sameShape(OpType::InstanceNorm, make(channels), last), 5e-6);
    }
    OpCase given = sameShape(OpType::InstanceNorm, make(5), randomValue({2, 5, 3, 7}, 14));
    given.inputs.push_back(randomValue({2, 5}, 15));
    given.inputs.push_back(randomValue({2, 5}, 16, 0.5f, 2));
    expectRefused(given, "variance");
}

}  // namespace mnnc::vulkan::testing
