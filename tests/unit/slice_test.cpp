// StridedSlice and SliceTf: from the wire table to values.
#include "op_harness.h"

namespace mnnc::test {
namespace {

Table strided(int from, int begin = 0, int end = 0, int ellipsis = 0, int newAxis = 0, int shrink = 0) {
    return [=](flatbuffers::FlatBufferBuilder& b) {
        return asParameter(wire::CreateStridedSliceParam(b, wire::DataType::DT_INT32, wire::DataType::DT_INT32, begin,
                                                         end, ellipsis, newAxis, shrink, from));
    };
}

TEST(Slice, StridedForms) {
    const Value x = intIota({10});
    const auto tf = [&](int begin, int end, int step) {
        return intsOf(OpType::StridedSlice, strided(0), {x, ints({begin}), ints({end}), ints({step})});
    };
    const auto onnx = [&](int begin, int end, int step) {
        return intsOf(OpType::StridedSlice, strided(1), {x, ints({begin}), ints({end}), ints({0}), ints({step})});
    };
    EXPECT_EQ(tf(2, 5, 1), (Ints{2, 3, 4}));
    EXPECT_EQ(tf(3, 3, 1), Ints{});
    EXPECT_EQ(tf(3, 3, 2), Ints{});
    EXPECT_EQ(tf(5, 2, 2), Ints{});
    EXPECT_EQ(tf(3, 3, -1), Ints{});
    EXPECT_EQ(tf(2, 5, -1), Ints{});
    EXPECT_EQ(tf(-13, 5, 1), (Ints{0, 1, 2, 3, 4}));
    EXPECT_EQ(tf(0, -20, 1), Ints{});
    EXPECT_EQ(tf(20, 30, 1), Ints{});
    EXPECT_EQ(tf(9, -5, -1), (Ints{9, 8, 7, 6}));
    EXPECT_EQ(onnx(3, 3, 2), Ints{});
    EXPECT_EQ(onnx(3, 3, -2), Ints{});
    EXPECT_EQ(onnx(-13, 5, 1), (Ints{0, 1, 2, 3, 4}));
    EXPECT_EQ(onnx(-1, -5, -1), (Ints{9, 8, 7, 6}));
    EXPECT_EQ(onnx(-1, -1073741824, -1), (Ints{9, 8, 7, 6, 5, 4, 3, 2, 1, 0}));
    EXPECT_EQ(onnx(-100, 5, 1), (Ints{0, 1, 2, 3, 4}));
    EXPECT_EQ(onnx(1, 1073741824, 4), (Ints{1, 5, 9}));
    EXPECT_THROW(tf(0, 5, 0), Error);
    const Value y = intIota({3, 4, 5});
    const auto item2 = ints({0, 0});
    EXPECT_EQ(shapeOf(OpType::StridedSlice, strided(0, 0, 0, 1, 2), {y, item2, item2, ints({1, 1})}), "3x4x5x1");
    EXPECT_EQ(shapeOf(OpType::StridedSlice, strided(0, 0, 0, 2, 1), {y, item2, item2, ints({1, 1})}), "1x3x4x5");
    EXPECT_EQ(intsOf(OpType::StridedSlice, strided(0, 0, 0, 0, 0, 3), {y, ints({-1, 1}), ints({0, 2}), ints({1, 1})}),
              (Ints{45, 46, 47, 48, 49}));
    EXPECT_EQ(intsOf(OpType::StridedSlice, strided(0, 1, 1), {intIota({2, 2, 2}), ints({0}), ints({0}), ints({-1})}),
              (Ints{4, 5, 6, 7, 0, 1, 2, 3}));
    // The form that writes.
    EXPECT_EQ(intsOf(OpType::StridedSlice, strided(0), {x, ints({8}), ints({2}), ints({-2}), ints({100, 101, 102})}),
              (Ints{0, 1, 2, 3, 102, 5, 101, 7, 100, 9}));
    EXPECT_EQ(intsOf(OpType::SliceTf, {}, {intIota({2, 3}), ints({0, -2}), ints({-1, 1})}), (Ints{1, 4}));
}

}  // namespace
}  // namespace mnnc::test
