// Segment: exact means and refused inputs.
#include "op_harness.h"

namespace mnnc::test {
namespace {

Table reduction(wire::ReductionType operation) {
    return [=](flatbuffers::FlatBufferBuilder& b) {
        wire::ReductionParamT table;
        table.operation = operation;
        return asParameter(wire::CreateReductionParam(b, &table));
    };
}

TEST(Segment, MeansOfRuns) {
    const Table mean = reduction(wire::ReductionType::MEAN);
    const Value y = run(OpType::Segment, mean, {iota({4, 2}), ints({0, 0, 2, 2})});
    EXPECT_EQ(y.shape, (Shape{3, 2}));
    EXPECT_EQ(y.data, (std::vector<float>{2, 3, 0, 0, 6, 7}));
    expectRefused(OpType::Segment, mean, {iota({3}), ints({0, 2, 1})}, Status::ComputeSizeError,
                  "segment number 1 follows 2; they must ascend from 0");
    expectRefused(OpType::Segment, mean, {iota({3}), ints({-1, 0, 1})}, Status::ComputeSizeError,
                  "segment number -1 follows 0");
    expectRefused(OpType::Segment, mean, {iota({3}), ints({0, 1})}, Status::ComputeSizeError,
                  "segment numbers of shape 2 do not fit the rows of 3");
    expectRefused(OpType::Segment, reduction(wire::ReductionType::MAXIMUM), {iota({3}), ints({0, 0, 1})},
                  Status::NotSupported, "not by operation 4");
}

}  // namespace
}  // namespace mnnc::test
