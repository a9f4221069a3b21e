// Dilation2D: exact values and refused inputs.
#include "op_harness.h"

namespace mnnc::test {
namespace {

TEST(Dilation2d, TapsOutsideDoNotCount) {
    const auto table = [](wire::PadMode mode) {
        return [=](flatbuffers::FlatBufferBuilder& b) {
            wire::Convolution2DT t;
            t.common = std::make_unique<wire::Convolution2DCommonT>();
            t.common->kernelX = t.common->kernelY = 2;
            t.common->outputCount = 1;
            t.common->padMode = mode;
            t.weight = {0, 1, 2, 3};
            return asParameter(wire::CreateConvolution2D(b, &t));
        };
    };
    EXPECT_EQ(run(OpType::Dilation2D, table(wire::PadMode::SAME), {iota({1, 1, 3, 3})}).data,
              (std::vector<float>{8, 9, 8, 11, 12, 11, 9, 10, 9}));
    EXPECT_EQ(run(OpType::Dilation2D, table(wire::PadMode::VALID), {iota({1, 1, 2, 2}, -1e6f)}).data,
              (std::vector<float>{-1e6f + 6}));
    expectRefused(OpType::Dilation2D, table(wire::PadMode::SAME), {iota({1, 2, 3, 3})}, Status::ComputeSizeError,
                  "2 input and 1 output channels");
}

}  // namespace
}  // namespace mnnc::test
