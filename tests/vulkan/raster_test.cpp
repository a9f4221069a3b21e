// Raster and the changes of storage that it includes.
#include <gtest/gtest.h>

#include <algorithm>

#include "vulkan_harness.h"

namespace mnnc::vulkan::test {

namespace {

Value out(Shape shape, bool isInt = false) {
    Value value;
    value.shape = shape;
    value.isInt = isInt;
    return value;
}

Region region(int input, View src, View dst, std::initializer_list<int64_t> size) {
    Region r;
    r.input = input;
    r.src = src;
    r.dst = dst;
    std::copy(size.begin(), size.end(), r.size);
    return r;
}

// [n, c, w] -> [n, w, c]
OpCase transpose(Value input) {
    const Shape s = input.shape;
    OpCase c;
    c.outputs = {out({s[0], s[2], s[1]}, input.isInt)};
    c.inputs = {std::move(input)};
    c.regions = {region(0, {0, {s[1] * s[2], 1, s[2]}}, {0, {s[1] * s[2], s[1], 1}}, {s[0], s[2], s[1]})};
    return c;
}

// Concatenates along axis 1 tensors with the same batch and plane.
OpCase concat(std::vector<Value> inputs) {
    OpCase c;
    int64_t channels = 0, at = 0;
    const Shape first = inputs[0].shape;
    for (const Value& input : inputs) channels += input.shape[1];
    const int64_t plane = first.elements(2, first.rank());
    for (int i = 0; i < static_cast<int>(inputs.size()); ++i) {
        const int64_t own = inputs[static_cast<size_t>(i)].shape[1];
        c.regions.push_back(region(i, {0, {own * plane, plane, 1}}, {at * plane, {channels * plane, plane, 1}},
                                   {first[0], own, plane}));
        at += own;
    }
    Shape shape = first;
    shape[1] = channels;
    c.outputs = {out(shape, inputs[0].isInt)};
    c.inputs = std::move(inputs);
    return c;
}

std::vector<Value> five(bool packed, bool mixed) {
    std::vector<Value> inputs;
    const int64_t channels[] = {3, 4, 1, 9, 6};
    for (uint32_t i = 0; i < 5; ++i) {
        inputs.push_back(randomValue({2, channels[i], 5, 7}, i));
        inputs.back().packed = packed && (!mixed || i % 2);
    }
    return inputs;
}

}  // namespace

TEST(Raster, Transpose) {
    for (const bool packed : {false, true})
        for (const Shape& shape : {Shape{1, 1, 1}, Shape{2, 5, 3}, Shape{3, 64, 33}, Shape{1, 130, 257}}) {
            Value input = randomValue(shape, 1);
            input.packed = packed;
            expectSameAsCpu(transpose(input), 0, 1e-6);
        }
}

TEST(Raster, TransposeOfIntegers) {
    expectSameAsCpu(transpose(randomInts({2, 33, 7}, 1, -100000, 100000)), 0);
    Value packed = randomInts({2, 33, 7}, 2, INT32_MIN, INT32_MAX);
    packed.packed = true;
    expectSameAsCpu(transpose(packed), 0);
}

TEST(Raster, ConcatOfFiveInputs) {
    expectSameAsCpu(concat(five(false, false)), 0, 1e-6);
    expectSameAsCpu(concat(five(true, false)), 0, 1e-6);
    expectSameAsCpu(concat(five(true, true)), 0, 1e-6);
}

TEST(Raster, ConstantInput) {
    std::vector<Value> inputs = five(false, false);
    inputs[2].constant = inputs[4].constant = true;
    expectSameAsCpu(concat(inputs), 0, 1e-6);
}

TEST(Raster, OverlappingRegionsKeepTheirOrder) {
    for (const bool packed : {false, true}) {
        OpCase c;
        for (uint32_t i = 0; i < 3; ++i) {
            c.inputs.push_back(randomValue({1, 6, 50}, i));
            c.inputs.back().packed = packed;
        }
        c.outputs = {out({1, 6, 50})};
        c.regions = {
            region(0, {0, {1, 1, 1}}, {0, {1, 1, 1}}, {1, 1, 300}),
            region(1, {10, {1, 1, 1}}, {20, {1, 1, 1}}, {1, 1, 100}),
            region(2, {0, {0, 50, 2}}, {3, {1, 50, 1}}, {1, 6, 25}),
            region(0, {299, {1, 1, -1}}, {60, {1, 1, 1}}, {1, 1, 90}),
        };
        expectSameAsCpu(c, 0, 1e-6);
    }
}

TEST(Raster, UntouchedElementsAreZero) {
    for (const bool packed : {false, true}) {
        OpCase c;
        c.inputs = {randomValue({2, 5, 4}, 1)};
        c.inputs[0].packed = packed;
        c.outputs = {out({2, 5, 8})};
        c.regions = {region(0, {0, {20, 4, 1}}, {2, {40, 8, 1}}, {2, 5, 4})};
        expectSameAsCpu(c, 0, 1e-6);
    }
}

TEST(Raster, BroadcastAndFlip) {
    OpCase c;
    c.inputs = {randomValue({1, 7, 3}, 1)};
    c.inputs[0].packed = true;
    c.outputs = {out({4, 7, 3})};
    c.regions = {region(0, {20, {0, 0, -1}}, {0, {21, 0, 1}}, {4, 1, 21})};
    expectSameAsCpu(c, 0, 1e-6);
}

TEST(Raster, MixedTypesAreRefused) {
    OpCase c;
    c.inputs = {randomInts({2, 5, 20}, 1, 0, 1)};
    c.outputs = {out({2, 20, 5})};
    c.regions = {region(0, {0, {100, 1, 20}}, {0, {100, 5, 1}}, {2, 20, 5})};
    expectRefused(c, "copies no");
}

}  // namespace mnnc::vulkan::test
