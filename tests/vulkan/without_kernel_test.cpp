// Operators that stay on the CPU, with the reason that a session reports.
#include <gtest/gtest.h>

#include "ops/non_max_suppression.h"
#include "vulkan_harness.h"

namespace mnnc::vulkan::test {

// The shape rule of a suppression needs the boxes on the host and has the result then.
TEST(WithoutKernel, NonMaxSuppression) {
    auto params = std::make_shared<NmsParams>();
    params->boxes = 80;
    OpCase c;
    c.type = OpType::NonMaxSuppressionV2;
    c.params = params;
    c.inputs = {randomValue({80, 4}, 1), randomValue({80}, 2), randomInts({1}, 3, 5, 5)};
    c.outputs.resize(1);
    c.outputs[0].shape = {5};
    c.outputs[0].isInt = true;
    expectRefused(c, "contents of its inputs decide the shape");
}

}  // namespace mnnc::vulkan::test
