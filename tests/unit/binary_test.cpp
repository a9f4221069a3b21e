// BinaryOp and Eltwise: refused operands, and combinations of types.
#include "op_harness.h"

namespace mnnc::test {
namespace {

Table binary(int code) {
    return [=](flatbuffers::FlatBufferBuilder& b) {
        return asParameter(wire::CreateBinaryOp(b, static_cast<wire::BinaryOpOperation>(code)));
    };
}

TEST(Binary, AFloatAndAnInteger) {
    const Value x = floats({3}, {0.5f, 2, -3}), i = ints({2, 3, 2});
    EXPECT_EQ(run(OpType::BinaryOp, binary(0), {i, x}).data, (std::vector<float>{2.5f, 5, -1}));
    EXPECT_EQ(run(OpType::BinaryOp, binary(6), {x, i}).data, (std::vector<float>{0.25f, 8, 9}));
    EXPECT_EQ(intsOf(OpType::BinaryOp, binary(6), {i, x}), (Ints{1, 9, 0}));
    EXPECT_EQ(intsOf(OpType::BinaryOp, binary(10), {i, x}), (Ints{1, 1, 1}));
}

TEST(Binary, ShiftsBeyondTheWidth) {
    EXPECT_EQ(intsOf(OpType::BinaryOp, binary(27), {ints({1, -1, 3, 3}), ints({32, -1, 40, 31})}),
              (Ints{0, 0, 0, INT32_MIN}));
    EXPECT_EQ(intsOf(OpType::BinaryOp, binary(28), {ints({7, -7, 7, -8}), ints({32, 99, -1, 1})}),
              (Ints{0, -1, 0, -4}));
}

TEST(Binary, EltwiseCoefficients) {
    const auto sum = [](std::vector<float> coeff) {
        return [=](flatbuffers::FlatBufferBuilder& b) {
            return asParameter(wire::CreateEltwiseDirect(b, wire::EltwiseType::SUM, &coeff));
        };
    };
    const std::vector<Value> inputs = {floats({2}, {1, 2}), floats({2}, {3, 5})};
    EXPECT_EQ(run(OpType::Eltwise, sum({2, -1}), inputs).data, (std::vector<float>{-1, -1}));
    EXPECT_EQ(run(OpType::Eltwise, sum({1, 0, 0}), inputs).data, (std::vector<float>{1, 2}));
    try {
        run(OpType::Eltwise, sum({1, 2, 3}), inputs);
        FAIL() << "three coefficients of two inputs";
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::BadParameter);
    }
}

}  // namespace
}  // namespace mnnc::test
