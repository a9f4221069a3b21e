// Attention that nets write with single operators runs as one command; conditions that prevent it.
#include <cmath>

#include "attention_net.h"

namespace mnnc::test {
namespace {

// softmax(q k^T / sqrt(depth) + mask) v over heads; the keys are transposed inside of their heads.
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

// A window has a second mask, which is added between two reshapes.
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
    // The last row of each head sees no key.
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
    {  // the softmax is over queries
        AttentionNet s;
        const std::vector<int> p = parts(s);
        expectFused(s.finish({s.matmul(s.softmax(s.matmul(p[0], p[1], false, true), 1), p[2])}), 0, 3);
    }
    {  // the weights are the right operand
        AttentionNet s;
        const std::vector<int> p = parts(s);
        const int v = s.input({2, 3, 6});
        expectFused(s.finish({s.matmul(v, s.softmax(s.matmul(p[0], p[1], false, true), 2))}), 0, 3);
    }
    {  // a factor for each score
        AttentionNet s;
        const std::vector<int> p = parts(s);
        const int scores = s.binary(BinaryCode::MUL, s.matmul(p[0], p[1], false, true), s.constant({1, 6, 6}));
        expectFused(s.finish({s.matmul(s.softmax(scores, 2), p[2])}), 0, 4);
    }
    {  // the caller reads scaled queries: the factor is not moved
        AttentionNet s;
        const std::vector<int> p = parts(s);
        const int q = s.times(p[0], 0.5f);
        expectFused(s.finish({s.matmul(s.softmax(s.matmul(q, p[1], false, true), 2), p[2]), q}), 1, 2);
    }
    {  // a mask for each value of the batch widens the scores
        AttentionNet s;
        const int q = s.input({1, 6, 4}), k = s.input({1, 6, 4}), v = s.input({2, 6, 3});
        const int scores = s.plus(s.matmul(q, k, false, true), s.constant({2, 6, 6}));
        expectFused(s.finish({s.matmul(s.softmax(scores, 2), v)}), 0, 4);
    }
    {  // few keys of many channels
        AttentionNet s;
        const int q = s.input({6, 513}), k = s.input({6, 513}), v = s.input({6, 3});
        const int scores = s.times(s.matmul(q, k, false, true), 0.001f);
        expectFused(s.finish({s.matmul(s.softmax(scores, 1), v)}), 0, 4);
    }
    {  // there is an operator between the weights and the values
        AttentionNet s;
        const std::vector<int> p = parts(s);
        const int weights = s.softmax(s.matmul(p[0], p[1], false, true), 2);
        expectFused(s.finish({s.matmul(s.relu(weights), p[2])}), 0, 4);
    }
}

}  // namespace
}  // namespace mnnc::test
