// LayerNorm and InstanceNorm.
#include "ops/layer_norm.h"

#include <gtest/gtest.h>

#include "ops/scale.h"
#include "vulkan_harness.h"

namespace mnnc::vulkan::test {

namespace {

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

TEST(LayerNorm, Rows) {
    for (const int64_t length : {1, 3, 8, 65, 768, 1031})
        for (const bool rms : {false, true})
            for (const bool affine : {false, true})
                expectSameAsCpu(sameShape(OpType::LayerNorm, layerNorm({-1}, affine ? length : 0, rms),
                                          randomValue({2, 3, length}, 7, -2, 3)),
                                2e-6);
}

TEST(LayerNorm, Blocks) {
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

TEST(LayerNorm, LongRows) {
    expectSameAsCpuOrRefused(sameShape(OpType::LayerNorm, layerNorm({0}, 0), randomValue({5130001}, 3)), "rounds",
                             1e-4);
}

// The mean is large compared with the spread.
TEST(LayerNorm, Offset) {
    Value input = randomValue({4, 512}, 9, 100, 101);
    expectSameAsCpu(sameShape(OpType::LayerNorm, layerNorm({1}, 512), input), 1e-4, -1);
}

TEST(InstanceNorm, LongRows) {
    auto params = std::make_shared<InstanceNormParams>();
    params->scale = params->bias = {1};
    Value input = randomValue({1, 1, 2048, 2560}, 3);
    expectSameAsCpuOrRefused(sameShape(OpType::InstanceNorm, params, input), "rounds", 1e-4);
}

TEST(InstanceNorm, Storage) {
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

}  // namespace mnnc::vulkan::test
