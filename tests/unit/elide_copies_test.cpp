// Concatenations whose inputs are written in place: the conditions, and the same numbers as with copies.
#include <gtest/gtest.h>

#include <algorithm>

#include "net_builder.h"

namespace mnnc::test {
namespace {

constexpr int kIn = 5, kHeight = 6, kWidth = 7;

struct Joined {
    NetBuilder steps;
    int x;
    explicit Joined(int batch = 1) : x(steps.input({batch, kIn, kHeight, kWidth})) {}
    int conv(int channels) { return steps.conv(x, kIn, channels, 1); }
};

// Expects an output to consist of parts with these channels, each equal to the result of a separate net.
void expectParts(const std::vector<float>& output, const std::vector<int>& channels, int batch = 1) {
    constexpr size_t kPlane = size_t{kHeight} * kWidth;
    size_t total = 0;
    for (const int c : channels) total += static_cast<size_t>(c);
    ASSERT_EQ(output.size(), static_cast<size_t>(batch) * total * kPlane);
    size_t before = 0;
    for (const int c : channels) {
        Joined alone(batch);
        const int y = alone.conv(c);
        const std::vector<float> part = runNet(alone.steps.finish({y})).outputs[0];
        const size_t size = static_cast<size_t>(c) * kPlane;
        for (size_t n = 0; n < static_cast<size_t>(batch); ++n)
            for (size_t i = 0; i < size; ++i) ASSERT_EQ(output[(n * total + before) * kPlane + i], part[n * size + i]);
        before += static_cast<size_t>(c);
    }
}

size_t copies(const NetResult& result) {
    const std::vector<std::string> types = result.types();
    return static_cast<size_t>(std::count(types.begin(), types.end(), "Raster"));
}

TEST(ElideCopies, WholeBlocksOfChannelsAreWrittenInPlace) {
    for (const std::vector<int>& channels : {std::vector<int>{16, 32}, {32, 16, 5}, {48, 1}}) {
        Joined net;
        std::vector<int32_t> parts;
        for (const int c : channels) parts.push_back(net.conv(c));
        const NetResult result = runNet(net.steps.finish({net.steps.concat(parts)}));
        EXPECT_EQ(copies(result), 0u);
        expectParts(result.outputs[0], channels);
    }
}

TEST(ElideCopies, PartialBlocksAndBatchesAreCopied) {
    for (const std::vector<int>& channels : {std::vector<int>{5, 16}, {16, 3, 16}}) {
        Joined net;
        std::vector<int32_t> parts;
        for (const int c : channels) parts.push_back(net.conv(c));
        const NetResult result = runNet(net.steps.finish({net.steps.concat(parts)}));
        EXPECT_EQ(copies(result), 1u);
        expectParts(result.outputs[0], channels);
    }
    Joined batch(2);
    const int a = batch.conv(16), b = batch.conv(32);
    const NetResult result = runNet(batch.steps.finish({batch.steps.concat({a, b})}));
    EXPECT_EQ(copies(result), 1u);
    expectParts(result.outputs[0], {16, 32}, 2);
}

TEST(ElideCopies, APartMayHaveOtherConsumers) {
    Joined net;
    const int a = net.conv(16), b = net.conv(32);
    const int sum = net.steps.binary(wire::BinaryOpOperation::ADD, a, a);
    const NetResult result = runNet(net.steps.finish({net.steps.concat({a, b}), a, sum}));
    EXPECT_EQ(copies(result), 0u);
    expectParts(result.outputs[0], {16, 32});
    expectParts(result.outputs[1], {16});
    for (size_t i = 0; i < result.outputs[2].size(); ++i) ASSERT_EQ(result.outputs[2][i], 2 * result.outputs[1][i]);
}

TEST(ElideCopies, ATensorIsPlacedInOneConcatenation) {
    Joined twice;
    const int a = twice.conv(16);
    const NetResult same = runNet(twice.steps.finish({twice.steps.concat({a, a})}));
    EXPECT_EQ(copies(same), 1u);
    expectParts(same.outputs[0], {16, 16});

    Joined swapped;
    const int b = swapped.conv(16), c = swapped.conv(32);
    const int first = swapped.steps.concat({b, c}), second = swapped.steps.concat({c, b});
    const NetResult both = runNet(swapped.steps.finish({first, second}));
    EXPECT_EQ(copies(both), 1u);
    expectParts(both.outputs[0], {16, 32});
    expectParts(both.outputs[1], {32, 16});
}

TEST(ElideCopies, GrowingConcatenationsShareStorage) {
    Joined net;
    const int a = net.conv(16), b = net.conv(32), ab = net.steps.concat({a, b});
    const int c = net.conv(16), abc = net.steps.concat({a, b, c});
    const int nested = net.steps.concat({ab, net.conv(64)});
    const NetResult result = runNet(net.steps.finish({ab, abc, nested}));
    expectParts(result.outputs[0], {16, 32});
    expectParts(result.outputs[1], {16, 32, 16});
    expectParts(result.outputs[2], {16, 32, 64});

    Joined dense;
    const int p = dense.conv(16), q = dense.conv(32);
    const int pq = dense.steps.concat({p, q});
    const int doubled = dense.steps.binary(wire::BinaryOpOperation::ADD, pq, pq);
    const int all = dense.steps.concat({p, q, dense.conv(48)});
    const NetResult grown = runNet(dense.steps.finish({doubled, all}));
    EXPECT_EQ(copies(grown), 0u);
    expectParts(grown.outputs[1], {16, 32, 48});
    for (size_t i = 0; i < grown.outputs[0].size(); ++i) ASSERT_EQ(grown.outputs[0][i], 2 * grown.outputs[1][i]);
}

TEST(ElideCopies, AConcatenationMayBeNested) {
    Joined net;
    const int inner = net.steps.concat({net.conv(16), net.conv(32)});
    const int outer = net.steps.concat({inner, net.conv(16)});
    const NetResult result = runNet(net.steps.finish({outer, inner}));
    EXPECT_EQ(copies(result), 0u);
    expectParts(result.outputs[0], {16, 32, 16});
    expectParts(result.outputs[1], {16, 32});
}

TEST(ElideCopies, AnInputOfTheNetIsCopied) {
    NetBuilder steps;
    const int x = steps.input({1, 16, kHeight, kWidth});
    const int y = steps.relu(x);
    const NetResult result = runNet(steps.finish({steps.concat({x, y}), y}));
    EXPECT_EQ(copies(result), 1u);
    const size_t half = result.outputs[1].size();
    for (size_t i = 0; i < half; ++i) {
        ASSERT_EQ(std::max(result.outputs[0][i], 0.0f), result.outputs[1][i]);
        ASSERT_EQ(result.outputs[0][half + i], result.outputs[1][i]);
    }
}

TEST(ElideCopies, AResizeMayEndIt) {
    const wire::NetT net = [] {
        Joined joined;
        const int a = joined.conv(16), b = joined.conv(32);
        return joined.steps.finish({joined.steps.concat({a, b})});
    }();
    const auto interpreter = open(net);
    Session session(interpreter, {});
    for (const int batch : {1, 3, 1}) {
        session.resizeInput(0, Shape{batch, kIn, kHeight, kWidth});
        session.resize();
        session.run();
        EXPECT_EQ(copies({{}, session.records()}), batch == 1 ? 0u : 1u);
    }
}

}  // namespace
}  // namespace mnnc::test
