// Operators with a value for each channel: PReLU and Scale.
#pragma once
#include <gtest/gtest.h>

#include "vulkan_harness.h"

namespace mnnc::vulkan::test {

// Ranks, channel counts and inner extents that use every way of finding the channel.
inline const Shape kChannelShapes[] = {{2, 5, 3, 7}, {3, 8, 2, 2}, {2, 6, 1, 1}, {5, 8}, {1, 3, 4}, {3, 7}};

template <typename Make>
void overChannels(OpType type, const Make& make) {
    for (const Shape& shape : kChannelShapes)
        for (const bool packed : {false, true})
            expectSameAsCpu(sameShape(type, make(shape[1]), asPacked(randomValue(shape, 6, -3, 3), packed)), 1e-6,
                            5e-3);
    Value last = randomValue({2, 3, 5, 6}, 7);
    last.format = Format::NHWC;
    expectSameAsCpu(sameShape(type, make(6), last), 1e-6, 5e-3);
}

}  // namespace mnnc::vulkan::test
