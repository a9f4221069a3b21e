// Resizing: nearest, linear and cubic, one to three axes, up and down, positions outside of the source.
#include "ops/interp.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "vulkan_harness.h"

namespace mnnc::vulkan::test {

namespace {

constexpr ResizeType kTypes[] = {ResizeType::NearestFloor, ResizeType::NearestRound, ResizeType::Linear,
                                 ResizeType::Cubic};

void check(ResizeType type, const Shape& in, const Shape& out, std::initializer_list<AxisMap> maps,
           bool packed = true) {
    auto params = std::make_shared<InterpCommand>();
    params->type = type;
    std::copy(maps.begin(), maps.end(), params->axis);
    OpCase c;
    c.type = OpType::Interp;
    c.params = params;
    c.inputs = {randomValue(in, 4)};
    c.inputs[0].packed = packed;
    c.outputs.resize(1);
    c.outputs[0].shape = out;
    expectSameAsCpu(c, 1e-6, 5e-3);
}

}  // namespace

TEST(Interp, Pictures) {
    for (const ResizeType type : kTypes) {
        check(type, {2, 5, 4, 6}, {2, 5, 8, 12}, {{}, {0.5f, -0.25f}, {0.5f, -0.25f}});
        check(type, {1, 3, 9, 7}, {1, 3, 5, 3}, {{}, {2, 0}, {3, 0}}, false);
        check(type, {3, 8, 5, 5}, {3, 8, 5, 11}, {{}, {1, 0}, {0.4f, 0}});
        check(type, {1, 1, 1, 1}, {1, 1, 3, 2}, {{}, {0, 0}, {0, 0}});
        check(type, {1, 6, 3, 4}, {1, 6, 9, 10}, {{}, {0.7f, -3}, {-1.1f, 8.3f}});
    }
}

TEST(Interp, OneAxisAndThree) {
    for (const ResizeType type : kTypes) {
        check(type, {2, 5, 7}, {2, 5, 13}, {{}, {0.54f, 0.1f}, {}});
        check(type, {1, 5, 3, 4, 5}, {1, 5, 5, 8, 3}, {{0.6f, 0}, {0.5f, -0.25f}, {1.7f, 0.3f}});
        check(type, {2, 3, 2, 4, 5}, {2, 3, 2, 8, 10}, {{}, {0.5f, 0}, {0.5f, 0}}, false);
    }
}

}  // namespace mnnc::vulkan::test
