// Cast.
#include "ops/cast.h"

#include <gtest/gtest.h>

#include <limits>

#include "vulkan_harness.h"

namespace mnnc::vulkan::test {

TEST(Cast, BetweenFloatIntAndBool) {
    auto params = std::make_shared<CastParams>();
    Value floats = randomValue({3, 5, 7}, 12, -40, 40);
    floats.floats[0] = -0.0f;
    floats.floats[1] = 0;
    floats.floats[2] = 3e9f;
    floats.floats[3] = -3e9f;
    floats.floats[4] = std::numeric_limits<float>::infinity();
    floats.floats[5] = std::numeric_limits<float>::quiet_NaN();
    for (const bool packed : {false, true}) {
        params = std::make_shared<CastParams>();
        params->type = DataType::Int32;
        OpCase c = sameShape(OpType::Cast, params, asPacked(floats, packed));
        c.outputs[0].isInt = true;
        expectSameAsCpu(c, 0, 0);
        params = std::make_shared<CastParams>();
        params->type = DataType::Int32;
        params->toBool = true;
        c.params = params;
        expectSameAsCpu(c, 0, 0);
        c.inputs[0] = randomInts({3, 5, 7}, 13, -2, 2);
        c.inputs[0].packed = packed;
        expectSameAsCpu(c, 0, 0);
        c.params = std::make_shared<CastParams>();
        c.outputs[0].isInt = false;
        c.inputs[0] = randomInts({3, 5, 7}, 13, -30000, 30000);
        c.inputs[0].packed = packed;
        expectSameAsCpu(c, 0, 1e-3);
    }
}

}  // namespace mnnc::vulkan::test
