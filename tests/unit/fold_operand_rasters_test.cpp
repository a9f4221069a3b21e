// Matrix products read transposed operands through their views, and the copies are removed.
#include <gtest/gtest.h>

#include "net_builder.h"

namespace mnnc::test {
namespace {

// Expects this number of operators, and the numbers of the separate ones.
void expectReadThrough(const wire::NetT& net, size_t ops) {
    const NetResult apart = runUnfused(net);
    for (const int threads : {1, 3}) {
        SessionConfig config;
        config.backend.threads = threads;
        const NetResult together = runNet(net, config);
        EXPECT_EQ(together.ops.size(), ops);
        EXPECT_EQ(together.outputs, apart.outputs);
    }
}

TEST(FoldOperandRasters, ProductsReadTransposedOperands) {
    {  // heads of attention: both operands, and a chain of copies
        NetBuilder s;
        const int a = s.permute(s.reshape(s.input({11, 6}), {11, 2, 3}), {1, 0, 2});
        const int b = s.permute(s.reshape(s.input({7, 6}), {7, 2, 3}), {1, 2, 0});
        expectReadThrough(s.finish({s.matmul(a, b)}), 1);
    }
    {  // copies of copies, which the operator also transposes
        NetBuilder s;
        const int a = s.permute(s.permute(s.input({5, 2, 9}), {1, 0, 2}), {0, 2, 1});
        const int b = s.permute(s.input({9, 2, 4}), {1, 0, 2});
        expectReadThrough(s.finish({s.matmul(a, b, true, false)}), 1);
        NetBuilder t;
        const int c = t.permute(t.input({9, 2, 5}), {1, 2, 0}), d = t.permute(t.input({4, 2, 5}), {1, 0, 2});
        expectReadThrough(t.finish({t.matmul(c, d, true, true)}), 1);
        NetBuilder u;
        const int e = u.permute(u.input({9, 5}), {1, 0}), f = u.permute(u.input({4, 9}), {1, 0});
        expectReadThrough(u.finish({u.matmul(e, f)}), 1);
    }
    {  // a batch of one operand only
        NetBuilder s;
        const int a = s.permute(s.input({5, 3, 9}), {1, 0, 2}), b = s.permute(s.input({4, 9}), {1, 0});
        expectReadThrough(s.finish({s.matmul(a, b)}), 1);
    }
}

TEST(FoldOperandRasters, OtherViewsAndConsumersPreventIt) {
    {  // neither rows nor columns are contiguous
        NetBuilder s;
        const int a = s.permute(s.input({4, 3, 2}), {2, 0, 1}), b = s.input({2, 3, 5});
        expectReadThrough(s.finish({s.matmul(a, b)}), 2);
    }
    {  // another operator reads the copy
        NetBuilder s;
        const int a = s.permute(s.input({4, 3}), {1, 0}), b = s.input({4, 5});
        expectReadThrough(s.finish({s.matmul(a, b), s.unary(wire::UnaryOpOperation::TANH, a)}), 3);
    }
    {  // the caller reads the copy
        NetBuilder s;
        const int a = s.permute(s.input({4, 3}), {1, 0}), b = s.input({4, 5});
        expectReadThrough(s.finish({s.matmul(a, b), a}), 2);
    }
}

}  // namespace
}  // namespace mnnc::test
