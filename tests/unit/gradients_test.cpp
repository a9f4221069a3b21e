// PoolGrad and Conv2DBackPropFilter: exact values, and shapes that do not fit.
#include "op_harness.h"

namespace mnnc::test {
namespace {

Table pool(wire::PoolType type, int pad) {
    return [=](flatbuffers::FlatBufferBuilder& b) {
        wire::PoolT table;
        table.type = type;
        table.kernelX = table.kernelY = table.strideX = table.strideY = 2;
        table.padX = table.padY = pad;
        return asParameter(wire::CreatePool(b, &table));
    };
}

TEST(PoolGrad, WindowsGiveBack) {
    const Value x = floats({1, 1, 2, 4}, {1, 2, 5, 5, 3, 3, 1, 0});
    const std::vector<Value> inputs = {x, floats({1, 1, 1, 2}, {3, 5}), floats({1, 1, 1, 2}, {10, 20})};
    EXPECT_EQ(run(OpType::PoolGrad, pool(wire::PoolType::MAXPOOL, 0), inputs).data,
              (std::vector<float>{0, 0, 20, 20, 10, 10, 0, 0}));
    EXPECT_EQ(run(OpType::PoolGrad, pool(wire::PoolType::AVEPOOL, 0), inputs).data,
              (std::vector<float>{2.5f, 2.5f, 5, 5, 2.5f, 2.5f, 5, 5}));
}

TEST(PoolGrad, Refuses) {
    const Table table = pool(wire::PoolType::MAXPOOL, 0);
    expectRefused(OpType::PoolGrad, table, {iota({1, 1, 2, 4}), iota({1, 1, 2, 2}), iota({1, 1, 1, 2})},
                  Status::ComputeSizeError, "input 1 is 1x1x2x2 with channels first, 1x1x1x2 is needed");
    expectRefused(OpType::PoolGrad, table, {iota({1, 1, 2, 4}), iota({1, 1, 1, 2}), iota({1, 2, 1, 2})},
                  Status::ComputeSizeError, "input 2 is 1x2x1x2");
    expectRefused(OpType::PoolGrad, table, {iota({1, 2, 2}), iota({1, 2, 1}), iota({1, 2, 1})},
                  Status::ComputeSizeError, "rank 4");
}

Table filter(int group) {
    return [=](flatbuffers::FlatBufferBuilder& b) {
        wire::Convolution2DT table;
        table.common = std::make_unique<wire::Convolution2DCommonT>();
        table.common->kernelX = 2;
        table.common->group = group;
        return asParameter(wire::CreateConvolution2D(b, &table));
    };
}

TEST(Conv2DBackPropFilter, SumsOverPlaces) {
    const Value dw = run(OpType::Conv2DBackPropFilter, filter(1), {iota({1, 1, 1, 3}), floats({1, 1, 1, 2}, {1, 10})});
    EXPECT_EQ(dw.shape, (Shape{1, 1, 1, 2}));
    EXPECT_EQ(dw.data, (std::vector<float>{21, 32}));
    EXPECT_EQ(run(OpType::Conv2DBackPropFilter, filter(2), {iota({1, 2, 1, 2}), floats({1, 2, 1, 1}, {1, 10})}).data,
              (std::vector<float>{1, 2, 30, 40}));
}

TEST(Conv2DBackPropFilter, Refuses) {
    expectRefused(OpType::Conv2DBackPropFilter, filter(1), {iota({1, 1, 1, 3}), iota({1, 1, 1, 3})},
                  Status::ComputeSizeError, "the gradient is 1 x 3, 1 x 2 is needed");
    expectRefused(OpType::Conv2DBackPropFilter, filter(1), {iota({1, 1, 1, 3}), iota({2, 1, 1, 2})},
                  Status::ComputeSizeError, "an input 1x1x1x3 and a gradient 2x1x1x2");
    expectRefused(OpType::Conv2DBackPropFilter, filter(3), {iota({1, 2, 1, 3}), iota({1, 2, 1, 2})},
                  Status::ComputeSizeError, "groups");
}

}  // namespace
}  // namespace mnnc::test
