// Interp and Resize against stored values, on every instruction set of this CPU.
#include "ops/interp.h"

#include <gtest/gtest.h>

#include <cmath>

#include "index_cases.h"
#include "op_harness.h"

namespace mnnc::test {
namespace {

InterpParams sized(ResizeType type, CoordinateMode mode, int height, int width, int depth = 0) {
    InterpParams p;
    p.type = type;
    p.mode = mode;
    p.size[0] = depth;
    p.size[1] = height;
    p.size[2] = width;
    return p;
}

Value resize(const InterpParams& params, const std::vector<Value>& inputs, OpType type = OpType::Interp) {
    Value result;
    for (const std::string& isa : availableIsas()) {
        OpRun run(type, std::make_shared<InterpParams>(params), isa.c_str());
        const Value now = run(inputs)[0];
        if (!result.data.empty()) {
            EXPECT_LT(distance(now.data, result.data), 1e-6) << isa;
        }
        result = now;
    }
    return result;
}

constexpr ResizeType kTypes[] = {ResizeType::NearestFloor, ResizeType::Linear, ResizeType::Cubic,
                                 ResizeType::NearestRound};

TEST(Interp, RowOfThreeToFive) {
    struct Case {
        CoordinateMode mode;
        std::vector<float> want[4];
    };
    using M = CoordinateMode;
    const Case cases[] = {
        {M::Asymmetric,
         {{1, 1, 2, 2, 3}, {1, 1.6f, 2.2f, 2.8f, 3}, {1, 1.504f, 2.272f, 2.848f, 3.108f}, {1, 2, 2, 3, 3}}},
        {M::AlignCorners, {{1, 1, 2, 2, 3}, {1, 1.5f, 2, 2.5f, 3}, {1, 1.40625f, 2, 2.59375f, 3}, {1, 1, 2, 2, 3}}},
        {M::HalfPixels, {{1, 1, 2, 2, 3}, {1, 1.4f, 2, 2.6f, 3}, {0.904f, 1.316f, 2, 2.684f, 3.096f}, {1, 1, 2, 3, 3}}},
        {M::PytorchHalfPixels,
         {{1, 1, 2, 2, 3}, {1, 1.4f, 2, 2.6f, 3}, {0.904f, 1.316f, 2, 2.684f, 3.096f}, {1, 1, 2, 3, 3}}},
        {M::TensorflowHalfPixels,
         {{1, 1, 2, 3, 3},
          {1.3f, 1.9f, 2.5f, 3, 3},
          {1.23175f, 1.85725f, 2.59375f, 3.06075f, 3.04725f},
          {1, 2, 2, 3, 3}}},
    };
    for (const Case& c : cases) {
        for (int t = 0; t < 4; ++t) {
            SCOPED_TRACE("mode " + std::to_string(static_cast<int>(c.mode)) + " type " + std::to_string(t));
            EXPECT_LT(distance(resize(sized(kTypes[t], c.mode, 1, 5), {iota({1, 1, 1, 3})}).data, c.want[t]), 1e-5);
            // The same along the height, and along the depth.
            EXPECT_LT(distance(resize(sized(kTypes[t], c.mode, 5, 1), {iota({1, 1, 3})}).data, c.want[t]), 1e-5);
            EXPECT_LT(distance(resize(sized(kTypes[t], c.mode, 1, 1, 5), {iota({1, 1, 3, 1, 1})}).data, c.want[t]),
                      1e-5);
        }
    }
}

TEST(Interp, Shrinking) {
    const Value x = iota({1, 1, 1, 5});
    const std::vector<float> want[4] = {{1, 4}, {1.75f, 4.25f}, {1.66797f, 4.33203f}, {2, 4}};
    for (int t = 0; t < 4; ++t)
        EXPECT_LT(distance(resize(sized(kTypes[t], CoordinateMode::HalfPixels, 1, 2), {x}).data, want[t]), 1e-5) << t;
    const auto one = [&](CoordinateMode m) { return resize(sized(ResizeType::Linear, m, 1, 1), {x}).data[0]; };
    EXPECT_EQ(one(CoordinateMode::PytorchHalfPixels), 1);
    EXPECT_EQ(one(CoordinateMode::HalfPixels), 3);
    EXPECT_EQ(one(CoordinateMode::AlignCorners), 1);
}

TEST(Interp, ScalesDefineTheRatioOnlyAsAFloatList) {
    InterpParams p = sized(ResizeType::Linear, CoordinateMode::HalfPixels, 0, 0);
    p.scale[1] = 1;
    p.scale[2] = 2.5f;
    const Value x = iota({1, 1, 1, 3});
    EXPECT_LT(distance(resize(p, {x}).data, {1, 1.14286f, 1.57143f, 2, 2.42857f, 2.85714f, 3}), 1e-5);
    const Value scales{{4}, {1, 1, 1, 2.5f}, Format::NCHW, {}};
    EXPECT_LT(distance(resize(p, {x, scales}).data, {1, 1.1f, 1.5f, 1.9f, 2.3f, 2.7f, 3}), 1e-5);
    p = sized(ResizeType::NearestFloor, CoordinateMode::Asymmetric, 0, 0);
    EXPECT_LT(distance(resize(p, {x, scales}).data, {1, 1, 1, 2, 2, 3, 3}), 1e-5);
}

TEST(Interp, SizesFromAList) {
    const InterpParams p = sized(ResizeType::NearestFloor, CoordinateMode::Asymmetric, 0, 0);
    const Value two{{2}, {}, Format::NCHW, {2, 6}};
    EXPECT_EQ(resize(p, {iota({1, 1, 1, 3}), two}).data, (std::vector<float>{1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3}));
    const Value floats{{2}, {2, 3}, Format::NCHW, {}};
    EXPECT_EQ(resize(p, {iota({1, 1, 1, 3}), floats}).data, (std::vector<float>{1, 2, 3, 1, 2, 3}));
    // Lists for NHWC have the tensor's own order.
    const Value nhwc = resize(p, {iota({1, 1, 2, 2}, 1, Format::NHWC), {{4}, {}, Format::NCHW, {1, 1, 4, 2}}});
    EXPECT_EQ(nhwc.shape, (Shape{1, 1, 4, 2}));
    EXPECT_EQ(nhwc.data, (std::vector<float>{1, 2, 1, 2, 3, 4, 3, 4}));
    EXPECT_THROW(resize(p, {iota({1, 1, 1, 3}), {{3}, {}, Format::NCHW, {1, 2, 3}}}), Error);
    EXPECT_THROW(resize(p, {iota({1, 1, 1, 3}), {{2}, {}, Format::NCHW, {0, 3}}}), Error);
}

TEST(Interp, BatchAndChannels) {
    const InterpParams p = sized(ResizeType::NearestFloor, CoordinateMode::Asymmetric, 0, 0);
    const Value y = resize(p, {iota({1, 2, 1, 2}), {{4}, {}, Format::NCHW, {2, 4, 1, 2}}});
    EXPECT_EQ(y.shape, (Shape{2, 4, 1, 2}));
    EXPECT_EQ(y.data, (std::vector<float>{1, 2, 1, 2, 3, 4, 3, 4, 1, 2, 1, 2, 3, 4, 3, 4}));
}

// The extents behind the axis become one width.
TEST(Interp, AnAxisOfVeryLongRowsIsRefused) {
    IndexNet n;
    const int x = n.input({2, 1, 50000, 40000});
    wire::InterpT table;
    table.resizeType = 1;
    table.ctm = wire::CoordinateTransformationMode::Asymmetric;
    const wire::NetT net =
        n.finish({n.indexed(wire::OpType::Interp, {x, n.constant({4}, Ints{1, 1, 8, 8})}, std::move(table))});
    expectFailure(Status::ComputeSizeError, "resizing axis 0", [&] { Session(open(net), {}); });
}

TEST(Interp, CubicCoefficient) {
    InterpParams p = sized(ResizeType::Cubic, CoordinateMode::HalfPixels, 1, 5);
    p.cubicA = -0.5f;
    EXPECT_LT(distance(resize(p, {iota({1, 1, 1, 3})}).data, {0.936f, 1.328f, 2, 2.672f, 3.064f}), 1e-5);
}

Table interpTable(int type, int mode, float cubicA = -0.75f) {
    return [=](flatbuffers::FlatBufferBuilder& b) {
        wire::InterpBuilder table(b);
        table.add_outputDepth(1);
        table.add_outputHeight(1);
        table.add_outputWidth(2);
        table.add_resizeType(type);
        table.add_cubicCoeffA(cubicA);
        table.add_ctm(static_cast<wire::CoordinateTransformationMode>(mode));
        return asParameter(table.Finish());
    };
}

TEST(Interp, RefusesWhatTheFileDoesNotSay) {
    const auto status = [](const Table& table) {
        try {
            run(OpType::Interp, table, {iota({1, 1, 1, 3})});
        } catch (const Error& error) {
            return error.status();
        }
        return Status::Ok;
    };
    EXPECT_EQ(status(interpTable(2, 2)), Status::Ok);
    EXPECT_EQ(status(interpTable(0, 2)), Status::NotSupported);
    EXPECT_EQ(status(interpTable(5, 2)), Status::BadParameter);
    EXPECT_EQ(status(interpTable(2, 6)), Status::NotSupported);
    EXPECT_EQ(status(interpTable(2, 7)), Status::BadParameter);
    EXPECT_EQ(status(interpTable(3, 2, std::nanf(""))), Status::BadParameter);
}

TEST(Interp, ThreeAxesAndNothing) {
    EXPECT_EQ(run(OpType::Interp3D, interpTable(2, 2), {iota({1, 1, 1, 1, 4})}).data, (std::vector<float>{1.5f, 3.5f}));
    EXPECT_EQ(shapeOf(OpType::Interp, interpTable(2, 2), {iota({0, 3, 4, 4})}), "0x3x1x2");
    EXPECT_EQ(shapeOf(OpType::Interp, interpTable(2, 2), {iota({2, 0, 4, 4})}), "2x0x1x2");
}

TEST(Interp, LegacyResize) {
    InterpParams p;
    p.legacy = true;
    p.scale[1] = 1;
    p.scale[2] = 1.7f;
    EXPECT_LT(distance(resize(p, {iota({1, 1, 1, 3})}, OpType::Resize).data, {1, 1.6f, 2.2f, 2.8f, 3}), 1e-5);
}

}  // namespace
}  // namespace mnnc::test
