// Im2Col and Col2Im from the wire table to values.
#include "op_harness.h"

namespace mnnc::test {
namespace {

Table patches(int kernelY, int kernelX, Ints pads = {}, int dilateY = 1) {
    return [=](flatbuffers::FlatBufferBuilder& b) {
        wire::Convolution2DT table;
        table.common = std::make_unique<wire::Convolution2DCommonT>();
        table.common->kernelY = kernelY;
        table.common->kernelX = kernelX;
        table.common->dilateY = dilateY;
        table.common->pads = pads;
        return asParameter(wire::CreateConvolution2D(b, &table));
    };
}

TEST(Columns, PatchesBecomeColumns) {
    const Value y = run(OpType::Im2Col, patches(2, 2), {iota({1, 1, 3, 3})});
    EXPECT_EQ(y.shape, (Shape{4, 4}));
    EXPECT_EQ(y.data, (std::vector<float>{1, 2, 4, 5, 2, 3, 5, 6, 4, 5, 7, 8, 5, 6, 8, 9}));
    EXPECT_EQ(run(OpType::Im2Col, patches(2, 1, {1, 0, 0, 0}), {iota({1, 1, 2, 2})}).data,
              (std::vector<float>{0, 0, 1, 2, 1, 2, 3, 4}));
    EXPECT_EQ(shapeOf(OpType::Im2Col, patches(3, 1, {}, 2), {iota({2, 3, 6, 2})}), "9x8");
    EXPECT_EQ(shapeOf(OpType::Im2Col, patches(4, 4), {iota({1, 2, 3, 3})}), "32x0");
}

TEST(Columns, ColumnsAddUpToTheImage) {
    const Value ones{{1, 4, 4}, std::vector<float>(16, 1.0f), Format::NCHW, {}};
    const Value y = run(OpType::Col2Im, patches(2, 2), {ones, ints({3, 3})});
    EXPECT_EQ(y.shape, (Shape{1, 1, 3, 3}));
    EXPECT_EQ(y.data, (std::vector<float>{1, 2, 1, 2, 4, 2, 1, 2, 1}));
    const Value flat{{4, 4}, ones.data, Format::NCHW, {}};  // a single image
    EXPECT_EQ(run(OpType::Col2Im, patches(2, 2), {flat, ints({3, 3})}).data, y.data);
}

TEST(Columns, RefuseWhatDoesNotFit) {
    expectRefused(OpType::Im2Col, patches(2, 2), {iota({3, 3})}, Status::ComputeSizeError, "rank 4 is needed");
    expectRefused(OpType::Im2Col, patches(0, 2), {iota({1, 1, 3, 3})}, Status::BadParameter, "a kernel extent is 0");
    expectRefused(OpType::Im2Col, patches(1024, 1024), {iota({1, 1, 3, 3})}, Status::NotSupported,
                  "a patch of 1024 x 1024 elements is not implemented");
    expectRefused(OpType::Col2Im, patches(2, 2), {iota({1, 4, 4}), ints({3, 4})}, Status::ComputeSizeError,
                  "columns 1x4x4 do not fit patches of 4 taps at 6 places");
    expectRefused(OpType::Col2Im, patches(2, 2), {iota({1, 6, 4}), ints({3, 3})}, Status::ComputeSizeError,
                  "columns 1x6x4 do not fit patches of 4 taps at 4 places");
    expectRefused(OpType::Col2Im, patches(2, 2), {iota({1, 4, 4}), ints({3, -3})}, Status::ComputeSizeError,
                  "extent -3 is negative");
    expectRefused(OpType::Col2Im, patches(2, 2), {iota({1, 4, 4}), scalar(3)}, Status::ComputeSizeError,
                  "has 1 values, 2 are needed");
}

}  // namespace
}  // namespace mnnc::test
