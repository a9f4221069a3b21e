// Operators that stay on the CPU, with the reason that a session reports.
#include <gtest/gtest.h>

#include "ops/non_max_suppression.h"
#include "ops/recurrent.h"
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

TEST(WithoutKernel, LstmBlockCell) {
    OpCase c;
    c.type = OpType::LSTMBlockCell;
    c.params = std::make_shared<LstmBlockParams>();
    c.inputs = {randomValue({2, 3}, 1),    randomValue({2, 40}, 2), randomValue({2, 40}, 3),
                randomValue({43, 160}, 4), randomValue({40}, 5),    randomValue({40}, 6),
                randomValue({40}, 7),      randomValue({160}, 8)};
    c.outputs.resize(7);
    for (Value& output : c.outputs) output.shape = {2, 40};
    expectRefused(c, "single cell");
}

}  // namespace mnnc::vulkan::test
