// ArgMax, ArgMin and TopKV2.
#include "ops/search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <tuple>

#include "vulkan_harness.h"

namespace mnnc::vulkan::test {

namespace {

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

TEST(Search, LongRows) {
    Value input;
    input.shape = {15370001};
    input.floats.assign(15370001, 0.5f);
    input.floats.back() = 1;
    expectSameAsCpuOrRefused(search(true, input, 0), "rounds", 0);
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
        const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
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

namespace {

OpCase top(bool largest, const Value& input, int axis, int64_t count) {
    OpCase c = search(largest, input, axis);
    c.type = OpType::TopKV2;
    Value values, positions;
    values.shape = input.shape;
    values.shape[axis] = count;
    values.isInt = input.isInt;
    positions.shape = values.shape;
    positions.isInt = true;
    c.outputs = {values, positions};
    return c;
}

}  // namespace

TEST(TopK, RowsAndColumns) {
    for (const bool largest : {false, true})
        for (const auto& [shape, axis, count] : {std::tuple{Shape{3, 70, 2}, 1, int64_t{7}},
                                                 {Shape{5, 33}, 1, 33},
                                                 {Shape{90, 3}, 0, 1},
                                                 {Shape{2, 1024}, 1, 1024},
                                                 {Shape{2, 1025}, 1, 100},
                                                 {Shape{1, 20000, 2}, 1, 300},
                                                 {Shape{1, 5000}, 1, 1000},
                                                 {Shape{80, 1}, 1, 1}}) {
            expectSameAsCpu(top(largest, randomValue(shape, 6), axis, count), 0, 0);
            expectSameAsCpu(top(largest, randomInts(shape, 7, INT32_MIN, INT32_MAX), axis, count), 0);
        }
}

// Among equal elements the first one comes first, also in long rows with zeros of either sign.
TEST(TopK, Ties) {
    for (const bool largest : {false, true})
        for (const int64_t extent : {100, 3000, 70000}) {
            Value input = randomValue({2, extent}, 6);
            for (float& x : input.floats) x = std::round(x * 2);
            expectSameAsCpu(top(largest, input, 1, 90), 0, 0);
            expectSameAsCpu(top(largest, randomInts({2, extent}, 7, -2, 1), 1, 90), 0);
        }
}

TEST(TopK, Infinity) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    for (const bool largest : {false, true}) {
        Value input = randomValue({2, 2000}, 6);
        for (size_t i = 0; i < 4000; i += 70) input.floats[i] = i % 3 ? kInfinity : -kInfinity;
        expectSameAsCpu(top(largest, input, 1, 100), 0, 0);
    }
}

TEST(TopK, ListsThatStayOnTheCpu) {
    expectRefused(top(true, randomValue({1, 30000}, 6), 1, 20000), "shared memory");
    expectRefused(top(true, randomValue({3, 70}, 6), 1, 0), "at least one");
}

TEST(TopK, RowsOfMillions) {
    Value input = randomValue({1, 2000000}, 6);
    for (float& x : input.floats) x = std::round(x);
    expectSameAsCpuOrRefused(top(true, input, 1, 90), "rounds", 0);
}

}  // namespace mnnc::vulkan::test
