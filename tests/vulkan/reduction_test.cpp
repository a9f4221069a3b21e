// Reduction, ArgMax, ArgMin, Select.
#include "ops/reduction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/search.h"
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

OpCase search(bool largest, const Value& input, int axis) {
    auto params = std::make_shared<SearchParams>();
    const Shape& shape = input.shape;
    params->outer = shape.elements(0, axis);
    params->extent = shape[axis];
    params->inner = shape.elements(axis + 1, shape.rank());
    params->largest = largest;
    OpCase c;
    c.type = largest ? OpType::ArgMax : OpType::ArgMin;
    c.params = params;
    Value output;
    output.shape = shape;
    output.shape.erase(axis);
    output.isInt = true;
    c.inputs = {input};
    c.outputs = {output};
    return c;
}

}  // namespace

TEST(Reduction, Floats) {
    const std::vector<int> axes[] = {{0}, {1}, {3}, {1, 2}, {2, 3}, {0, 2}, {1, 3}, {0, 1, 2, 3}, {0, 1, 3}};
    for (const Reduce operation : kFloat)
        for (const std::vector<int>& some : axes)
            expectSameAsCpu(reduction(operation, some, randomValue({2, 5, 3, 8}, 1, -1.5f, 1.5f)), 2e-6,
                            operation == Reduce::Prod ? -1 : 5e-3);
}

TEST(Reduction, OddExtents) {
    for (const Shape& shape :
         {Shape{1, 1, 1}, Shape{3, 1, 7}, Shape{5, 67, 1}, Shape{3, 33, 5}, Shape{2, 300, 4}})
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

TEST(Reduction, Integers) {
    for (const Reduce operation :
         {Reduce::Sum, Reduce::Mean, Reduce::Max, Reduce::Min, Reduce::Prod, Reduce::Any, Reduce::All})
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

TEST(Search, AxesAndTies) {
    for (const bool largest : {false, true}) {
        for (const Shape& shape : {Shape{3, 5, 7}, Shape{3, 8, 4}, Shape{1, 1000, 1}, Shape{70, 3, 12}})
            for (int axis = 0; axis < 3; ++axis) {
                Value input = randomValue(shape, 6);
                for (float& x : input.floats) x = std::round(x * 4);  // many ties
                expectSameAsCpu(search(largest, input, axis), 0, 0);
                expectSameAsCpu(search(largest, randomInts(shape, 7, -5, 5), axis), 0);
            }
        const float nan = std::numeric_limits<float>::quiet_NaN(),
                    inf = std::numeric_limits<float>::infinity();
        Value odd = randomValue({5, 16}, 8);
        for (size_t i = 0; i < 16; ++i) {
            odd.floats[i] = nan;
            odd.floats[16 + i] = largest ? -inf : inf;
            if (i % 2) odd.floats[32 + i] = nan;
            if (i > 2) odd.floats[48 + i] = inf;
            if (i > 3) odd.floats[64 + i] = -inf;
        }
        expectSameAsCpu(search(largest, odd, 1), 0, -1);
    }
}

TEST(Select, Operands) {
    const Shape shape{3, 5, 7};
    Value floats = randomValue(shape, 9), ints = randomInts(shape, 10, -1, 1);
    Value condition = randomValue(shape, 11);
    for (size_t i = 0; i < condition.floats.size(); ++i)
        if (i % 3 == 0) condition.floats[i] = i % 2 ? 0.0f : -0.0f;
    const Value one = randomValue({1}, 12), oneInt = randomInts({1}, 13, 1, 9);
    for (const Value& c : {condition, ints, oneInt, randomValue({1, 1}, 14)})
        for (int which = 0; which < 6; ++which)
            for (const bool packed : {false, true}) {
                OpCase select;
                select.type = OpType::Select;
                const bool isInt = which >= 3;
                select.inputs = {c, isInt ? randomInts(shape, 15, -99, 99) : floats,
                                 isInt ? randomInts(shape, 16, -99, 99) : randomValue(shape, 17)};
                if (which % 3 > 0) select.inputs[static_cast<size_t>(which % 3)] = isInt ? oneInt : one;
                for (Value& input : select.inputs) input.packed = packed && input.shape.rank() == 3;
                select.outputs.resize(1);
                select.outputs[0].shape = shape;
                select.outputs[0].isInt = isInt;
                expectSameAsCpu(select, 0, isInt ? 0 : 1e-3);
            }
}

}  // namespace mnnc::vulkan::test
