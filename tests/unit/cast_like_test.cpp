// CastLike uses the type of its second input, but not its elements.
#include <gtest/gtest.h>

#include <cmath>

#include "net_builder.h"

namespace mnnc::test {
namespace {

class Net : public NetBuilder {
  public:
    int integers(int x) {
        wire::CastParamT params;
        params.dstT = wire::DataType::DT_INT32;
        return add(wire::OpType::Cast, {x}, std::move(params));
    }
    int castLike(int x, int like) {
        const int id = tensor();
        net_.oplists.push_back(makeOp(wire::OpType::CastLike, "like", {x, like}, {id}));
        return id;
    }
};

// The results and the arena of a run that casts x to the type of a tensor with `elements` elements.
struct Ran {
    NetResult result;
    int64_t arena = 0;
};
Ran castLike(int elements) {
    Net net;
    const int like = net.unary(wire::UnaryOpOperation::TANH, net.input({elements}));
    const int x = net.unary(wire::UnaryOpOperation::TANH, net.input({64, 50}));
    const int scaled = net.binary(wire::BinaryOpOperation::MUL, x, net.scalar(100));
    const wire::NetT made = net.finish({net.castLike(net.integers(scaled), like)});
    const auto interpreter = open(made);
    return {runNet(made), Session(interpreter, {}).memory().arena};
}

TEST(CastLike, GivesFloatsOfIntegers) {
    const NetResult result = castLike(3).result;
    ASSERT_EQ(result.outputs[0].size(), 3200u);
    for (size_t i = 0; i < 3200; ++i) {
        const double x = 3 * std::sin(static_cast<float>(i * 7 + 11 + 1));  // like runNet fills input 1
        const double exact = 100 * std::tanh(x);
        ASSERT_NEAR(result.outputs[0][i], std::trunc(exact), std::fabs(exact - std::round(exact)) < 1e-3 ? 1 : 0) << i;
    }
}

// Only the type is used: the tensor's memory is reused before the cast.
TEST(CastLike, DoesNotHoldTheMemoryOfWhatItIsLike) {
    EXPECT_EQ(castLike(3000).arena, castLike(1).arena);
}

}  // namespace
}  // namespace mnnc::test
