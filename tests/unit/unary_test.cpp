// The operator types that are one function each, against the C library's functions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "net_builder.h"

namespace mnnc::test {
namespace {

class Net : public NetBuilder {
  public:
    int function(wire::OpType type, int x) {
        const int y = tensor();
        net_.oplists.push_back(makeOp(type, "op" + std::to_string(y), {x}, {y}));
        return y;
    }
};

TEST(Unary, TypesComputeTheirFunctions) {
    const struct {
        wire::OpType type;
        double (*function)(double);
    } kTypes[] = {
        {wire::OpType::Sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }},
        {wire::OpType::TanH, [](double x) { return std::tanh(x); }},
        {wire::OpType::AbsVal, [](double x) { return std::fabs(x); }},
        {wire::OpType::Bnll, [](double x) { return std::log1p(std::exp(x)); }},
        {wire::OpType::Exp, [](double x) { return std::exp(x); }},
        {wire::OpType::Log, [](double x) { return std::log(x); }},
    };
    for (const auto& [type, function] : kTypes) {
        Net net;
        const int image = net.input({1, 5, 4, 3});
        const bool positive = type == wire::OpType::Log;
        const int x = positive ? net.binary(wire::BinaryOpOperation::MUL, image, image) : image;
        const NetResult result = runNet(net.finish({net.function(type, x)}));
        ASSERT_EQ(result.outputs[0].size(), 60u);
        for (size_t i = 0; i < result.outputs[0].size(); ++i) {
            const double given = 3 * std::sin(static_cast<float>(i * 7 + 1));  // like runNet fills inputs
            const double wanted = function(positive ? given * given : given);
            ASSERT_NEAR(result.outputs[0][i], wanted, 1e-5 * std::max(1.0, std::fabs(wanted)))
                << wire::EnumNameOpType(type) << " of " << given;
        }
    }
}

}  // namespace
}  // namespace mnnc::test
