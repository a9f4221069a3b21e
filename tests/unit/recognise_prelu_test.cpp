// PReLU as a comparison, a choice and a product: the forms that become one command, with the same results.
#include <gtest/gtest.h>

#include "quant_net.h"

namespace mnnc::test {
namespace {

class PReluNet : public QuantNet {
  public:
    int inputNhwc(std::vector<int32_t> dims) {
        const int id = NetBuilder::input(std::move(dims));
        net_.oplists.back()->main.AsInput()->dformat = wire::MNN_DATA_FORMAT::NHWC;
        return id;
    }
    int broadcast(int x, std::vector<int32_t> dims) {
        const int shape = tensor(), id = tensor(), rank = static_cast<int>(dims.size());
        net_.oplists.push_back(makeIntConst(shape, {rank}, std::move(dims)));
        net_.oplists.push_back(makeOp(wire::OpType::BroadcastTo, "op" + std::to_string(id), {x, shape}, {id}));
        return id;
    }
    int prelu(int x, int slopes, BinaryCode code = BinaryCode::LESS, float limit = 0, float other = 1) {
        const bool less = code == BinaryCode::LESS || code == BinaryCode::LESS_EQUAL;
        const int condition = binary(code, x, scalar(limit)), one = scalar(other);
        return binary(BinaryCode::MUL, x, less ? select(condition, slopes, one) : select(condition, one, slopes));
    }
};

template <typename Build>
void expect(const Build& build, bool recognised) {
    PReluNet n;
    const wire::NetT net = n.finish({build(n)});
    const NetResult one = runNet(net), several = runUnfused(net);
    EXPECT_EQ(one.count("PReLU"), recognised ? 1U : 0U);
    EXPECT_EQ(one.count("Select"), recognised ? 0U : 1U);
    EXPECT_EQ(several.count("Select"), 1U);
    EXPECT_EQ(one.outputs, several.outputs);
}

TEST(RecognisePRelu, EveryComparison) {
    for (const BinaryCode code :
         {BinaryCode::LESS, BinaryCode::LESS_EQUAL, BinaryCode::GREATER, BinaryCode::GREATER_EQUAL})
        expect(
            [&](PReluNet& n) {
                return n.prelu(n.NetBuilder::input({2, 5, 3, 4}), n.constant({5, 1, 1}), code);
            },
            true);
}

TEST(RecognisePRelu, ShapesOfSlopes) {
    const auto of = [](std::vector<int32_t> x, std::vector<int32_t> slopes) {
        return [=](PReluNet& n) { return n.prelu(n.NetBuilder::input(x), n.constant(slopes)); };
    };
    expect(of({2, 5, 3, 4}, {1, 5, 1, 1}), true);
    expect(of({2, 5, 3, 4}, {1}), true);
    expect(of({2, 5}, {5}), true);
    expect(of({3, 5, 7}, {5, 1}), true);
    expect(of({1, 1, 3, 4}, {1, 1, 1}), true);
    expect(of({2, 5, 3, 4}, {4}), false);  // along the last axis
    expect(of({2, 5, 3, 5}, {5}), false);
    expect(of({2, 5, 3, 4}, {3, 1}), false);
    expect(of({2, 5, 3, 4}, {2, 1, 1, 1}), false);
    expect(of({2, 5, 3, 4}, {5, 3, 1}), false);
}

// A slope for each element of an axis counts as a slope per channel only where that axis is the input's channel.
TEST(RecognisePRelu, SlopesOfAnotherAxis) {
    expect([](PReluNet& n) { return n.prelu(n.inputNhwc({1, 2, 3, 40}), n.constant({2, 1, 1})); }, false);
    expect([](PReluNet& n) { return n.prelu(n.inputNhwc({1, 40, 3, 2}), n.constant({40, 1, 1})); }, false);
    expect([](PReluNet& n) { return n.prelu(n.inputNhwc({1, 2, 3, 40}), n.constant({40})); }, true);
    expect(
        [](PReluNet& n) {
            return n.prelu(n.NetBuilder::input({1, 40, 3, 5}), n.broadcast(n.constant({3, 1}), {40, 3, 5}));
        },
        false);
    expect(
        [](PReluNet& n) {  // the product has its channels elsewhere
            const int x = n.inputNhwc({1, 40, 3, 2}), condition = n.binary(BinaryCode::LESS, x, n.scalar(0));
            return n.binary(BinaryCode::MUL, n.select(condition, n.constant({2}), n.scalar(1)), x);
        },
        false);
}

TEST(RecognisePRelu, OtherFormulas) {
    const auto x = [](PReluNet& n) { return n.NetBuilder::input({1, 5, 3, 4}); };
    expect([&](PReluNet& n) { return n.prelu(x(n), n.constant({5, 1, 1}), BinaryCode::LESS, 0.5f); }, false);
    expect([&](PReluNet& n) { return n.prelu(x(n), n.constant({5, 1, 1}), BinaryCode::LESS, 0, 2); }, false);
    expect(
        [&](PReluNet& n) {  // the slope is on the other side
            const int a = x(n), condition = n.binary(BinaryCode::GREATER, a, n.scalar(0));
            return n.binary(BinaryCode::MUL, a, n.select(condition, n.constant({5, 1, 1}), n.scalar(1)));
        },
        false);
    expect(
        [&](PReluNet& n) {  // another tensor is compared
            const int a = x(n), condition = n.binary(BinaryCode::LESS, x(n), n.scalar(0));
            return n.binary(BinaryCode::MUL, a, n.select(condition, n.constant({5, 1, 1}), n.scalar(1)));
        },
        false);
    expect(
        [&](PReluNet& n) {  // the slopes are known only in a run
            return n.prelu(x(n), n.NetBuilder::input({5, 1, 1}));
        },
        false);
}

TEST(RecognisePRelu, AConditionWithOtherReadersStays) {
    PReluNet n;
    const int x = n.NetBuilder::input({1, 5, 3, 4}), condition = n.binary(BinaryCode::LESS, x, n.scalar(0));
    const int y = n.binary(BinaryCode::MUL, x, n.select(condition, n.constant({5, 1, 1}), n.scalar(1)));
    const int z = n.select(condition, n.scalar(4), x);
    const wire::NetT net = n.finish({y, z});
    const NetResult one = runNet(net);
    EXPECT_EQ(one.count("PReLU"), 1U);
    EXPECT_EQ(one.count("Select"), 1U);
    EXPECT_EQ(one.outputs, runUnfused(net).outputs);
}

// Between convolutions of codes it computes over codes, and its result is rounded to the nearest one.
TEST(RecognisePRelu, OverCodes) {
    const auto run = [](bool watch) {
        PReluNet n;
        const int x = n.QuantNet::input(), a = n.conv(x), b = n.prelu(a, n.constant({kChannels, 1, 1})), c = n.conv(b);
        n.quant(x).quant(a, 0.04f, -3).quant(b, 0.03f, 5).quant(c, 0.05f);
        return runNet(n.finish(watch ? std::vector<int>{c, b} : std::vector<int>{c}));
    };
    const NetResult codes = run(false), floats = run(true);
    EXPECT_EQ(codes.types(), (Types{"FloatToInt8", "ConvInt8", "PReLU", "ConvInt8", "Int8ToFloat"}));
    EXPECT_EQ(codes.outputs[0], floats.outputs[0]);
}

}  // namespace
}  // namespace mnnc::test
