// Pooling and Pooling3D against stored values, on every instruction set of this CPU.
#include "ops/pooling.h"

#include <gtest/gtest.h>

#include <limits>

#include "model_builder.h"
#include "op_harness.h"

namespace mnnc::test {
namespace {

PoolParams window(bool average, int kernel, int stride, int pad, bool ceil = true) {
    PoolParams p;
    p.average = average;
    p.ceil = ceil;
    p.kernel = {kernel, kernel};
    p.stride = {stride, stride};
    p.pad = {pad, pad};
    return p;
}

std::vector<Value> pool(const PoolParams& params, const Value& x, OpType type = OpType::Pooling, int outputs = 1) {
    std::vector<Value> result;
    for (const std::string& isa : availableIsas()) {
        OpRun run(type, std::make_shared<PoolParams>(params), isa.c_str());
        std::vector<Value> now = run({x}, outputs);
        if (!result.empty()) {
            EXPECT_EQ(0, distance(now[0].data, result[0].data)) << isa;
            EXPECT_EQ(now[0].shape, result[0].shape) << isa;
        }
        result = now;
    }
    return result;
}

void expectValues(const Value& got, const std::vector<float>& want) {
    EXPECT_LT(distance(got.data, want), 1e-4);
}

TEST(Pooling, MaxCeilAndFloor) {
    const Value x = iota({1, 1, 6, 6});
    const Value y = pool(window(false, 3, 2, 1), x)[0];
    EXPECT_EQ(y.shape, (Shape{1, 1, 4, 4}));
    expectValues(y, {8, 10, 12, 12, 20, 22, 24, 24, 32, 34, 36, 36, 32, 34, 36, 36});
    expectValues(pool(window(false, 3, 2, 1, false), x)[0], {8, 10, 12, 20, 22, 24, 32, 34, 36});
}

TEST(Pooling, AverageCountsPaddingByRule) {
    const Value x = iota({1, 1, 6, 6});
    const std::vector<float> included = {2, 4, 5.33333f, 3, 9, 15, 17, 9, 17, 27, 29, 15, 10.5f, 16.5f, 17.5f, 9};
    expectValues(pool(window(true, 3, 2, 1), x)[0], included);
    PoolParams p = window(true, 3, 2, 0);
    p.pads = {1, 1, 1, 1};
    expectValues(pool(p, x)[0], {4.5f, 6, 8, 9, 13.5f, 15, 17, 18, 25.5f, 27, 29, 30, 31.5f, 33, 35, 36});
    p.count = PoolCount::IncludePadding;
    expectValues(pool(p, x)[0], included);
}

TEST(Pooling, AsymmetricPads) {
    PoolParams p = window(true, 3, 1, 0, false);
    p.count = PoolCount::IncludePadding;
    p.pads = {0, 0, 2, 2};
    expectValues(pool(p, iota({1, 1, 3, 3}))[0], {5, 3.66667f, 2, 4.33333f, 3.11111f, 1.66667f, 2.66667f, 1.88889f, 1});
    p.pads = {2, 2, 0, 0};
    expectValues(pool(p, iota({1, 1, 3, 3}))[0],
                 {0.11111f, 0.33333f, 0.66667f, 0.55556f, 1.33333f, 2.33333f, 1.33333f, 3, 5});
    expectValues(pool(window(true, 5, 1, 0), iota({1, 1, 3, 3}))[0], {5});
}

TEST(Pooling, WindowsOutsideTheInput) {
    const Value x{{1, 1, 2, 2}, {-1, -2, -3, -4}, Format::NCHW, {}};
    PoolParams p = window(false, 1, 1, 0);
    p.pads = {0, 0, 2, 2};
    expectValues(pool(p, x)[0], {-1, -2, -3, -4});  // windows that ceil would add start behind the map
    p.ceil = false;
    expectValues(pool(p, x)[0], {-1, -2, -2, -2, -3, -4, -4, -4, -3, -4, -4, -4, -3, -4, -4, -4});
    p.average = true;
    expectValues(pool(p, x)[0], {-1, -2, 0, 0, -3, -4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
}

TEST(Pooling, MaximumOfVeryLowValues) {
    PoolParams p = window(false, 2, 2, 0);
    p.padType = PoolPad::Valid;
    EXPECT_EQ(pool(p, {{1, 1, 2, 2}, {-1e9f, -1e9f, -2e9f, -3e9f}, Format::NCHW, {}})[0].data[0], -1e9f);
    constexpr float kLow = std::numeric_limits<float>::lowest();
    EXPECT_EQ(pool(p, {{1, 1, 2, 2}, {kLow, kLow, kLow, kLow}, Format::NCHW, {}})[0].data[0], kLow);
    const std::vector<Value> y =
        pool(window(false, 2, 1, 0, false), {{1, 1, 2, 2}, {-2e9f, -1e9f, -2e9f, -3e9f}, Format::NCHW, {}},
             OpType::Pooling, 2);
    EXPECT_EQ(y[0].data, std::vector<float>{-1e9f});
    EXPECT_EQ(y[1].ints, std::vector<int32_t>{1});
}

TEST(Pooling, IndicesOfTheFirstMaximum) {
    const Value x{{1, 1, 3, 3}, {1, 9, 9, 2, 3, 9, 7, 7, 7}, Format::NCHW, {}};
    const std::vector<Value> y = pool(window(false, 2, 1, 1, false), x, OpType::Pooling, 2);
    EXPECT_EQ(y[0].data, (std::vector<float>{1, 9, 9, 9, 2, 9, 9, 9, 7, 7, 9, 9, 7, 7, 7, 7}));
    EXPECT_EQ(y[1].ints, (std::vector<int32_t>{0, 1, 1, 2, 3, 1, 1, 2, 6, 6, 5, 5, 6, 6, 7, 8}));
}

TEST(Pooling, ChannelLastInputAndManyChannels) {
    // Channel c holds c + position: the mean is c + mean position in every storage.
    Value nhwc{{2, 3, 3, 21}, {}, Format::NHWC, {}};
    for (int n = 0; n < 2; ++n)
        for (int p = 0; p < 9; ++p)
            for (int c = 0; c < 21; ++c) nhwc.data.push_back(static_cast<float>(100 * n + c + p));
    PoolParams p;
    p.average = p.global = true;
    const Value y = pool(p, nhwc)[0];
    EXPECT_EQ(y.shape, (Shape{2, 1, 1, 21}));
    std::vector<float> want;
    for (int n = 0; n < 2; ++n)
        for (int c = 0; c < 21; ++c) want.push_back(static_cast<float>(100 * n + c + 4));
    expectValues(y, want);
}

TEST(Pooling, GlobalAverageOfALargePlane) {
    Value x{{1, 3, 300, 211}, std::vector<float>(3 * 300 * 211, 0.1f), Format::NCHW, {}};
    PoolParams p;
    p.average = p.global = true;
    const Value y = pool(p, x, OpType::Pooling3D)[0];
    for (const float v : y.data) EXPECT_NEAR(v, 0.1f, 1e-6);
}

TEST(Pooling3d, NoAxisCountsPadding) {
    PoolParams p;
    p.average = p.spatial3d = true;
    p.ceil = false;
    p.kernel = {1, 1, 3};
    p.stride = {1, 1, 1};
    p.pad = {0, 0, 1};
    expectValues(pool(p, iota({1, 1, 1, 1, 3}), OpType::Pooling3D)[0], {1.5f, 2, 2.5f});
    p.kernel = {3, 1, 1};
    p.pad = {1, 0, 0};
    expectValues(pool(p, iota({1, 1, 3, 1, 1}), OpType::Pooling3D)[0], {1.5f, 2, 2.5f});
    p.average = false;
    p.kernel = {2, 2, 2};
    p.stride = {2, 2, 2};
    p.pad = {0, 0, 0};
    expectValues(pool(p, iota({2, 1, 2, 2, 2}), OpType::Pooling3D)[0], {8, 16});
}

// Its average would not be written, and maxima of different planes would have equal indices.
TEST(Pooling3d, ASecondOutputIsRefused) {
    for (const auto type : {wire::PoolType::AVEPOOL, wire::PoolType::MAXPOOL}) {
        const Table table = [=](flatbuffers::FlatBufferBuilder& b) {
            wire::Pool3DT pool;
            pool.type = type;
            pool.isGlobal = true;
            return asParameter(wire::CreatePool3D(b, &pool));
        };
        EXPECT_EQ(OpRun(OpType::Pooling3D, table)({iota({1, 1, 1, 1, 2})}).size(), 1u);
        expectFailure(Status::NotSupported, "a second output", [&] {
            OpRun(OpType::Pooling3D, table)({iota({1, 1, 1, 1, 2})}, 2);
        });
    }
}

Table poolTable(wire::PoolType type, int stride) {
    return [=](flatbuffers::FlatBufferBuilder& b) {
        wire::PoolT pool;
        pool.type = type;
        pool.kernelX = pool.kernelY = 2;
        pool.strideX = pool.strideY = stride;
        pool.ceilModel = false;
        return asParameter(wire::CreatePool(b, &pool));
    };
}

// Converters write strides of 0 where a model states none.
TEST(Pooling, AStrideOf0Is1) {
    EXPECT_EQ(run(OpType::Pooling, poolTable(wire::PoolType::MAXPOOL, 0), {iota({1, 1, 3, 3})}).data,
              (std::vector<float>{5, 6, 8, 9}));
    EXPECT_THROW(run(OpType::Pooling, poolTable(wire::PoolType::MAXPOOL, -1), {iota({1, 1, 3, 3})}), Error);
}

TEST(Pooling, AveragesOfIntegersAreNotSupported) {
    try {
        run(OpType::Pooling, poolTable(wire::PoolType::AVEPOOL, 1), {intIota({1, 1, 3, 3})});
        ADD_FAILURE() << "integers were averaged";
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::NotSupported);
        EXPECT_NE(std::string(error.what()).find("average pooling of int32 is not implemented"), std::string::npos)
            << error.what();
    }
}

TEST(Pooling, ThreadsChangeNoBit) {
    Value x = iota({2, 37, 33, 41});
    for (float& v : x.data) v = std::sin(v);
    const auto params = std::make_shared<PoolParams>(window(true, 5, 2, 2));
    const Value one = OpRun(OpType::Pooling, params)({x})[0];
    const Value four = OpRun(OpType::Pooling, params, "", 4)({x})[0];
    EXPECT_EQ(one.data, four.data);
}

TEST(Pooling, BadShapesAreRefused) {
    EXPECT_THROW(pool(window(false, 2, 2, 0), iota({3})), Error);
    EXPECT_THROW(pool(window(false, 2, 2, 0), {{1, 1, 0, 4}, {}, Format::NCHW, {}}), Error);
    PoolParams p = window(false, 9, 1, 0);
    p.spatial3d = true;
    EXPECT_THROW(pool(p, iota({1, 1, 3, 3}), OpType::Pooling3D), Error);
}

// The extent of an axis that the input does not have must stay 1, even with padding around it.
TEST(Pooling, OutputsFitTheRankOfTheInput) {
    PoolParams p = window(false, 3, 1, 1);
    EXPECT_EQ(pool(p, iota({2, 4}))[0].shape, (Shape{2, 4}));
    EXPECT_EQ(pool(p, iota({2, 4, 5}))[0].shape, (Shape{2, 4, 5}));
    p.pad = {2, 1};  // two more rows
    EXPECT_THROW(pool(p, iota({2, 4})), Error);
    EXPECT_EQ(pool(p, iota({2, 4, 5}))[0].shape, (Shape{2, 4, 7}));
    p.pad = {1, 2};  // two more columns
    EXPECT_THROW(pool(p, iota({2, 4})), Error);
    EXPECT_THROW(pool(p, iota({2, 4, 5})), Error);
}

}  // namespace
}  // namespace mnnc::test
