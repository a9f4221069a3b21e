// Attention that nets write with single operators runs as one command on the device, as on the CPU.
#include <cmath>

#include "device_nets.h"
#include "unit/attention_net.h"

namespace mnnc::vulkan::test {
namespace {

using mnnc::test::AttentionNet;
using mnnc::test::BinaryCode;

void expectAttention(const wire::NetT& net, const char* places = "Attention on vulkan") {
    for (const Precision precision : {Precision::Normal, Precision::Low}) {
        const double tolerance = precision == Precision::Low ? 2e-2 : 1e-5;
        const NetResult result = expectNetSameAsCpu(net, tolerance, [&](BackendConfig& c) { c.precision = precision; });
        EXPECT_EQ(placesOf(result), places);
    }
}

TEST(AttentionNets, HeadsStayWhereTheyLie) {
    constexpr int kBatch = 2, kRows = 9, kKeys = 40, kHeads = 3, kDepth = 5, kWidth = kHeads * kDepth;
    AttentionNet s;
    const int q = s.heads(s.input({kBatch, kRows, kWidth}), kBatch, kRows, kHeads, kDepth);
    const int k = s.heads(s.input({kBatch, kKeys, kWidth}), kBatch, kKeys, kHeads, kDepth);
    const int v = s.heads(s.input({kBatch, kKeys, kWidth}), kBatch, kKeys, kHeads, kDepth);
    int scores = s.matmul(q, s.permute(k, {0, 1, 3, 2}));
    scores = s.binary(BinaryCode::REALDIV, scores, s.scalar(std::sqrt(float(kDepth))));
    scores = s.plus(scores, s.input({kBatch, 1, 1, kKeys}));
    const int y = s.matmul(s.softmax(scores, -1), v);
    expectAttention(s.finish({s.joined(y, kBatch, kRows, kWidth)}));
}

TEST(AttentionNets, OneProductOfQueriesKeysAndValues) {
    constexpr int kRows = 7, kHeads = 2, kDepth = 4, kWidth = kHeads * kDepth;
    AttentionNet s;
    const std::vector<int> parts = s.split(s.input({1, kRows, 3 * kWidth}), 2, {kWidth, 2 * kWidth});
    std::vector<int> heads;
    for (const int part : parts) heads.push_back(s.heads(part, 1, kRows, kHeads, kDepth));
    const int scores = s.times(s.matmul(heads[0], heads[1], false, true), -0.5f);
    expectAttention(s.finish({s.joined(s.matmul(s.softmax(scores, 3), heads[2]), 1, kRows, kWidth)}));
}

TEST(AttentionNets, ConditionsKeepOrDropScores) {
    AttentionNet s;
    const int q = s.input({2, 6, 4}), k = s.input({2, 6, 4}), v = s.input({2, 6, 3});
    int scores = s.plus(s.matmul(q, k, false, true), s.constant({6, 6}));
    scores = s.select(s.causal({1, 6, 6}), scores, s.scalar(-1e4f));
    expectAttention(s.finish({s.matmul(s.softmax(scores, 2), v)}));
}

TEST(AttentionNets, WindowsHaveTwoMasks) {
    constexpr int kWindows = 4, kHeads = 3, kRows = 5, kDepth = 2;
    AttentionNet s;
    const int q = s.input({kWindows, kHeads, kRows, kDepth}), k = s.input({kWindows, kHeads, kRows, kDepth}),
              v = s.input({kWindows, kHeads, kRows, kDepth});
    int scores = s.plus(s.matmul(q, k, false, true), s.constant({1, kHeads, kRows, kRows}));
    scores = s.reshape(scores, {1, kWindows, kHeads, kRows, kRows});
    scores = s.plus(s.constant({1, kWindows, 1, kRows, kRows}), scores);
    scores = s.reshape(scores, {kWindows, kHeads, kRows, kRows});
    const int y = s.matmul(s.softmax(scores, 3), v);
    expectAttention(s.finish({s.joined(y, kWindows, kRows, kHeads * kDepth)}));
}

TEST(AttentionNets, KeysAndValuesInColumns) {
    AttentionNet s;
    const int q = s.input({6, 4}), k = s.input({4, 9}), v = s.input({3, 9});
    expectAttention(s.finish({s.matmul(s.softmax(s.matmul(q, k), 1), v, false, true)}));
}

// A device that refuses the command runs the single operators.
TEST(AttentionNets, ApartWhereTheDeviceHasTooFewBuffers) {
    AttentionNet s;
    const int q = s.input({2, 6, 4}), k = s.input({2, 6, 4}), v = s.input({2, 6, 3});
    const wire::NetT net = s.finish({s.matmul(s.softmax(s.matmul(q, k, false, true), 2), v)});
    const NetResult result = expectNetSameAsCpu(net, 1e-5, [](BackendConfig& c) { c.deviceLimits.storageBuffers = 4; });
    EXPECT_EQ(result.count("Attention"), 0u) << placesOf(result);
}

}  // namespace
}  // namespace mnnc::vulkan::test
