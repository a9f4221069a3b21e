// The forms in which exporters write attention run as one command each: factors, repeated keys, maps, masks of any
// order.
#include "attention_net.h"

namespace mnnc::test {
namespace {

// The exported form of scaled_dot_product_attention: the root of the scale is a factor of both operands.
TEST(AttentionForms, FactorsOfQueriesAndKeys) {
    constexpr int kRows = 7, kHeads = 2, kDepth = 4, kWidth = kHeads * kDepth;
    AttentionNet s;
    const std::vector<int> parts = s.split(s.input({1, kRows, 3 * kWidth}), 2, {kWidth, 2 * kWidth});
    const int q = s.times(s.heads(parts[0], 1, kRows, kHeads, kDepth), 0.5f);
    const int k = s.permute(s.heads(parts[1], 1, kRows, kHeads, kDepth), {0, 1, 3, 2});
    const int divided = s.binary(BinaryCode::REALDIV, k, s.scalar(-2));
    const int v = s.heads(parts[2], 1, kRows, kHeads, kDepth);
    const int y = s.matmul(s.softmax(s.matmul(q, divided), -1), v);
    expectFused(s.finish({s.joined(y, 1, kRows, kWidth)}), 1, 1);
}

// The converters' form of parts of a packed tensor: their numbers are computed from constants.
TEST(AttentionForms, PartsOfOneTensorByGather) {
    constexpr int kBatch = 2, kRows = 7, kHeads = 3, kDepth = 4;
    AttentionNet s;
    const int packed = s.permute(
        s.reshape(s.input({kBatch, kRows, 3 * kHeads * kDepth}), {kBatch, kRows, 3, kHeads, kDepth}), {2, 0, 3, 1, 4});
    const int scores = s.matmul(s.gathered(packed, 0), s.gathered(packed, 1), false, true);
    const int y = s.matmul(s.softmax(scores, -1), s.gathered(packed, 2));
    expectFused(s.finish({s.joined(y, kBatch, kRows, kHeads * kDepth)}), 1, 1);
}

// Keys and values of two heads are repeated for six.
TEST(AttentionForms, GroupsOfHeadsShareKeysAndValues) {
    for (const bool interleaved : {true, false}) {
        constexpr int kBatch = 2, kRows = 5, kKeys = 9, kHeads = 6, kOwn = 2, kDepth = 4;
        AttentionNet s;
        const auto repeated = [&](int x) {
            x = s.heads(x, kBatch, kKeys, kOwn, kDepth);
            x = interleaved ? s.broadcast(s.reshape(x, {kBatch, kOwn, 1, kKeys, kDepth}),
                                          {kBatch, kOwn, kHeads / kOwn, kKeys, kDepth})
                            : s.broadcast(s.reshape(x, {kBatch, 1, kOwn, kKeys, kDepth}),
                                          {kBatch, kHeads / kOwn, kOwn, kKeys, kDepth});
            return s.reshape(x, {kBatch, kHeads, kKeys, kDepth});
        };
        const int q = s.heads(s.input({kBatch, kRows, kHeads * kDepth}), kBatch, kRows, kHeads, kDepth);
        const int k = repeated(s.input({kBatch, kKeys, kOwn * kDepth}));
        const int v = repeated(s.input({kBatch, kKeys, kOwn * kDepth}));
        const int y = s.matmul(s.softmax(s.matmul(q, s.permute(k, {0, 1, 3, 2})), -1), v);
        expectFused(s.finish({s.joined(y, kBatch, kRows, kHeads * kDepth)}), 1, 1);
    }
}

// Maps with their pixels in rows: queries are transposed, and so is the result, since the weights are the right
// operand.
TEST(AttentionForms, ChannelsFirst) {
    for (const int pixels : {15, 300}) {
        SCOPED_TRACE(pixels);
        constexpr int kBatch = 2, kHeads = 3, kDepth = 5;
        for (const bool right : {true, false}) {
            AttentionNet s;
            const int maps = s.input({kBatch, 3 * kHeads * kDepth, pixels});
            std::vector<int> parts = s.split(maps, 1, {kHeads * kDepth, 2 * kHeads * kDepth});
            for (int& part : parts) part = s.reshape(part, {kBatch, kHeads, kDepth, pixels});
            const int scores = s.times(s.matmul(parts[0], parts[1], true, false), 0.25f);
            const int weights = s.softmax(scores, 3);
            const int y = right ? s.matmul(parts[2], weights, false, true)
                                : s.permute(s.matmul(weights, parts[2], false, true), {0, 1, 3, 2});
            expectFused(s.finish({s.reshape(y, {kBatch, kHeads * kDepth, pixels})}), 1, 1);
        }
    }
}

// Softmax over the rows of k q^T.
TEST(AttentionForms, KeysInRows) {
    for (const bool right : {true, false}) {
        AttentionNet s;
        const int q = s.input({2, 6, 4}), k = s.input({2, 9, 4}), v = s.input({2, 9, 3});
        int scores = s.plus(s.matmul(k, q, false, true), s.constant({1, 9, 6}));
        scores = s.plus(scores, s.constant({2, 9, 1}));
        const int weights = s.softmax(scores, 1);
        const int y = right ? s.matmul(v, weights, true, false) : s.matmul(weights, v, true, false);
        expectFused(s.finish({y}), 1, 1);
    }
}

// Factors, sums and conditions in any order, including one factor for each head.
TEST(AttentionForms, StepsInAnyOrder) {
    AttentionNet s;
    const int q = s.input({2, 3, 6, 4}), k = s.input({2, 3, 6, 4}), v = s.input({2, 3, 6, 2});
    int scores = s.plus(s.matmul(q, k, false, true), s.constant({1, 3, 1, 6}));
    scores = s.times(scores, 0.5f);
    scores = s.binary(BinaryCode::MUL, scores, s.input({3, 1, 1}));
    scores = s.select(s.causal({1, 1, 6, 6}), scores, s.scalar(-8));
    scores = s.plus(scores, s.constant({2, 1, 1, 6}));
    scores = s.select(s.causal({6, 6}), scores, s.scalar(-1e9f));
    scores = s.times(scores, 0.25f);
    expectFused(s.finish({s.matmul(s.softmax(scores, -1), v)}), 1, 1);
}

// Positions of keys along two axes of a map: the term that is added to a row repeats, or each of its numbers does; or
// the sum of both terms is computed first.
TEST(AttentionForms, PlacesAlongTwoAxes) {
    for (const bool summed : {false, true}) {
        constexpr int kHeads = 2, kHigh = 13, kWide = 21, kRows = kHigh * kWide;  // a block ends in a run
        AttentionNet s;
        const int q = s.input({kHeads, kRows, 4}), k = s.input({kHeads, kRows, 4}), v = s.input({kHeads, kRows, 3});
        const std::vector<int32_t> split = {kHeads, kHigh, kWide, kHigh, kWide};
        const int rows = s.input({kHeads, kHigh, kWide, kHigh, 1}), columns = s.input({kHeads, kHigh, kWide, 1, kWide});
        int scores = s.matmul(q, k, false, true);
        if (summed)
            scores = s.plus(scores, s.reshape(s.plus(rows, columns), {kHeads, kRows, kRows}));
        else
            scores = s.reshape(s.plus(s.plus(s.reshape(scores, split), rows), columns), {kHeads, kRows, kRows});
        expectFused(s.finish({s.matmul(s.softmax(scores, 2), v)}), 1, 1);
    }
}

// Images, windows and heads are separate axes of the scores until the softmax, so each mask repeats along the other
// axes.
TEST(AttentionForms, MasksThatRepeat) {
    constexpr int kImages = 2, kWindows = 3, kHeads = 2, kRows = 5, kDepth = 4;
    constexpr int kAll = kImages * kWindows * kHeads;
    AttentionNet s;
    const int q = s.input({kAll, kRows, kDepth}), k = s.input({kAll, kRows, kDepth}),
              v = s.input({kAll, kRows, kDepth});
    int scores = s.reshape(s.matmul(q, k, false, true), {kImages, kWindows, kHeads, kRows, kRows});
    scores = s.plus(scores, s.constant({1, kWindows, 1, kRows, kRows}));
    scores = s.plus(scores, s.constant({1, 1, kHeads, kRows, kRows}));
    const int weights = s.reshape(s.softmax(scores, 4), {kAll, kRows, kRows});
    expectFused(s.finish({s.matmul(weights, v)}), 1, 1);
}

// One attention reads the result of another.
TEST(AttentionForms, OneBehindTheOther) {
    AttentionNet s;
    const int k = s.input({2, 6, 4}), v = s.input({2, 6, 4});
    const int first = s.matmul(s.softmax(s.matmul(s.input({2, 6, 4}), k, false, true), 2), v);
    const int moved = s.permute(first, {0, 2, 1});
    expectFused(s.finish({s.matmul(s.softmax(s.matmul(moved, k, true, true), 2), v)}), 2, 2);
}

}  // namespace
}  // namespace mnnc::test
