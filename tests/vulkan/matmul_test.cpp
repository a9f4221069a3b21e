// MatMul with transposes, batches and biases, vectors on either side, and InnerProduct.
#include "ops/matmul.h"

#include <gtest/gtest.h>

#include "vulkan_harness.h"

namespace mnnc::vulkan::test {

namespace {

OpCase product(const Shape& a, const Shape& b, bool transposeA = false, bool transposeB = false, bool bias = false) {
    auto params = std::make_shared<MatMulParams>();
    params->transposeA = transposeA;
    params->transposeB = transposeB;
    const MatMulSizes sizes = matMulSizes(*params, a, b, "test");
    OpCase c;
    c.type = OpType::MatMul;
    c.params = params;
    c.inputs = {randomValue(a, 1), randomValue(b, 2)};
    if (bias) c.inputs.push_back(randomValue({sizes.h}, 3));
    c.outputs.resize(1);
    c.outputs[0].shape = sizes.output;
    return c;
}

void check(const Shape& a, const Shape& b, bool transposeA = false, bool transposeB = false, bool bias = false) {
    expectSameAsCpu(product(a, b, transposeA, transposeB, bias), 1e-5);
}

void overTransposes(int64_t e, int64_t l, int64_t h, bool bias) {
    check({e, l}, {l, h}, false, false, bias);
    check({l, e}, {l, h}, true, false, bias);
    check({e, l}, {h, l}, false, true, bias);
    check({l, e}, {h, l}, true, true, bias);
}

}  // namespace

TEST(MatMul, SizesAndTransposes) {
    overTransposes(2, 2, 2, false);
    overTransposes(3, 5, 7, true);
    overTransposes(4, 8, 12, false);
    overTransposes(33, 17, 35, true);
    overTransposes(32, 64, 32, true);
    overTransposes(65, 30, 9, false);
    overTransposes(5, 257, 130, true);
    overTransposes(66, 1, 6, false);
}

TEST(MatMul, ManyLargeTiles) {
    check({4, 521, 19}, {4, 19, 530}, false, false, true);
    check({4, 20, 521}, {4, 516, 20}, true, true);
}

TEST(MatMul, LongRows) {
    expectSameAsCpuOrRefused(product({3, 200000}, {200000, 3}), "300000 rounds", 1e-4);
}

TEST(MatMul, Vectors) {
    for (const int64_t l : {1, 6, 64, 331}) {
        overTransposes(1, l, 1, true);
        overTransposes(1, l, 3, true);
        overTransposes(1, l, 68, false);
        overTransposes(70, l, 1, true);
        overTransposes(5, l, 1, false);
        check({l}, {l, 9});
        check({9, l}, {l});
        check({l}, {l});
    }
}

TEST(MatMul, Batches) {
    check({3, 5, 7}, {3, 7, 9});
    check({3, 5, 8}, {8, 12}, false, false, true);
    check({5, 8}, {4, 8, 12});
    check({3, 8, 5}, {8, 12}, true);
    check({2, 1, 5, 7}, {3, 7, 9});
    check({2, 3, 5, 7}, {2, 1, 9, 7}, false, true);
    check({2, 1, 3, 1, 6, 4}, {1, 4, 1, 5, 4, 8});
    check({4, 3, 1, 7}, {4, 3, 7, 9});
    check({4, 3, 1, 8}, {3, 9, 8}, false, true, true);
    check({2, 3, 6, 8}, {2, 3, 8, 1}, false, false, true);
    check({1, 1, 33, 16}, {1, 1, 16, 33});
}

TEST(MatMul, TooManyBatchAxesAreRefused) {
    auto params = std::make_shared<MatMulParams>();
    OpCase c;
    c.type = OpType::BatchMatMul;
    c.params = params;
    c.inputs = {randomValue({2, 1, 2, 1, 2, 3, 4}, 1), randomValue({1, 2, 1, 2, 1, 4, 5}, 2)};
    c.outputs.resize(1);
    c.outputs[0].shape = {2, 2, 2, 2, 2, 3, 5};
    expectRefused(c, "batch axes");
}

TEST(InnerProduct, RowsAndBiases) {
    for (const int64_t rows : {1, 2, 37})
        for (const auto& [inputs, outputs] : {std::pair{1, 1}, {7, 5}, {64, 10}, {130, 1}, {33, 66}})
            for (const bool bias : {false, true}) {
                auto params = std::make_shared<InnerProductParams>();
                params->inputs = inputs;
                params->outputs = outputs;
                params->weight = randomValue({outputs, inputs}, 2).floats;
                if (bias) params->bias = randomValue({outputs}, 3).floats;
                OpCase c;
                c.type = OpType::InnerProduct;
                c.params = params;
                c.inputs = {randomValue({rows, inputs}, 1)};
                c.inputs[0].packed = bias;
                c.outputs.resize(1);
                c.outputs[0].shape = {rows, outputs};
                expectSameAsCpu(c, 1e-5);
            }
}

}  // namespace mnnc::vulkan::test
