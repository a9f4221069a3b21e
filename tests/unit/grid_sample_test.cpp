// GridSample: positions, paddings, few and many channels, and refused parameters, on every instruction set of this CPU.
#include "ops/grid_sample.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "op_harness.h"

namespace mnnc::test {
namespace {

Table table(int mode, int padding, bool align, bool backward = false) {
    return [=](flatbuffers::FlatBufferBuilder& b) {
        return asParameter(wire::CreateGridSample(b, static_cast<wire::SampleMode>(mode),
                                                  static_cast<wire::BorderMode>(padding), align, backward));
    };
}

Value sample(const GridSampleParams& params, const Value& x, const Value& grid) {
    Value result;
    for (const std::string& isa : availableIsas()) {
        const auto with = [&](int threads) {
            return OpRun(OpType::GridSample, std::make_shared<GridSampleParams>(params), isa.c_str(),
                         threads)({x, grid})[0];
        };
        const Value now = with(1);
        EXPECT_EQ(with(3).data, now.data) << isa;
        if (!result.data.empty()) {
            EXPECT_LT(distance(now.data, result.data), 1e-6) << isa;
        }
        result = now;
    }
    return result;
}

GridSampleParams form(bool nearest, GridPadding padding, bool align) {
    GridSampleParams p;
    p.nearest = nearest;
    p.padding = padding;
    p.alignCorners = align;
    return p;
}

Status statusOf(const Table& parameters, const std::vector<Value>& inputs) {
    try {
        run(OpType::GridSample, parameters, inputs);
    } catch (const Error& error) {
        return error.status();
    }
    return Status::Ok;
}

TEST(GridSample, PositionsOfAVolume) {
    const Value grid = floats({1, 1, 1, 2, 3}, {0, 0, 0, -1, 1, 1});
    const Value y = sample(form(false, GridPadding::Zeros, true), iota({1, 1, 2, 2, 2}), grid);
    EXPECT_EQ(y.shape, (Shape{1, 1, 1, 1, 2}));
    EXPECT_EQ(y.data, (std::vector<float>{4.5f, 7}));
}

TEST(GridSample, PaddingsOfARow) {
    // Positions -1.5, -0.5, 0.5, 3.5, 5.5 on the pixels 1 2 3 4.
    const Value grid = floats({1, 1, 5, 2}, {-1.5f, 0, -1, 0, -0.5f, 0, 1, 0, 2, 0});
    const Value x = iota({1, 1, 1, 4});
    EXPECT_EQ(sample(form(false, GridPadding::Zeros, false), x, grid).data, (std::vector<float>{0, 0.5f, 1.5f, 2, 0}));
    EXPECT_EQ(sample(form(false, GridPadding::Border, false), x, grid).data, (std::vector<float>{1, 1, 1.5f, 4, 4}));
    EXPECT_EQ(sample(form(false, GridPadding::Reflection, false), x, grid).data,
              (std::vector<float>{1.5f, 1, 1.5f, 4, 2.5f}));
    // Halves go to the even pixel, as in PyTorch and ONNX.
    EXPECT_EQ(sample(form(true, GridPadding::Border, false), x, grid).data, (std::vector<float>{1, 1, 1, 4, 4}));
    EXPECT_EQ(sample(form(true, GridPadding::Zeros, false), x, grid).data, (std::vector<float>{0, 1, 1, 0, 0}));
}

TEST(GridSample, WhatLiesOutsideIsNotMultiplied) {
    const float infinity = std::numeric_limits<float>::infinity(), nan = std::nanf("");
    const Value x = floats({1, 1, 1, 3}, {infinity, nan, 5});
    const Value grid = floats({1, 1, 3, 2}, {1, 0, 1e30f, 0, -infinity, 0});
    EXPECT_EQ(sample(form(false, GridPadding::Zeros, false), x, grid).data, (std::vector<float>{2.5f, 0, 0}));
}

TEST(GridSample, ANanOfTheGridIsMinusOne) {
    const Value grid = floats({1, 1, 1, 2}, {std::nanf(""), 0});
    const Value x = iota({1, 1, 1, 4});
    EXPECT_EQ(sample(form(false, GridPadding::Zeros, true), x, grid).data, (std::vector<float>{1}));
    EXPECT_EQ(sample(form(false, GridPadding::Reflection, false), x, grid).data, (std::vector<float>{1}));
}

TEST(GridSample, AllChannelsOfABatch) {
    for (const int channels : {1, 3, 8, 9, 17, 70}) {
        const Value x = iota({2, channels, 1, 2}, 0);
        const Value grid = floats({2, 1, 1, 2}, {-0.5f, 0, 0, 0});
        const Value y = sample(form(false, GridPadding::Border, false), x, grid);
        ASSERT_EQ(y.shape, (Shape{2, channels, 1, 1}));
        for (int c = 0; c < channels; ++c) {
            EXPECT_EQ(y.data[static_cast<size_t>(c)], 2.0f * static_cast<float>(c)) << channels;
            EXPECT_EQ(y.data[static_cast<size_t>(channels + c)], 2.0f * static_cast<float>(channels + c) + 0.5f)
                << channels;
        }
    }
}

TEST(GridSample, ChannelsLast) {
    const Value y =
        run(OpType::GridSample, table(0, 0, true), {iota({1, 1, 2, 2}, 1, Format::NHWC), floats({1, 1, 1, 2}, {0, 0})});
    EXPECT_EQ(y.shape, (Shape{1, 1, 1, 2}));
    EXPECT_EQ(y.data, (std::vector<float>{2, 3}));
}

TEST(GridSample, RefusesOtherForms) {
    const Value x = iota({1, 1, 2, 2}), grid = floats({1, 1, 1, 2}, {0, 0});
    EXPECT_EQ(statusOf(table(0, 0, false), {x, grid}), Status::Ok);
    EXPECT_EQ(statusOf(table(2, 0, false), {x, grid}), Status::BadParameter);
    EXPECT_EQ(statusOf(table(0, 4, false), {x, grid}), Status::BadParameter);
    EXPECT_EQ(statusOf(table(0, 3, false), {x, grid}), Status::NotSupported);
    EXPECT_EQ(statusOf(table(0, 0, false, true), {x, grid}), Status::NotSupported);
    EXPECT_EQ(statusOf(table(0, 0, false), {x, grid, ints({1, 1, 2, 2})}), Status::NotSupported);
    EXPECT_EQ(statusOf(table(0, 0, false), {x, floats({2, 1, 1, 2}, {0, 0, 0, 0})}), Status::ComputeSizeError);
    EXPECT_EQ(statusOf(table(0, 0, false), {x, floats({1, 1, 1, 3}, {0, 0, 0})}), Status::ComputeSizeError);
    EXPECT_EQ(statusOf(table(0, 0, false), {x, ints({1, 1, 1, 2}, {0, 0})}), Status::BadType);
    EXPECT_EQ(statusOf(table(0, 0, false), {iota({1, 1, 0, 2}), grid}), Status::ComputeSizeError);
    EXPECT_EQ(statusOf(table(0, 0, false), {iota({1, 2}), grid}), Status::ComputeSizeError);
}

TEST(GridSample, NothingToSample) {
    EXPECT_EQ(shapeOf(OpType::GridSample, table(0, 0, false), {iota({1, 3, 2, 2}), floats({1, 0, 4, 2}, {})}),
              "1x3x0x4");
    EXPECT_EQ(shapeOf(OpType::GridSample, table(0, 0, false), {iota({0, 3, 2, 2}), floats({0, 1, 4, 2}, {})}),
              "0x3x1x4");
}

}  // namespace
}  // namespace mnnc::test
