// Concat, Pack, Slice, Unpack: from the wire table to values.
#include "op_harness.h"

namespace mnnc::test {
namespace {

TEST(Concat, JoinsAndSplits) {
    EXPECT_EQ(intsOf(OpType::Concat, axisTable(1), {intIota({2, 1}), intIota({2, 2})}), (Ints{0, 0, 1, 1, 2, 3}));
    EXPECT_EQ(intsOf(OpType::Concat, axisTable(1), {intIota({2, 1}), intIota({2})}), (Ints{0, 0, 1, 1}));
    EXPECT_THROW(run(OpType::Concat, axisTable(1), {intIota({2, 1}), intIota({3})}), Error);
    EXPECT_THROW(run(OpType::Concat, axisTable(0), {intIota({2}), intIota({2, 1})}), Error);
    const Table pack = [](flatbuffers::FlatBufferBuilder& b) {
        return asParameter(wire::CreatePackParam(b, wire::DataType::DT_INT32, -1));
    };
    EXPECT_EQ(intsOf(OpType::Pack, pack, {intIota({2}), ints({7, 8})}), (Ints{0, 7, 1, 8}));
    const auto slice = [](std::vector<int> points, wire::NetSource source) {
        return [=](flatbuffers::FlatBufferBuilder& b) {
            return asParameter(wire::CreateSliceDirect(b, 0, &points, source));
        };
    };
    const auto lengths = [](const Table& table, std::vector<Value> in, int outputs) {
        std::vector<int64_t> result;
        for (const Value& v : OpRun(OpType::Slice, table)(in, outputs)) result.push_back(v.shape[0]);
        return result;
    };
    using Lengths = std::vector<int64_t>;
    EXPECT_EQ(lengths(slice({2, 5}, wire::NetSource::CAFFE), {intIota({10})}, 3), (Lengths{2, 3, 5}));
    EXPECT_EQ(lengths(slice({}, wire::NetSource::TORCH), {intIota({10})}, 3), (Lengths{4, 4, 2}));
    EXPECT_EQ(lengths(slice({}, wire::NetSource::ONNX), {intIota({9})}, 3), (Lengths{3, 3, 3}));
    EXPECT_THROW(lengths(slice({}, wire::NetSource::ONNX), {intIota({10})}, 7), Error);
    EXPECT_EQ(lengths(slice({4}, wire::NetSource::TORCH), {intIota({10})}, 3), (Lengths{4, 4, 2}));
    EXPECT_EQ(lengths(slice({2}, wire::NetSource::TENSORFLOW), {intIota({10})}, 2), (Lengths{5, 5}));
    EXPECT_EQ(lengths(slice({3, -1}, wire::NetSource::ONNX), {intIota({10})}, 2), (Lengths{3, 7}));
    EXPECT_EQ(lengths(slice({}, wire::NetSource::TORCH), {intIota({10}), ints({1, 2})}, 2), (Lengths{1, 2}));
    EXPECT_EQ(OpRun(OpType::Unpack, axisTable(1))({intIota({2, 2})}, 2)[1].ints, (Ints{1, 3}));
}

TEST(Concat, LeavesOutInputsWithoutElements) {
    const auto joined = [](std::vector<Value> in) { return OpRun(OpType::Concat, axisTable(0))(std::move(in), 1)[0]; };
    EXPECT_EQ(joined({intIota({0, 3}), intIota({2, 1})}).shape, (Shape{2, 1}));
    EXPECT_EQ(joined({intIota({0, 3}), intIota({2, 1})}).ints, (Ints{0, 1}));
    EXPECT_EQ(joined({intIota({1, 2}), intIota({0, 3}), intIota({2, 2})}).ints, (Ints{0, 1, 0, 1, 2, 3}));
    EXPECT_EQ(joined({intIota({0, 1}), intIota({0, 3})}).shape, (Shape{0, 1}));
    EXPECT_THROW(joined({intIota({2, 0}), intIota({2, 3})}), Error);
    EXPECT_THROW(joined({intIota({2, 3}), intIota({0, 3, 1})}), Error);
}

}  // namespace
}  // namespace mnnc::test
