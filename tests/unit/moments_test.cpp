// Moments: exact values and refused inputs.
#include "op_harness.h"

namespace mnnc::test {
namespace {

Table moments(std::vector<int> axes, bool keepDims) {
    return [=](flatbuffers::FlatBufferBuilder& b) {
        wire::MomentsParamT table;
        table.dim = axes;
        table.keepDims = keepDims;
        return asParameter(wire::CreateMomentsParam(b, &table));
    };
}

TEST(Moments, MeanAndVariance) {
    const auto rows = OpRun(OpType::Moments, moments({-1}, false))({iota({2, 3})}, 2);
    EXPECT_EQ(rows[0].shape, (Shape{2}));
    EXPECT_EQ(rows[0].data, (std::vector<float>{2, 5}));
    EXPECT_EQ(rows[1].data, (std::vector<float>{2.0f / 3, 2.0f / 3}));
    const auto all = OpRun(OpType::Moments, moments({}, true))({floats({2, 2}, {1, 1, 3, 3})}, 2);
    EXPECT_EQ(all[0].shape, (Shape{1, 1}));
    EXPECT_EQ(all[1].data, (std::vector<float>{1}));
}

TEST(Moments, Refuses) {
    EXPECT_THROW(OpRun(OpType::Moments, moments({2}, true))({iota({2, 3})}, 2), Error);
    try {
        OpRun(OpType::Moments, moments({0}, true))({intIota({3})}, 2);
        ADD_FAILURE() << "integers are accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::NotSupported);
        EXPECT_NE(error.message().find("moments of int32 are not implemented"), std::string::npos);
    }
}

}  // namespace
}  // namespace mnnc::test
