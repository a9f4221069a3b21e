// Select.
#include <gtest/gtest.h>

#include "vulkan_harness.h"

namespace mnnc::vulkan::test {

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
