// Reduction.
#include "ops/reduction.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "vulkan_harness.h"

namespace mnnc::vulkan::test {

namespace {

OpCase reduction(Reduce operation, std::vector<int> axes, Value input, bool keep = false) {
    auto params = std::make_shared<ReductionParams>();
    params->operation = operation;
    params->axes = axes;
    params->keepDims = keep;
    Shape shape;
    for (int axis = 0; axis < input.shape.rank(); ++axis) {
        if (std::find(axes.begin(), axes.end(), axis) == axes.end())
            shape.push(input.shape[axis]);
        else if (keep)
            shape.push(1);
    }
    OpCase c;
    c.type = OpType::Reduction;
    c.params = params;
    Value output;
    output.shape = shape;
    output.isInt = input.isInt;
    c.inputs = {std::move(input)};
    c.outputs = {output};
    return c;
}

constexpr Reduce kFloat[] = {Reduce::Sum, Reduce::Mean, Reduce::Max, Reduce::Min, Reduce::Prod};

}  // namespace

TEST(Reduction, Floats) {
    const std::vector<int> axes[] = {{0}, {1}, {3}, {1, 2}, {2, 3}, {0, 2}, {1, 3}, {0, 1, 2, 3}, {0, 1, 3}};
    for (const Reduce operation : kFloat)
        for (const std::vector<int>& some : axes)
            expectSameAsCpu(reduction(operation, some, randomValue({2, 5, 3, 8}, 1, -1.5f, 1.5f)), 2e-6,
                            operation == Reduce::Prod ? -1 : 5e-3);
}

TEST(Reduction, OddExtents) {
    for (const Shape& shape : {Shape{1, 1, 1}, Shape{3, 1, 7}, Shape{5, 67, 1}, Shape{3, 33, 5}, Shape{2, 300, 4}})
        for (int axis = 0; axis < 3; ++axis)
            expectSameAsCpu(reduction(Reduce::Mean, {axis}, randomValue(shape, 2, -2, 3), true), 2e-6, 5e-3);
    expectSameAsCpu(reduction(Reduce::Sum, {0}, randomValue({20000}, 3)), 1e-5, 1e-2);
    expectSameAsCpu(reduction(Reduce::Sum, {0}, randomValue({5001, 3}, 3)), 1e-5, 1e-2);
    expectSameAsCpu(reduction(Reduce::Max, {1}, randomValue({3, 4097}, 3)), 0, 1e-3);
}

TEST(Reduction, PackedPlanes) {
    for (const Reduce operation : kFloat)
        for (const Shape& shape : {Shape{2, 5, 3, 3}, Shape{1, 8, 9, 13}}) {
            Value input = randomValue(shape, 4, 0.8f, 1.2f);
            input.packed = true;
            expectSameAsCpu(reduction(operation, {2, 3}, input, true), 2e-6, 5e-3);
            expectSameAsCpu(reduction(operation, {2, 3}, input, false), 2e-6, 5e-3);
            expectSameAsCpu(reduction(operation, {1}, input, true), 2e-6, 5e-3);
        }
}

TEST(Reduction, LongRows) {
    expectSameAsCpuOrRefused(reduction(Reduce::Sum, {0}, randomValue({7690001}, 3)), "rounds", 1e-4);
}

TEST(Reduction, Integers) {
    for (const Reduce operation : {Reduce::Sum, Reduce::Max, Reduce::Min, Reduce::Prod, Reduce::Any, Reduce::All})
        for (const std::vector<int>& axes : {std::vector<int>{1}, {2}, {0, 2}, {0, 1, 2}}) {
            const bool logical = operation == Reduce::Any || operation == Reduce::All;
            const int spread = logical ? 1 : operation == Reduce::Prod ? 3 : 100000;
            Value input = randomInts({3, 5, 8}, 5, operation == Reduce::All ? 0 : -spread, spread);
            if (operation == Reduce::All)
                for (size_t i = 0; i < 40; ++i) input.ints[i] = static_cast<int32_t>(i) - 200;
            expectSameAsCpu(reduction(operation, axes, input), 0);
        }
    expectRefused(reduction(Reduce::Sum, {1}, Value{{3, 0}, {}}), "empty");
}

}  // namespace mnnc::vulkan::test
