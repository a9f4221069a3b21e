// Operators without the inputs that they may be given.
#include "mnn_c.h"
#include "model_builder.h"

namespace mnnc::testing {
namespace {

// Without the axis it is the first one; and nothing but the data's shape decides the output's, so that it is there
// before a run.
TEST(OptionalInputs, ScatterElementsWithoutAnAxis) {
    wire::NetT source;
    source.tensorName = {"data", "indices", "updates", "y"};
    source.outputName = {"y"};
    source.oplists.push_back(makeInput(0, {3, 2}));
    source.oplists.push_back(makeIntConst(1, {1, 2}, {2, 0}));
    source.oplists.push_back(makeConst(2, {1, 2}, {50, 60}));
    wire::BinaryOpT sum;
    sum.opType = wire::BinaryOpOperation::ADD;
    source.oplists.push_back(
        makeOp(wire::OpType::ScatterElements, "scatter", {0, 1, 2}, {3}, std::move(sum)));
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
}  // namespace mnnc::testing
