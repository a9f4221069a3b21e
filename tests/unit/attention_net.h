// Nets with attention written with single operators, and the checks of their results.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "net_builder.h"

namespace mnnc::test {

class AttentionNet : public NetBuilder {
  public:
    // Returns 1 where the column is not behind the row, as int32.
    int causal(std::vector<int32_t> dims) {
        std::vector<int32_t> values;
        const int columns = dims.back(), rows = dims[dims.size() - 2];
        for (int i = 0; i < rows; ++i)
            for (int j = 0; j < columns; ++j) values.push_back(j <= i ? 1 : 0);
        const int id = tensor();
        net_.oplists.push_back(makeIntConst(id, std::move(dims), std::move(values)));
        return id;
    }
    int broadcast(int x, std::vector<int32_t> dims) {
        const int shape = tensor(), id = tensor();
        net_.oplists.push_back(makeIntConst(shape, {static_cast<int32_t>(dims.size())}, dims));
        net_.oplists.push_back(makeOp(wire::OpType::BroadcastTo, "op" + std::to_string(id), {x, shape}, {id}));
        return id;
    }
    // Returns part `index` of the first axis; the number of the part is a sum of two constants.
    int gathered(int x, int index) {
        const int one = tensor(), rest = tensor(), id = tensor();
        net_.oplists.push_back(makeIntConst(one, {}, {1}));
        net_.oplists.push_back(makeIntConst(rest, {}, {index - 1}));
        const int sum = binary(BinaryCode::ADD, one, rest);
        net_.oplists.push_back(makeOp(wire::OpType::GatherV2, "op" + std::to_string(id), {x, sum}, {id}));
        return id;
    }
    int times(int x, float factor) { return binary(BinaryCode::MUL, x, scalar(factor)); }
    int plus(int a, int b) { return binary(BinaryCode::ADD, a, b); }
    // Reshapes [batch, rows, heads depth] to [batch, heads, rows, depth].
    int heads(int x, int batch, int rows, int heads, int depth) {
        return permute(reshape(x, {batch, rows, heads, depth}), {0, 2, 1, 3});
    }
    // Does the opposite of heads().
    int joined(int x, int batch, int rows, int channels) {
        return reshape(permute(x, {0, 2, 1, 3}), {batch, rows, channels});
    }
};

inline size_t count(const NetResult& result) {
    return result.count("Attention");
}

// Expects `attentions` commands of attention among `ops`, numbers close to those of the operators, and the same bits
// for any number of threads.
inline void expectFused(const wire::NetT& net, size_t attentions, size_t ops) {
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

}  // namespace mnnc::test
