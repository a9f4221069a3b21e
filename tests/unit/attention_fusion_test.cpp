// Attention that nets write with single operators runs as one command, in the forms in which exporters write it, with
// numbers close to those of the operators and the same bits for any number of threads.
#include <gtest/gtest.h>

#include <cmath>

#include "net_builder.h"

namespace mnnc::test {
namespace {

using BinaryCode = wire::BinaryOpOperation;

class AttentionNet : public NetBuilder {
  public:
    // 1 where the column is not behind the row, as int32.
    int causal(std::vector<int32_t> dims) {
        std::vector<int32_t> values;
        const int columns = dims.back(), rows = dims[dims.size() - 2];
        for (int i = 0; i < rows; ++i)
            for (int j = 0; j < columns; ++j) values.push_back(j <= i ? 1 : 0);
        const int id = tensor();
        net_.oplists.push_back(makeIntConst(id, std::move(dims), std::move(values)));
        return id;
    }
    int times(int x, float factor) { return binary(BinaryCode::MUL, x, scalar(factor)); }
    int plus(int a, int b) { return binary(BinaryCode::ADD, a, b); }
    // [batch, rows, heads depth] as [batch, heads, rows, depth].
    int heads(int x, int batch, int rows, int heads, int depth) {
        return permute(reshape(x, {batch, rows, heads, depth}), {0, 2, 1, 3});
    }
    // The way back.
    int joined(int x, int batch, int rows, int channels) {
        return reshape(permute(x, {0, 2, 1, 3}), {batch, rows, channels});
    }
};

size_t count(const NetResult& result) {
    return result.count("Attention");
}

// Expects `attentions` commands of attention among `ops`.
void expectFused(const wire::NetT& net, size_t attentions, size_t ops) {
    const NetResult apart = runUnfused(net);
    EXPECT_EQ(count(apart), 0u);
    double flops[2] = {0, 0};
    for (const OpRecord& op : apart.ops) flops[0] += op.flops;
    std::vector<std::vector<float>> first;
    for (const int threads : {1, 3}) {
        SessionConfig config;
        config.backend.threads = threads;
        const NetResult together = runNet(net, config);
        EXPECT_EQ(count(together), attentions);
        EXPECT_EQ(together.ops.size(), ops) << testing::PrintToString(together.types());
        ASSERT_EQ(together.outputs.size(), apart.outputs.size());
        for (size_t o = 0; o < apart.outputs.size(); ++o) {
            ASSERT_EQ(together.outputs[o].size(), apart.outputs[o].size());
            for (size_t i = 0; i < apart.outputs[o].size(); ++i)
                ASSERT_NEAR(together.outputs[o][i], apart.outputs[o][i], 5e-6) << "element " << i;
        }
        flops[1] = 0;
        for (const OpRecord& op : together.ops) flops[1] += op.flops;
        EXPECT_DOUBLE_EQ(flops[0], flops[1]);
        if (first.empty()) first = together.outputs;
        EXPECT_EQ(together.outputs, first);
    }
}

// softmax(q k^T / sqrt(depth) + mask) v over heads, keys the transposition of their own heads.
TEST(AttentionFusion, HeadsStayWhereTheyLie) {
    for (const bool masked : {false, true}) {
        for (const int keys : {11, 300}) {
            SCOPED_TRACE(keys);
            constexpr int kBatch = 2, kRows = 9, kHeads = 3, kDepth = 5, kWidth = kHeads * kDepth;
            AttentionNet s;
            const int q = s.heads(s.input({kBatch, kRows, kWidth}), kBatch, kRows, kHeads, kDepth);
            const int k = s.heads(s.input({kBatch, keys, kWidth}), kBatch, keys, kHeads, kDepth);
            const int v = s.heads(s.input({kBatch, keys, kWidth}), kBatch, keys, kHeads, kDepth);
            int scores = s.matmul(q, s.permute(k, {0, 1, 3, 2}));
            scores = s.binary(BinaryCode::REALDIV, scores, s.scalar(std::sqrt(float(kDepth))));
            if (masked) scores = s.plus(scores, s.input({kBatch, 1, 1, keys}));
            const int y = s.matmul(s.softmax(scores, -1), v);
            expectFused(s.finish({s.joined(y, kBatch, kRows, kWidth)}), 1, 1);
        }
    }
}

TEST(AttentionFusion, OneProductOfQueriesKeysAndValues) {
    constexpr int kRows = 7, kHeads = 2, kDepth = 4, kWidth = kHeads * kDepth;
    AttentionNet s;
    const std::vector<int> parts = s.split(s.input({1, kRows, 3 * kWidth}), 2, {kWidth, 2 * kWidth});
    std::vector<int> heads;
    for (const int part : parts) heads.push_back(s.heads(part, 1, kRows, kHeads, kDepth));
    const int scores = s.times(s.matmul(heads[0], heads[1], false, true), -0.5f);
    const int y = s.matmul(s.softmax(scores, 3), heads[2]);
    expectFused(s.finish({s.joined(y, 1, kRows, kWidth)}), 1, 1);
}

TEST(AttentionFusion, ConditionsKeepOrDropScores) {
    for (const bool keeps : {true, false}) {
        for (const bool biased : {true, false}) {
            AttentionNet s;
            const int q = s.input({2, 6, 4}), k = s.input({2, 6, 4}), v = s.input({2, 6, 3});
            int scores = s.matmul(q, k, false, true);
            if (biased) scores = s.plus(scores, s.constant({6, 6}));
            // Broadcast to both heads by a Raster.
            const int visible = s.causal({1, 6, 6}), low = s.scalar(keeps ? -1e9f : -2);
            scores = keeps ? s.select(visible, scores, low) : s.select(visible, low, scores);
            expectFused(s.finish({s.matmul(s.softmax(scores, 2), v)}), 1, 1);
        }
    }
}

// A window's own mask is added between two reshapes.
TEST(AttentionFusion, WindowsHaveTwoMasks) {
    constexpr int kWindows = 4, kHeads = 3, kRows = 5, kDepth = 2;
    AttentionNet s;
    const int q = s.input({kWindows, kHeads, kRows, kDepth}), k = s.input({kWindows, kHeads, kRows, kDepth}),
              v = s.input({kWindows, kHeads, kRows, kDepth});
    int scores = s.plus(s.matmul(q, k, false, true), s.constant({1, kHeads, kRows, kRows}));
    scores = s.reshape(scores, {1, kWindows, kHeads, kRows, kRows});
    scores = s.plus(s.constant({1, kWindows, 1, kRows, kRows}), scores);
    scores = s.reshape(scores, {kWindows, kHeads, kRows, kRows});
    const int y = s.matmul(s.softmax(scores, 3), v);
    expectFused(s.finish({s.joined(y, kWindows, kRows, kHeads * kDepth)}), 1, 1);
}

TEST(AttentionFusion, OneHeadWithoutABatch) {
    AttentionNet s;
    const int q = s.input({6, 4}), k = s.input({4, 9}), v = s.input({3, 9});
    expectFused(s.finish({s.matmul(s.softmax(s.matmul(q, k), 1), v, false, true)}), 1, 1);
}

TEST(AttentionFusion, RowsWithoutAFiniteScoreAreZero) {
    AttentionNet s;
    const int q = s.input({2, 6, 4}), k = s.input({2, 6, 4}), v = s.input({2, 6, 3});
    const int none = s.scalar(-INFINITY);
    const int scores = s.select(s.causal({1, 6, 6}), none, s.matmul(q, k, false, true));
    const wire::NetT net = s.finish({s.matmul(s.softmax(scores, 2), v)});
    expectFused(net, 1, 1);
    const NetResult result = runNet(net);
    // The last row of each head sees nothing.
    for (const size_t head : {0, 1})
        for (size_t i = 15; i < 18; ++i) EXPECT_EQ(result.outputs[0][head * 18 + i], 0);
}

TEST(AttentionFusion, OtherUsesPreventIt) {
    const auto parts = [](AttentionNet& s) {
        return std::vector<int>{s.input({2, 6, 4}), s.input({2, 6, 4}), s.input({2, 6, 3})};
    };
    {  // the caller reads the weights
        AttentionNet s;
        const std::vector<int> p = parts(s);
        const int weights = s.softmax(s.matmul(p[0], p[1], false, true), 2);
        expectFused(s.finish({s.matmul(weights, p[2]), weights}), 0, 3);
    }
    {  // sums over queries
        AttentionNet s;
        const std::vector<int> p = parts(s);
        expectFused(s.finish({s.matmul(s.softmax(s.matmul(p[0], p[1], false, true), 1), p[2])}), 0, 3);
    }
    {  // the weights are the right side
        AttentionNet s;
        const std::vector<int> p = parts(s);
        const int v = s.input({2, 3, 6});
        expectFused(s.finish({s.matmul(v, s.softmax(s.matmul(p[0], p[1], false, true), 2))}), 0, 3);
    }
    {  // a factor behind a mask
        AttentionNet s;
        const std::vector<int> p = parts(s);
        const int scores = s.times(s.plus(s.matmul(p[0], p[1], false, true), s.constant({6, 6})), 2);
        expectFused(s.finish({s.matmul(s.softmax(scores, 2), p[2])}), 0, 5);
    }
    {  // a mask for each value of the batch widens the scores
        AttentionNet s;
        const int q = s.input({1, 6, 4}), k = s.input({1, 6, 4}), v = s.input({2, 6, 3});
        const int scores = s.plus(s.matmul(q, k, false, true), s.constant({2, 6, 6}));
        expectFused(s.finish({s.matmul(s.softmax(scores, 2), v)}), 0, 4);
    }
    {  // something between the weights and the values
        AttentionNet s;
        const std::vector<int> p = parts(s);
        const int weights = s.softmax(s.matmul(p[0], p[1], false, true), 2);
        expectFused(s.finish({s.matmul(s.relu(weights), p[2])}), 0, 4);
    }
}

}  // namespace
}  // namespace mnnc::test
