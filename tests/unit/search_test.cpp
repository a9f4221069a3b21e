// ArgMax, ArgMin, TopKV2: from the wire table to values.
#include "op_harness.h"

namespace mnnc::test {
namespace {

TEST(Search, TiesAndAxes) {
    const auto arg = [](int at) {
        return [=](flatbuffers::FlatBufferBuilder& b) { return asParameter(wire::CreateArgMax(b, 0, 0, at)); };
    };
    EXPECT_EQ(intsOf(OpType::ArgMax, arg(-1), {ints(Shape{2, 3}, {1, 5, 5, -1, -5, -3})}), (Ints{1, 0}));
    EXPECT_EQ(intsOf(OpType::ArgMin, arg(0), {ints(Shape{2, 2}, {1, 5, 0, 7})}), (Ints{1, 0}));
    const auto top = [](std::vector<float> values, int k) {
        const int64_t n = static_cast<int64_t>(values.size());
        return OpRun(OpType::TopKV2, Table())({floats(Shape{n}, values), ints({k})}, 2)[1].ints;
    };
    EXPECT_EQ(top({1, 5, 5}, 2), (Ints{1, 2}));
    EXPECT_EQ(top({7, 2, 7}, 2), (Ints{0, 2}));
    EXPECT_EQ(top({1, 5, 5}, 1), Ints{1});
    EXPECT_EQ(OpRun(OpType::TopKV2, Table())({intIota({3, 2}), scalar(2), scalar(0)}, 2)[0].ints, (Ints{4, 5, 2, 3}));
    EXPECT_THROW(OpRun(OpType::TopKV2, Table())({intIota({3}), scalar(4)}, 2), Error);
}

// The packed form without an axis uses the first of width, height and channel that is longer than 1.
TEST(Search, PackedFormWithoutAnAxis) {
    using Found = std::pair<std::string, std::vector<float>>;
    const auto largest = [](Shape shape, std::vector<float> values) -> Found {
        Value x = floats(shape, std::move(values));
        x.format = Format::NC4HW4;
        const Table one = [](flatbuffers::FlatBufferBuilder& b) { return asParameter(wire::CreateArgMax(b, 0, 1)); };
        const Value at = run(OpType::ArgMax, one, {x});
        return {at.shape.text(), at.data};
    };
    EXPECT_EQ(largest({2, 2, 1, 3}, {1, 5, 3, 0, -1, -2, 4, 4, 9, 2, 8, 2}), Found("2x2x1x1", {1, 0, 2, 1}));
    EXPECT_EQ(largest({2, 1, 3, 1}, {1, 5, 3, 0, -1, -2}), Found("2x1x1x1", {1, 0}));
    EXPECT_EQ(largest({2, 3, 1, 1}, {1, 5, 3, 0, -1, -2}), Found("2x1x1x1", {1, 0}));
}

// Axis 10000 of the packed form: the largest values of a whole image.
TEST(Search, PackedFormOfImages) {
    const auto list = [](int top, int values) {
        return
            [=](flatbuffers::FlatBufferBuilder& b) { return asParameter(wire::CreateArgMax(b, values, top, 10000)); };
    };
    Value x = floats({2, 2, 1, 2}, {1, 5, 3, 0, -1, -2, 4, -3});
    x.format = Format::NC4HW4;
    const Value at = run(OpType::ArgMax, list(2, 1), {x});
    EXPECT_EQ(at.shape.text(), "2x2x2x1");
    EXPECT_EQ(at.data, (std::vector<float>{1, 2, 5, 3, 2, 0, 4, -1}));
    Value equal = floats({1, 1, 2, 4}, std::vector<float>(8, 3.0f));
    equal.format = Format::NC4HW4;
    EXPECT_EQ(run(OpType::ArgMax, list(5, 0), {equal}).data, (std::vector<float>{0, 1, 2, 3, 4}));
    EXPECT_THROW(run(OpType::ArgMax, list(5, 0), {x}), Error);
}

}  // namespace
}  // namespace mnnc::test
