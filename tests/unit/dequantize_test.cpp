// DynamicQuant and Dequantize: NaN and infinite contents, and tables that do not fit.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "model_builder.h"
#include "op_harness.h"

namespace mnnc::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Returns scale and zero point.
std::vector<float> stepOf(std::vector<float> values, int threads = 1) {
    const Shape shape{static_cast<int64_t>(values.size())};
    const auto results = OpRun(OpType::DynamicQuant, ParamsPtr(), "", threads)({floats(shape, std::move(values))}, 3);
    return {results[1].data[0], results[2].data[0]};
}

TEST(DynamicQuant, TheRangeIncludesZero) {
    EXPECT_EQ(stepOf({1, 255}), (std::vector<float>{1, -128}));
    EXPECT_EQ(stepOf({-255, -3}), (std::vector<float>{1, 127}));
    EXPECT_EQ(stepOf({-1, 254}), (std::vector<float>{1, -127}));
    EXPECT_EQ(stepOf({0, 0}), (std::vector<float>{1, -128}));
    EXPECT_EQ(stepOf({0, 1e-44f}), (std::vector<float>{1, -128}));  // a 255th of it is 0
    EXPECT_EQ(stepOf({}), (std::vector<float>{1, -128}));
}

TEST(DynamicQuant, Codes) {
    const auto results = OpRun(OpType::DynamicQuant, Table())({floats({4}, {-1, 254, 0.5f, 1.5f})}, 3);
    EXPECT_EQ(results[0].ints, (Ints{-128, 127, -127, -125}));
}

TEST(DynamicQuant, WhatIsNoNumberHasACodeToo) {
    EXPECT_EQ(stepOf({std::nanf(""), -1, 254}), (std::vector<float>{1, -127}));
    EXPECT_EQ(stepOf({kInfinity, -1, 254}), (std::vector<float>{1, -127}));
}

TEST(DynamicQuant, ThreadsFindTheSameRange) {
    std::vector<float> values(100001, 0.5f);
    values[77777] = 200;
    values[99999] = -55;
    EXPECT_EQ(stepOf(values), (std::vector<float>{1, -73}));
    EXPECT_EQ(stepOf(values, 3), (std::vector<float>{1, -73}));
}

Table dequantize(int source, int mode, float scale = 1) {
    return [=](flatbuffers::FlatBufferBuilder& b) {
        const auto quantized = wire::CreateQuantizedParam(b, 2, scale);
        wire::DequantizeBuilder table(b);
        table.add_inputQuantizedParam(quantized);
        table.add_modelFormat(static_cast<wire::ModeFormat>(source));
        table.add_mode(static_cast<wire::QuantizeMode>(mode));
        return asParameter(table.Finish());
    };
}

TEST(Dequantize, ParametersThatDoNotFitAreRefused) {
    const auto refuse = [](Status status, const char* text, const Table& table, const std::vector<Value>& inputs) {
        expectFailure(status, text, [&] { run(OpType::Dequantize, table, inputs); });
    };
    EXPECT_EQ(run(OpType::Dequantize, dequantize(1, 0), {ints({1, 2, 5})}).data, (std::vector<float>{-1, 0, 3}));
    refuse(Status::BadParameter, "a scale of inf", dequantize(1, 0, kInfinity), {ints({1})});
    refuse(Status::BadParameter, "modelFormat 2", dequantize(2, 0), {ints({1})});
    refuse(Status::BadParameter, "mode 3", dequantize(0, 3), {ints({1}), floats({1}, {0}), floats({1}, {1})});
    refuse(Status::BadParameter, "1 inputs", dequantize(0, 0), {ints({1})});
    refuse(Status::BadType, "integers are needed", dequantize(1, 0), {floats({1}, {0})});
    refuse(Status::ComputeSizeError, "one float32", dequantize(0, 0),
           {ints({1}), floats({2}, {0, 1}), floats({1}, {1})});
}

}  // namespace
}  // namespace mnnc::test
