// Range of integers.
#include <gtest/gtest.h>

#include "vulkan_harness.h"

namespace mnnc::vulkan::test {

namespace {

OpCase range(int32_t start, int32_t step, int64_t count) {
    OpCase c;
    c.type = OpType::Range;
    for (const int32_t value : {start, 0, step}) c.inputs.push_back(randomInts({}, 1, value, value));
    c.outputs.resize(1);
    c.outputs[0].shape = {count};
    c.outputs[0].isInt = true;
    return c;
}

}  // namespace

TEST(Range, Integers) {
    expectSameAsCpu(range(0, 1, 1000), 0, 0);
    expectSameAsCpu(range(7, -3, 65), 0);
    expectSameAsCpu(range(INT32_MAX - 10, 12345, 333), 0);
    expectSameAsCpu(range(-5, INT32_MIN, 100), 0);
}

TEST(Range, FloatsStayOnTheCpu) {
    OpCase c = range(0, 1, 100);
    for (Value& input : c.inputs) input = randomValue({}, 2);
    c.outputs[0].isInt = false;
    expectRefused(c, "in order");
}

}  // namespace mnnc::vulkan::test
