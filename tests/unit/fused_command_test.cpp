// Fused commands: their bodies as commands over tensors, their names, and files that claim to have one.
#include "backend/fusion.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "net_builder.h"

namespace mnnc::test {
namespace {

constexpr FusionPattern kPattern = {"Example", nullptr, nullptr, nullptr};

TEST(FusedCommand, StepsReadInputsAndEarlierResults) {
    Operand a, b, sum, result;
    a.name = "a";
    auto params = std::make_shared<FusedParams>();
    params->pattern = &kPattern;
    // Values 0 and 1 are the inputs, 2 is internal to the steps, 3 and 4 are outputs.
    params->steps = {
        {OpType::UnaryOp, "first", nullptr, {}, {}, {1}, Shape{2, 3}, DataType::Int32, Format::NHWC},
        {OpType::BinaryOp, "second", nullptr, {}, {}, {0, 2}, Shape{2, 3}, DataType::Float32, Format::NCHW},
        {OpType::BinaryOp, "third", nullptr, {}, {}, {3, 3}, Shape{2, 3}, DataType::Float32, Format::NCHW},
    };
    params->results = {1, 2};
    Command fused;
    fused.type = OpType::Fused;
    fused.inputs = {&a, &b};
    fused.outputs = {&sum, &result};
    fused.params = params;

    const FusedBody body(fused);
    const std::vector<Command>& steps = body.steps();
    ASSERT_EQ(steps.size(), 3u);
    EXPECT_EQ(steps[0].inputs, (std::vector<Operand*>{&b}));
    const Operand* inner = steps[0].outputs[0];
    EXPECT_TRUE(inner != &a && inner != &b && inner != &sum && inner != &result);
    EXPECT_TRUE(inner->shape == (Shape{2, 3}));
    EXPECT_EQ(inner->type, DataType::Int32);
    EXPECT_EQ(inner->format, Format::NHWC);
    EXPECT_EQ(inner->number, 0);
    EXPECT_EQ(steps[1].inputs, (std::vector<Operand*>{&a, steps[0].outputs[0]}));
    EXPECT_EQ(steps[1].outputs, (std::vector<Operand*>{&sum}));
    EXPECT_EQ(steps[2].inputs, (std::vector<Operand*>{&sum, &sum}));
    EXPECT_EQ(steps[2].outputs, (std::vector<Operand*>{&result}));
    EXPECT_EQ(steps[2].name, "third");
    EXPECT_STREQ(typeName(fused), "Example");
    EXPECT_STREQ(typeName(steps[0]), "UnaryOp");
}

TEST(FusedCommand, PatternsAreFoundByName) {
    const FusionPattern* const list[] = {&kPattern};
    EXPECT_EQ(findPattern(list, "Example"), &kPattern);
    EXPECT_EQ(findPattern(list, "Other"), nullptr);
    EXPECT_EQ(findPattern({}, "Example"), nullptr);
}

TEST(FusedCommand, AFileThatClaimsToHaveOneIsRefused) {
    NetBuilder s;
    wire::NetT net = s.finish({s.relu(s.input({1, 4, 3, 3}))});
    net.oplists.back()->type = static_cast<wire::OpType>(OpType::Fused);
    const std::vector<uint8_t> bytes = pack(net);
    try {
        const Interpreter interpreter(ModelBytes::copied(bytes.data(), bytes.size()), ModelOptions{});
        FAIL() << "the file was loaded";
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::BadParameter);
        EXPECT_NE(std::string(error.message()).find("operator number 65536 is the library's own"), std::string::npos)
            << error.message();
    }
}

}  // namespace
}  // namespace mnnc::test
