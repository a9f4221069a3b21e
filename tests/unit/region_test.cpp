// ROIAlign, ROIPooling and CropAndResize: stored values, hostile boxes and refused parameters.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "op_harness.h"

namespace mnnc::test {
namespace {

struct Roi {
    int height = 2, width = 2;
    float scale = 1;
    int samples = 0;
    bool aligned = false, maximum = false, gradient = false;
};

Table roiTable(const Roi& roi) {
    return [=](flatbuffers::FlatBufferBuilder& b) {
        return asParameter(wire::CreateRoiParameters(b, roi.width, roi.height, roi.scale, roi.samples, roi.aligned,
                                                     roi.maximum ? wire::PoolType::MAXPOOL : wire::PoolType::AVEPOOL,
                                                     roi.gradient));
    };
}

Table cropTable(float outside, int method = 0) {
    return [=](flatbuffers::FlatBufferBuilder& b) {
        return asParameter(wire::CreateCropAndResize(b, outside, static_cast<wire::CropAndResizeMethod>(method)));
    };
}

Status statusOf(OpType type, const Table& parameters, const std::vector<Value>& inputs) {
    try {
        run(type, parameters, inputs);
    } catch (const Error& error) {
        return error.status();
    }
    return Status::Ok;
}

const float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::nanf("");

// Aligns the box (0, 0, 3, 3) of 0 to 15 in a 4 x 4 picture.
std::vector<float> aligned(const Roi& roi) {
    const Value rows = run(OpType::ROIAlign, roiTable(roi), {iota({1, 1, 4, 4}, 0), floats({1, 5}, {0, 0, 0, 3, 3})});
    const Value indexed =
        run(OpType::ROIAlign, roiTable(roi), {iota({1, 1, 4, 4}, 0), floats({1, 4}, {0, 0, 3, 3}), ints({0})});
    EXPECT_EQ(rows.data, indexed.data);
    EXPECT_EQ(rows.shape, (Shape{1, 1, roi.height, roi.width}));
    return rows.data;
}

TEST(RoiAlign, CheckVectors) {
    Roi roi;
    roi.samples = 2;
    EXPECT_LT(distance(aligned(roi), {3.75f, 5.25f, 9.75f, 11.25f}), 1e-6);
    roi.aligned = true;
    EXPECT_LT(distance(aligned(roi), {1.5625f, 3, 7.3125f, 8.75f}), 1e-6);
    // Also two samples, because an output covers one and a half pixels.
    roi.samples = -1;
    EXPECT_LT(distance(aligned(roi), {1.5625f, 3, 7.3125f, 8.75f}), 1e-6);
}

TEST(RoiAlign, MaximumOfTheWeightedPixels) {
    Roi roi;
    roi.samples = 1;
    roi.maximum = true;
    // Samples are at 0.75 and 2.25: the maximum of the four weighted pixels is the one below and right, then the one
    // above and left.
    EXPECT_LT(distance(aligned(roi), {5 * 0.5625f, 6 * 0.5625f, 9 * 0.5625f, 10 * 0.5625f}), 1e-6);
    // One sample is inside on negative values, three are outside: 0 is the maximum.
    roi.samples = 2;
    roi.height = roi.width = 1;
    const Value x = floats({1, 1, 1, 1}, {-4});
    EXPECT_EQ(run(OpType::ROIAlign, roiTable(roi), {x, floats({1, 5}, {0, 0, 0, 8, 8})}).data, (std::vector<float>{0}));
    roi.samples = 1;
    EXPECT_EQ(
        run(OpType::ROIAlign, roiTable(roi), {floats({1, 1, 2, 2}, {-4, -4, -4, -8}), floats({1, 5}, {0, 0, 0, 1, 1})})
            .data,
        (std::vector<float>{-1}));
}

TEST(RoiAlign, HostileBoxes) {
    Roi roi;
    roi.aligned = true;
    for (const bool maximum : {false, true}) {
        roi.maximum = maximum;
        const Value y =
            run(OpType::ROIAlign, roiTable(roi),
                {iota({1, 1, 4, 4}), floats({6, 5}, {0, kNan,   0,          3,     3,          //
                                                     0, 0,      -kInfinity, 3,     kInfinity,  //
                                                     0, 1,      1,          1,     1,          // empty
                                                     0, 3,      3,          0,     0,          // reversed
                                                     0, -3e38f, -3e38f,     3e38f, 3e38f,     0, 90, 90, 95, 95})});
        EXPECT_EQ(y.data, std::vector<float>(24, 0.0f)) << maximum;
    }
    // A box of a million pixels is quick: only samples near the picture are visited. Their fraction is small.
    roi.maximum = false;
    roi.height = roi.width = 1;
    const Value huge =
        run(OpType::ROIAlign, roiTable(roi), {floats({1, 1, 1, 1}, {1e6f}), floats({1, 5}, {0, 0, 0, 1e6f, 1e6f})});
    EXPECT_NEAR(huge.data[0], 4e-6f, 4e-6f);
}

TEST(RoiAlign, RefusesOtherForms) {
    const Value x = iota({1, 1, 4, 4}), box = floats({1, 5}, {0, 0, 0, 3, 3});
    const auto status = [&](const Roi& roi, const std::vector<Value>& inputs) {
        return statusOf(OpType::ROIAlign, roiTable(roi), inputs);
    };
    Roi roi;
    EXPECT_EQ(status(roi, {x, box}), Status::Ok);
    EXPECT_EQ(status(roi, {x, box, ints({0}), x}), Status::NotSupported);
    EXPECT_EQ(status(roi, {x, box, ints({0})}), Status::ComputeSizeError);
    EXPECT_EQ(status(roi, {x, floats({1, 4}, {0, 0, 3, 3})}), Status::ComputeSizeError);
    EXPECT_EQ(status(roi, {x, floats({1, 4}, {0, 0, 3, 3}), ints({0, 0})}), Status::ComputeSizeError);
    EXPECT_EQ(status(roi, {x, floats({1, 4}, {0, 0, 3, 3}), ints({1})}), Status::InputDataError);
    EXPECT_EQ(status(roi, {x, floats({1, 4}, {0, 0, 3, 3}), ints({-1})}), Status::InputDataError);
    EXPECT_EQ(status(roi, {x, floats({1, 5}, {kNan, 0, 0, 3, 3})}), Status::InputDataError);
    EXPECT_EQ(status(roi, {x, floats({1, 5}, {1e30f, 0, 0, 3, 3})}), Status::InputDataError);
    EXPECT_EQ(status(roi, {iota({4, 4}), box}), Status::ComputeSizeError);
    roi.gradient = true;
    EXPECT_EQ(status(roi, {x, box}), Status::NotSupported);
    roi = {};
    roi.height = 0;
    EXPECT_EQ(status(roi, {x, box}), Status::BadParameter);
    roi = {};
    roi.scale = kInfinity;
    EXPECT_EQ(status(roi, {x, box}), Status::BadParameter);
    roi = {};
    roi.samples = 1025;
    EXPECT_EQ(status(roi, {x, box}), Status::BadParameter);
}

TEST(RoiPooling, CheckVectorsAndEmptyOutputs) {
    const Value y = run(OpType::ROIPooling, roiTable({}),
                        {iota({1, 1, 4, 4}, 0), floats({3, 5, 1, 1}, {0, 0, 0, 3, 3,  //
                                                                      0, 9, 9, 9, 9,  //
                                                                      0, kNan, -1e30f, 1e30f, kInfinity})});
    EXPECT_EQ(y.shape, (Shape{3, 1, 2, 2}));
    EXPECT_EQ(std::vector<float>(y.data.begin(), y.data.begin() + 8), (std::vector<float>{5, 7, 13, 15, 0, 0, 0, 0}));
    EXPECT_EQ(statusOf(OpType::ROIPooling, roiTable({}), {iota({1, 1, 4, 4}), floats({1, 5}, {1, 0, 0, 3, 3})}),
              Status::InputDataError);
    EXPECT_EQ(statusOf(OpType::ROIPooling, roiTable({}),
                       {iota({1, 1, 4, 4}), floats({1, 5}, {0, 0, 0, 3, 3}), iota({1, 1, 2, 2})}),
              Status::NotSupported);
}

TEST(CropAndResize, CheckVectors) {
    const Value x = iota({1, 3, 3, 1}, 0, Format::NHWC), boxes = floats({2, 4}, {0, 0, 1, 1, 0.5f, 0.5f, 1.5f, 1.5f});
    const std::vector<Value> inputs = {x, boxes, ints({0, 0}), ints({2, 2})};
    const Value y = run(OpType::CropAndResize, cropTable(-5), inputs);
    EXPECT_EQ(y.shape, (Shape{2, 2, 2, 1}));
    EXPECT_EQ(y.data, (std::vector<float>{0, 2, 6, 8, 4, -5, -5, -5}));
    // A crop of one pixel reads the centre.
    EXPECT_EQ(run(OpType::CropAndResize, cropTable(-5), {x, boxes, ints({0, 0}), ints({1, 1})}).data,
              (std::vector<float>{4, 8}));
    EXPECT_EQ(run(OpType::CropAndResize, cropTable(-5, 1), {x, boxes, ints({0, 0}), ints({1, 4})}).data,
              (std::vector<float>{3, 4, 4, 5, 7, 8, -5, -5}));
}

TEST(CropAndResize, HostileInputs) {
    const Value x = iota({1, 3, 3, 1}, 0, Format::NHWC);
    const auto crop = [&](std::vector<float> box, int picture, Ints size) {
        return std::vector<Value>{x, floats({1, 4}, std::move(box)), ints({picture}), ints(std::move(size))};
    };
    const Value y = run(OpType::CropAndResize, cropTable(7), crop({kNan, 0, 1, kInfinity}, 0, {2, 3}));
    EXPECT_EQ(y.data, std::vector<float>(6, 7.0f));
    const auto status = [&](const std::vector<Value>& inputs, int method = 0) {
        return statusOf(OpType::CropAndResize, cropTable(0, method), inputs);
    };
    EXPECT_EQ(status(crop({0, 0, 1, 1}, 1, {2, 2})), Status::InputDataError);
    EXPECT_EQ(status(crop({0, 0, 1, 1}, 0, {0, 2})), Status::ComputeSizeError);
    EXPECT_EQ(status(crop({0, 0, 1, 1}, 0, {2})), Status::ComputeSizeError);
    EXPECT_EQ(status(crop({0, 0, 1, 1}, 0, {2, 2}), 2), Status::BadParameter);
}

}  // namespace
}  // namespace mnnc::test
