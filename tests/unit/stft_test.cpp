// Stft: results, and parameters and shapes that are refused.
#include "op_harness.h"

namespace mnnc::test {
namespace {

Table stft(bool oneSided) {
    return [=](flatbuffers::FlatBufferBuilder& b) { return asParameter(wire::CreateStftParam(b, 0, 0, oneSided)); };
}

std::string failureOf(const Value& signal, int step, const Value& window) {
    try {
        run(OpType::Stft, stft(true), {signal, scalar(step), window});
    } catch (const Error& error) {
        return error.what();
    }
    return "no failure";
}

TEST(Stft, GivesRealAndImaginaryParts) {
    const Value ones = floats({4}, {1, 1, 1, 1});
    const Value y = run(OpType::Stft, stft(true), {iota({1, 6}), scalar(1), ones});
    EXPECT_EQ(y.shape.text(), "1x3x3x2");
    const std::vector<float> wanted = {10, 0, -2, 2, -2, 0, 14, 0, -2, 2, -2, 0, 18, 0, -2, 2, -2, 0};
    for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(y.data[i], wanted[i], 1e-5) << i;
    EXPECT_EQ(shapeOf(OpType::Stft, stft(false), {iota({2, 7, 2}), scalar(3), ones}), "2x2x4x2");
}

TEST(Stft, RefusesWhatDoesNotFit) {
    const Value window = iota({4});
    EXPECT_EQ(failureOf(iota({1, 6}), 0, window), "op 'tested': the step is 0, at least 1 is needed");
    EXPECT_EQ(failureOf(iota({1, 3}), 1, window), "op 'tested': a window of 4 does not fit a signal of 1x3");
    EXPECT_EQ(failureOf(iota({1, 6}), 1, iota({2, 2})), "op 'tested': a window of 2x2 does not fit a signal of 1x6");
    EXPECT_EQ(failureOf(iota({1, 9000}), 1, iota({8193})),
              "op 'tested' (Stft): the window has 8193 values, the limit is 8192");
    EXPECT_EQ(failureOf(intIota({1, 6}), 1, window), "op 'tested' (Stft): input 0 is int32, float32 is needed");
    EXPECT_EQ(failureOf(iota({1, 6}), INT32_MAX, window), "no failure");
}

}  // namespace
}  // namespace mnnc::test
