// ArgMax and ArgMin.
#include "ops/search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

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

}  // namespace mnnc::vulkan::test
