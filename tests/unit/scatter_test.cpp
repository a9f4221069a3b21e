// ScatterNd, ScatterElements: from the wire table to values.
#include <cmath>
#include <limits>

#include "mnn_c.h"
#include "model_builder.h"
#include "op_harness.h"

namespace mnnc::test {
namespace {

TEST(Scatter, ReplacesAndAdds) {
    EXPECT_EQ(
        intsOf(OpType::ScatterNd, {}, {ints(Shape{2, 1}, {1, -3}), ints(Shape{2, 2}, {1, 2, 3, 4}), ints({3, 2})}),
        (Ints{3, 4, 1, 2, 0, 0}));
    EXPECT_THROW(run(OpType::ScatterNd, {}, {ints(Shape{2, 1}, {1, 5}), ints(Shape{2, 2}, {1, 2, 3, 4}), ints({3, 2})}),
                 Error);
    const auto binary = [](wire::BinaryOpOperation op) {
        return [=](flatbuffers::FlatBufferBuilder& b) { return asParameter(wire::CreateBinaryOp(b, op)); };
    };
    EXPECT_EQ(intsOf(OpType::ScatterNd, binary(wire::BinaryOpOperation::ADD),
                     {ints(Shape{2, 1}, {1, 1}), ints({5, 6}), ints({3}), ints({1, 1, 1})}),
              (Ints{1, 12, 1}));
    EXPECT_EQ(intsOf(OpType::ScatterElements, binary(static_cast<wire::BinaryOpOperation>(-1)),
                     {intIota({2, 3}), ints(Shape{1, 2}, {1, -1}), ints(Shape{1, 2}, {9, 8}), scalar(0)}),
              (Ints{0, 1, 2, 9, 8, 5}));
}

// A NaN remains, whichever operand it is in, and types without a rule are refused.
TEST(Scatter, MaximumAndMinimum) {
    const auto binary = [](wire::BinaryOpOperation op) {
        return [=](flatbuffers::FlatBufferBuilder& b) { return asParameter(wire::CreateBinaryOp(b, op)); };
    };
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const Value data = floats({4}, {1, 5, nan, 2}), updates = floats({4}, {3, 4, 9, nan});
    const std::vector<Value> inputs = {ints(Shape{4, 1}, {0, 1, 2, 3}), updates, ints({4}), data};
    const std::vector<float> maxima = run(OpType::ScatterNd, binary(wire::BinaryOpOperation::MAXIMUM), inputs).data;
    EXPECT_EQ(maxima[0], 3);
    EXPECT_EQ(maxima[1], 5);
    EXPECT_TRUE(std::isnan(maxima[2]));
    EXPECT_TRUE(std::isnan(maxima[3]));
    const std::vector<float> minima = run(OpType::ScatterNd, binary(wire::BinaryOpOperation::MINIMUM), inputs).data;
    EXPECT_EQ(minima[0], 1);
    EXPECT_EQ(minima[1], 4);
    try {
        run(OpType::ScatterNd, binary(wire::BinaryOpOperation::POW), inputs);
        FAIL() << "a scatter by powers";
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::NotSupported);
        EXPECT_EQ(error.message(), "a scatter that combines by binary code 6 is not supported");
    }
}

// Without an axis input the axis is 0. The shape of the output depends only on the shape of the data, so it is known
// before a run.
TEST(Scatter, ElementsWithoutAnAxis) {
    wire::NetT source;
    source.tensorName = {"data", "indices", "updates", "y"};
    source.outputName = {"y"};
    source.oplists.push_back(makeInput(0, {3, 2}));
    source.oplists.push_back(makeIntConst(1, {1, 2}, {2, 0}));
    source.oplists.push_back(makeConst(2, {1, 2}, {50, 60}));
    wire::BinaryOpT sum;
    sum.opType = wire::BinaryOpOperation::ADD;
    source.oplists.push_back(makeOp(wire::OpType::ScatterElements, "scatter", {0, 1, 2}, {3}, std::move(sum)));
    const std::vector<uint8_t> bytes = pack(source);
    mnn_interpreter_t* net = nullptr;
    mnn_session_t* session = nullptr;
    ASSERT_EQ(mnn_interpreter_create_from_memory(bytes.data(), bytes.size(), nullptr, &net), MNN_OK)
        << mnn_last_error();
    ASSERT_EQ(mnn_session_create(net, nullptr, &session), MNN_OK) << mnn_last_error();
    mnn_tensor_t *input = nullptr, *output = nullptr;
    ASSERT_EQ(mnn_session_input(session, nullptr, &input), MNN_OK);
    ASSERT_EQ(mnn_session_output(session, nullptr, &output), MNN_OK);
    int32_t dims[2] = {};
    size_t rank = 0;
    ASSERT_EQ(mnn_tensor_shape(output, dims, 2, &rank), MNN_OK) << mnn_last_error();
    EXPECT_EQ(rank, 2u);
    EXPECT_EQ(dims[0], 3);
    EXPECT_EQ(dims[1], 2);
    const float data[] = {1, 2, 3, 4, 5, 6};
    float y[6] = {};
    ASSERT_EQ(mnn_tensor_write(input, data, sizeof data, MNN_FORMAT_NCHW), MNN_OK);
    ASSERT_EQ(mnn_session_run(session), MNN_OK) << mnn_last_error();
    ASSERT_EQ(mnn_tensor_read(output, y, sizeof y, MNN_FORMAT_NCHW), MNN_OK);
    EXPECT_EQ(std::vector<float>(y, y + 6), (std::vector<float>{1, 62, 3, 4, 55, 6}));
    EXPECT_EQ(mnn_session_destroy(&session), MNN_OK);
    EXPECT_EQ(mnn_interpreter_destroy(&net), MNN_OK);
}

}  // namespace
}  // namespace mnnc::test
