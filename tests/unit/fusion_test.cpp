// What follows a product is computed in its epilogue, with the numbers of the separate operators.
#include "rewrite/fusion.h"

#include <gtest/gtest.h>

#include <cmath>

#include "model_builder.h"
#include "session/session.h"
#include "tensor/host_copy.h"

namespace mnnc::testing {
namespace {

using BinaryCode = wire::BinaryOpOperation;
using UnaryCode = wire::UnaryOpOperation;

// A net under construction: every step appends an operator and gives its output.
class Steps {
  public:
    int input(std::vector<int32_t> dims) {
        const int id = tensor();
        net_.oplists.push_back(makeInput(id, std::move(dims)));
        return id;
    }
    int scalar(float value) {
        const int id = tensor();
        net_.oplists.push_back(makeConst(id, {}, {value}));
        return id;
    }
    int conv(int x, int inputs, int outputs, int kernel, bool relu = false) {
        wire::Convolution2DT conv =
            makeConv(inputs, outputs, static_cast<size_t>(inputs * outputs * kernel * kernel));
        conv.common->kernelX = conv.common->kernelY = kernel;
        conv.common->pads = {kernel / 2, kernel / 2, kernel / 2, kernel / 2};
        conv.common->relu = relu;
        for (size_t i = 0; i < conv.weight.size(); ++i)
            conv.weight[i] = std::sin(static_cast<float>(i + 1)) / 3;
        for (size_t i = 0; i < conv.bias.size(); ++i) conv.bias[i] = std::cos(static_cast<float>(i)) * 2;
        return add(wire::OpType::Convolution, {x}, std::move(conv));
    }
    int depthwise(int x, int channels) {
        wire::Convolution2DT conv = makeConv(channels, channels, static_cast<size_t>(channels * 9));
        conv.common->kernelX = conv.common->kernelY = 3;
        conv.common->pads = {1, 1, 1, 1};
        conv.common->group = channels;
        for (size_t i = 0; i < conv.weight.size(); ++i) conv.weight[i] = std::sin(static_cast<float>(i + 1));
        return add(wire::OpType::ConvolutionDepthwise, {x}, std::move(conv));
    }
    int scale(int x, int channels) {
        wire::ScaleT scale;
        scale.channels = channels;
        for (int i = 0; i < channels; ++i) {
            scale.scaleData.push_back(1 + std::sin(static_cast<float>(i)));
            scale.biasData.push_back(std::cos(static_cast<float>(i)));
        }
        return add(wire::OpType::Scale, {x}, std::move(scale));
    }
    int binary(BinaryCode code, int a, int b, bool relu = false) {
        wire::BinaryOpT op;
        op.opType = code;
        op.activationType = relu ? 1 : 0;
        return add(wire::OpType::BinaryOp, {a, b}, std::move(op));
    }
    int unary(UnaryCode code, int x) {
        wire::UnaryOpT op;
        op.opType = code;
        return add(wire::OpType::UnaryOp, {x}, std::move(op));
    }
    int relu(int x, float slope = 0) {
        wire::ReluT op;
        op.slope = slope;
        return add(wire::OpType::ReLU, {x}, std::move(op));
    }
    int clip(int x, float lo, float hi) {
        wire::Relu6T op;
        op.minValue = lo;
        op.maxValue = hi;
        return add(wire::OpType::ReLU6, {x}, std::move(op));
    }
    wire::NetT finish(const std::vector<int>& outputs) {
        for (const int id : outputs) net_.outputName.push_back(net_.tensorName[static_cast<size_t>(id)]);
        return std::move(net_);
    }

  private:
    int tensor() {
        net_.tensorName.push_back("t" + std::to_string(net_.tensorName.size()));
        return static_cast<int>(net_.tensorName.size()) - 1;
    }
    template <typename Table>
    int add(wire::OpType type, std::vector<int32_t> inputs, Table table) {
        const int id = tensor();
        net_.oplists.push_back(
            makeOp(type, "op" + std::to_string(id), std::move(inputs), {id}, std::move(table)));
        return id;
    }
    wire::NetT net_;
};

struct Result {
    std::vector<std::vector<float>> outputs;
    std::vector<OpRecord> ops;
};

// `apart`: every tensor is an output, so nothing can be fused.
Result run(const wire::NetT& net, bool apart, int threads = 1) {
    const std::vector<uint8_t> bytes = pack(net);
    const auto interpreter =
        std::make_shared<const Interpreter>(ModelBytes::copied(bytes.data(), bytes.size()), ModelOptions{});
    SessionConfig config;
    config.backend.threads = threads;
    if (apart)
        for (const auto& op : net.oplists)
            if (op->type != wire::OpType::Const && op->type != wire::OpType::Input)
                config.saveTensors.push_back(net.tensorName[static_cast<size_t>(op->outputIndexes[0])]);
    Session session(interpreter, config);
    for (size_t input = 0; input < session.inputCount(); ++input) {
        std::vector<float> values(static_cast<size_t>(session.input(input).elements()));
        for (size_t i = 0; i < values.size(); ++i)
            values[i] = 3 * std::sin(static_cast<float>(i * 7 + 11 * input + 1));
        copyFromHost(session.input(input), values.data(), Format::NCHW);
    }
    session.run();
    Result result;
    for (size_t i = 0; i < net.outputName.size(); ++i) {
        result.outputs.emplace_back(static_cast<size_t>(session.output(i).elements()));
        copyToHost(session.output(i), result.outputs.back().data(), Format::NCHW);
    }
    result.ops = session.records();
    return result;
}

// Runs as `ops` operators; the algorithm of the one at `index` ends with `text`.
void expectFused(const wire::NetT& net, size_t ops, const std::string& text, size_t index = SIZE_MAX) {
    const Result apart = run(net, true);
    for (const int threads : {1, 2}) {
        const Result fused = run(net, false, threads);
        ASSERT_EQ(fused.ops.size(), ops);
        const std::string algorithm = fused.ops[index == SIZE_MAX ? ops - 1 : index].algorithm;
        EXPECT_TRUE(algorithm.size() >= text.size() && algorithm.ends_with(text)) << algorithm;
        ASSERT_EQ(fused.outputs.size(), apart.outputs.size());
        for (size_t i = 0; i < fused.outputs.size(); ++i)
            for (size_t k = 0; k < fused.outputs[i].size(); ++k)
                ASSERT_NEAR(fused.outputs[i][k], apart.outputs[i][k],
                            1e-5f * std::max(1.0f, std::fabs(apart.outputs[i][k])))
                    << text << " at " << k;
    }
    double flops[2] = {0, 0};
    for (const OpRecord& op : apart.ops) flops[0] += op.flops;
    for (const OpRecord& op : run(net, false).ops) flops[1] += op.flops;
    EXPECT_DOUBLE_EQ(flops[0], flops[1]);
}

const std::vector<int32_t> kDims = {2, 5, 7, 6};
constexpr int kIn = 5;

// What is put behind a product, and how it shows.
struct Tail {
    std::function<int(Steps&, int)> build;
    std::string text;
};
std::vector<Tail> tails() {
    const auto u = [](UnaryCode code) { return [code](Steps& s, int x) { return s.unary(code, x); }; };
    return {
        {u(UnaryCode::SIGMOID), " +sigmoid"},
        {u(UnaryCode::TANH), " +tanh"},
        {u(UnaryCode::HARDSWISH), " +hardswish"},
        {u(UnaryCode::GELU_STANDARD), " +gelu"},
        {u(UnaryCode::SILU), " +silu"},
        {[](Steps& s, int x) { return s.relu(x); }, " +clip"},
        {[](Steps& s, int x) { return s.clip(x, -1, 2); }, " +clip"},
        {[](Steps& s, int x) { return s.clip(s.relu(x), -1, 2); }, " +clip"},
        {[](Steps& s, int x) { return s.clip(s.clip(x, 3, 4), -1, 2); }, " +clip"},
        {[](Steps& s, int x) { return s.clip(s.unary(UnaryCode::TANH, x), -0.5f, 0.25f); }, " +tanh +clip"},
        {[](Steps& s, int x) { return s.binary(BinaryCode::MUL, s.unary(UnaryCode::SIGMOID, x), x); },
         " +silu"},
        // hard swish as exporters write it
        {[](Steps& s, int x) {
             const int clipped = s.clip(s.binary(BinaryCode::ADD, x, s.scalar(3)), 0, 6);
             return s.binary(BinaryCode::REALDIV, s.binary(BinaryCode::MUL, x, clipped), s.scalar(6));
         },
         " +hardswish"},
        {[](Steps& s, int x) {
             const int clipped = s.clip(s.binary(BinaryCode::ADD, s.scalar(3), x), 0, 6);
             return s.binary(BinaryCode::MUL, s.binary(BinaryCode::MUL, clipped, s.scalar(1 / 6.0f)), x);
         },
         " +hardswish"},
        {[](Steps& s, int x) {
             const int line =
                 s.binary(BinaryCode::ADD, s.binary(BinaryCode::MUL, x, s.scalar(1 / 6.0f)), s.scalar(0.5f));
             return s.binary(BinaryCode::MUL, x, s.clip(line, 0, 1));
         },
         " +hardswish"},
        // and without the product
        {[](Steps& s, int x) {
             const int line =
                 s.binary(BinaryCode::SUB, s.binary(BinaryCode::REALDIV, x, s.scalar(6)), s.scalar(-0.5f));
             return s.clip(line, 0, 1);
         },
         " +hardsigmoid"},
        {[](Steps& s, int x) {
             const int clipped = s.clip(s.binary(BinaryCode::ADD, x, s.scalar(3)), 0, 6);
             return s.binary(BinaryCode::REALDIV, clipped, s.scalar(6));
         },
         " +hardsigmoid"},
    };
}

TEST(Fusion, TakesActivationsIntoConvolutions) {
    for (const Tail& tail : tails())
        for (const int kernel : {1, 3}) {
            Steps s;
            const int x = s.conv(s.input(kDims), kIn, 19, kernel);
            const int y = tail.build(s, x);
            expectFused(s.finish({y}), 1, tail.text);
        }
}

TEST(Fusion, TakesActivationsIntoDepthwiseConvolutions) {
    for (const Tail& tail : tails()) {
        Steps s;
        const int x = s.depthwise(s.input(kDims), kIn);
        const int y = tail.build(s, x);
        expectFused(s.finish({y}), 1, tail.text);
    }
}

TEST(Fusion, TakesActivationsIntoScales) {
    for (const Tail& tail : tails()) {
        Steps s;
        const int x = s.scale(s.conv(s.input(kDims), kIn, 19, 3), 19);
        const int y = tail.build(s, x);
        expectFused(s.finish({y}), 2, tail.text);
    }
}

TEST(Fusion, AddsBeforeItActivates) {
    for (const bool second : {false, true}) {
        Steps s;
        const int x = s.input(kDims);
        const int a = s.conv(x, kIn, 19, 3), b = s.conv(x, kIn, 19, 1);
        const int sum = second ? s.binary(BinaryCode::ADD, a, b) : s.binary(BinaryCode::ADD, b, a);
        expectFused(s.finish({s.unary(UnaryCode::SILU, sum)}), 2, " +add +silu");
    }
    for (const bool relu : {false, true}) {
        Steps s;
        const int x = s.input(kDims);
        const int y = s.binary(BinaryCode::ADD, s.conv(x, kIn, kIn, 3), x, relu);
        expectFused(s.finish({y}), 1, relu ? " +add +clip" : " +add");
    }
}

TEST(Fusion, LeavesWhatOthersNeed) {
    {  // an output
        Steps s;
        const int x = s.conv(s.input(kDims), kIn, 19, 3);
        const int y = s.relu(x);
        expectFused(s.finish({x, y}), 2, "");
    }
    {  // two readers
        Steps s;
        const int x = s.conv(s.input(kDims), kIn, 19, 3);
        const int a = s.unary(UnaryCode::TANH, x), b = s.unary(UnaryCode::SIGMOID, x);
        expectFused(s.finish({a, b}), 3, "");
    }
    {  // part of a hard swish is an output
        Steps s;
        const int x = s.conv(s.input(kDims), kIn, 19, 3);
        const int clipped = s.clip(s.binary(BinaryCode::ADD, x, s.scalar(3)), 0, 6);
        const int y = s.binary(BinaryCode::REALDIV, s.binary(BinaryCode::MUL, x, clipped), s.scalar(6));
        expectFused(s.finish({clipped, y}), 5, "");
    }
    {  // x + x
        Steps s;
        const int x = s.conv(s.input(kDims), kIn, 19, 3);
        expectFused(s.finish({s.binary(BinaryCode::ADD, x, x)}), 2, "");
    }
}

TEST(Fusion, LeavesWhatIsSomethingElse) {
    const std::vector<std::function<int(Steps&, int)>> others = {
        [](Steps& s, int x) { return s.relu(x, 0.1f); },
        [](Steps& s, int x) { return s.unary(UnaryCode::EXP, x); },
        [](Steps& s, int x) { return s.binary(BinaryCode::MUL, x, s.scalar(2)); },
        [](Steps& s, int x) { return s.binary(BinaryCode::ADD, x, s.scalar(2)); },
    };
    for (const auto& other : others) {
        Steps s;
        const int x = s.conv(s.input(kDims), kIn, 19, 3);
        expectFused(s.finish({other(s, x)}), 2, "");
    }
    {  // another constant: no hard swish
        Steps s;
        const int x = s.conv(s.input(kDims), kIn, 19, 3);
        const int clipped = s.clip(s.binary(BinaryCode::ADD, x, s.scalar(3)), 0, 6);
        const int y = s.binary(BinaryCode::REALDIV, s.binary(BinaryCode::MUL, x, clipped), s.scalar(5));
        expectFused(s.finish({y}), 5, "");
    }
    {  // the file's own clamp comes first
        Steps s;
        const int x = s.conv(s.input(kDims), kIn, 19, 3, true);
        expectFused(s.finish({s.unary(UnaryCode::TANH, x)}), 2, "");
    }
    {  // an activation, then a sum
        Steps s;
        const int x = s.input(kDims);
        const int y = s.binary(BinaryCode::ADD, s.unary(UnaryCode::TANH, s.conv(x, kIn, kIn, 3)), x);
        expectFused(s.finish({y}), 2, " +tanh", 0);
    }
    {  // a sum that is broadcast
        Steps s;
        const int x = s.input(kDims), one = s.input({1, kIn, 1, 1});
        const int y = s.binary(BinaryCode::ADD, s.conv(x, kIn, kIn, 3), one);
        expectFused(s.finish({y}), 2, "");
    }
}

}  // namespace
}  // namespace mnnc::testing
