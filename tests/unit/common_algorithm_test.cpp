// Convolutions with the same constant as their weights: one packing of it, and the results of convolutions with
// separate weights.
#include <gtest/gtest.h>

#include <set>

#include "net_builder.h"

namespace mnnc::test {
namespace {

constexpr int kChannels = 64;

// A convolution on each map.
wire::NetT head(const std::vector<int>& sizes, bool shared) {
    NetBuilder s;
    const std::vector<int32_t> dims = {kChannels, kChannels, 3, 3};
    int weights = s.constant(dims);
    std::vector<int> outputs;
    for (const int size : sizes) {
        if (!shared && !outputs.empty()) weights = s.constant(dims);
        outputs.push_back(s.convBy(s.input({1, kChannels, size, size}), weights, kChannels, 3));
    }
    return s.finish(outputs);
}

std::set<std::string> algorithms(const NetResult& result) {
    std::set<std::string> names;
    for (const OpRecord& op : result.ops)
        if (std::string(op.type) == "Convolution") names.insert(op.algorithm);
    return names;
}

void expectSameResults(const NetResult& a, const NetResult& b) {
    ASSERT_EQ(a.outputs.size(), b.outputs.size());
    for (size_t i = 0; i < a.outputs.size(); ++i) {
        ASSERT_EQ(a.outputs[i].size(), b.outputs[i].size());
        for (size_t k = 0; k < a.outputs[i].size(); ++k)
            ASSERT_NEAR(a.outputs[i][k], b.outputs[i][k], 2e-3f) << "output " << i << " at " << k;
    }
}

TEST(CommonAlgorithm, MapsOfOneSizeShareTheirPacking) {
    const NetResult one = runNet(head({24}, true)), three = runNet(head({24, 24, 24}, true));
    EXPECT_GT(one.weightBytes, 0);
    EXPECT_EQ(three.weightBytes, one.weightBytes);
    expectSameResults(three, runNet(head({24, 24, 24}, false)));
}

TEST(CommonAlgorithm, MapsOfManySizesShareOne) {
    const std::vector<int> sizes = {48, 24, 12, 6, 3};
    const NetResult shared = runNet(head(sizes, true)), apart = runNet(head(sizes, false));
    EXPECT_GT(algorithms(apart).size(), 1U);
    EXPECT_EQ(algorithms(shared).size(), 1U);
    EXPECT_LT(shared.weightBytes, apart.weightBytes / 2);
    expectSameResults(shared, apart);
}

// The last layer of a net, whose result needs no other storage.
TEST(FullyConnected, WritesRowMajorWhereItsLastBlockIsNotWhole) {
    for (const int outputs : {1, 5, 17, 70, 1003})
        for (const bool residual : {false, true}) {
            NetBuilder s;
            const int x = s.input({9, 24, 1, 1});
            int y = s.conv(x, 24, outputs, 1);
            if (residual) y = s.binary(wire::BinaryOpOperation::ADD, y, s.input({9, outputs, 1, 1}));
            const int z = s.softmax(s.reshape(y, {9, outputs}));
            const wire::NetT net = s.finish({z});
            const NetResult fused = runNet(net), apart = runUnfused(net);
            ASSERT_EQ(fused.outputs[0].size(), apart.outputs[0].size());
            for (size_t i = 0; i < fused.outputs[0].size(); ++i)
                ASSERT_NEAR(fused.outputs[0][i], apart.outputs[0][i], 1e-5f) << outputs << " at " << i;
        }
}

// Layers of any width one after another.
TEST(FullyConnected, ReadsRowMajorWhereItsLastBlockIsNotWhole) {
    for (const int inputs : {5, 17, 40, 1003})
        for (const int rows : {1, 9}) {
            NetBuilder s;
            const int x = s.reshape(s.input({rows, inputs}), {rows, inputs, 1, 1});
            const int y = s.conv(s.conv(x, inputs, 70, 1), 70, 32, 1);
            const wire::NetT net = s.finish({s.softmax(s.reshape(y, {rows, 32}))});
            const NetResult fused = runNet(net), apart = runUnfused(net);
            ASSERT_EQ(fused.outputs[0].size(), apart.outputs[0].size());
            for (size_t i = 0; i < fused.outputs[0].size(); ++i)
                ASSERT_NEAR(fused.outputs[0][i], apart.outputs[0][i], 1e-5f) << inputs << " at " << i;
        }
}

}  // namespace
}  // namespace mnnc::test
