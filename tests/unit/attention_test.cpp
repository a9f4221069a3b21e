// Attention: its kernel against a loop in double precision for every instruction set, and refused parameters.
#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>

#include "backends/cpu/kernels/sequence/attention.h"
#include "float_util.h"
#include "net_builder.h"
#include "scalar_bf16.h"

namespace mnnc::test {
namespace {

enum class Mask { None, Float, Condition };

struct Problem {
    int batch, queries, keys, heads, keyHeads, depth, valueDepth;
    Mask mask = Mask::None;
    bool sinks = false;
    bool transposed = false;  // queries and results
    bool gathered = false;    // masks: each row has its elements in the opposite order
};

// Operands in the order [batch][row][head][depth], and the keys that every query sees.
struct Data {
    Floats q, k, v, add, sinks;
    std::vector<int32_t> keep;
    explicit Data(const Problem& p)
        : q(randomFloats(size_t(p.batch) * p.queries * p.heads * p.depth, 1)),
          k(randomFloats(size_t(p.batch) * p.keys * p.keyHeads * p.depth, 2)),
          v(randomFloats(size_t(p.batch) * p.keys * p.keyHeads * p.valueDepth, 3)),
          add(randomFloats(size_t(p.queries) * p.keys, 4)),
          sinks(randomFloats(size_t(p.heads), 5)),
          keep(add.size()) {
        for (size_t i = 0; i < keep.size(); ++i) keep[i] = add[i] > 0 ? static_cast<int32_t>(i) - 3 : 0;
        for (int i = 0; i < p.queries; ++i) keep[size_t(i) * p.keys] = 1;
    }
};

double scoreAt(const Problem& p, const Data& d, float scale, int b, int h, int i, int j) {
    const int own = h / (p.heads / p.keyHeads);
    double sum = 0;
    for (int c = 0; c < p.depth; ++c)
        sum += double(d.q[((size_t(b) * p.queries + i) * p.heads + h) * p.depth + c]) *
               d.k[((size_t(b) * p.keys + j) * p.keyHeads + own) * p.depth + c];
    sum *= scale;
    const size_t at = size_t(i) * p.keys + (p.gathered ? p.keys - 1 - j : j);
    if (p.mask == Mask::Float) sum += d.add[at];
    if (p.mask == Mask::Condition && d.keep[at] == 0) sum = -1e30;
    return sum;
}

Floats expectedOf(const Problem& p, const Data& d, float scale) {
    Floats out(size_t(p.batch) * p.queries * p.heads * p.valueDepth);
    for (int b = 0; b < p.batch; ++b)
        for (int h = 0; h < p.heads; ++h)
            for (int i = 0; i < p.queries; ++i) {
                std::vector<double> row(size_t(p.valueDepth), 0);
                double top = p.sinks ? d.sinks[h] : -1e30, sum = 0;
                for (int j = 0; j < p.keys; ++j) top = std::max(top, scoreAt(p, d, scale, b, h, i, j));
                if (p.sinks) sum = std::exp(d.sinks[h] - top);
                for (int j = 0; j < p.keys; ++j) {
                    const double weight = std::exp(scoreAt(p, d, scale, b, h, i, j) - top);
                    sum += weight;
                    for (int c = 0; c < p.valueDepth; ++c)
                        row[size_t(c)] +=
                            weight *
                            d.v[((size_t(b) * p.keys + j) * p.keyHeads + h / (p.heads / p.keyHeads)) * p.valueDepth +
                                c];
                }
                for (int c = 0; c < p.valueDepth; ++c)
                    out[((size_t(b) * p.queries + i) * p.heads + h) * p.valueDepth + c] =
                        static_cast<float>(row[size_t(c)] / sum);
            }
    return out;
}

// Operands in the order [batch][row][head][depth]; each operand serves `heads` heads of the problem.
template <typename Operand>
void place(Operand& operand, const Problem& p, int rows, int heads, int depth) {
    operand.rowStep = size_t(heads) * depth;
    for (int b = 0; b < p.batch; ++b)
        for (int h = 0; h < p.heads; ++h)
            operand.heads.push_back((size_t(b) * rows * heads + h / (p.heads / heads)) * depth);
}

// Converts [batch][head][depth][row] to [batch][row][head][depth], or (back) the opposite.
Floats flipped(const Problem& p, const Floats& x, int depth, bool back) {
    Floats y(x.size());
    for (int b = 0; b < p.batch; ++b)
        for (int i = 0; i < p.queries; ++i)
            for (int h = 0; h < p.heads; ++h)
                for (int c = 0; c < depth; ++c) {
                    const size_t rows = ((size_t(b) * p.queries + i) * p.heads + h) * depth + c,
                                 columns = ((size_t(b) * p.heads + h) * depth + c) * p.queries + i;
                    y[back ? columns : rows] = x[back ? rows : columns];
                }
    return y;
}

template <typename Operand>
void placeFlipped(Operand& operand, const Problem& p, int depth) {
    operand.rowStep = size_t(p.queries);
    for (int head = 0; head < p.batch * p.heads; ++head) operand.heads.push_back(size_t(head) * depth * p.queries);
}

Floats run(const Kernels& kernels, const Problem& p, const Data& d, float scale, ThreadPool& pool,
           GemmType type = GemmType::Float) {
    AttentionArgs a;
    a.type = type;
    a.heads = p.batch * p.heads;
    a.share = p.heads / p.keyHeads;
    a.queries = p.queries;
    a.keys = p.keys;
    a.depth = p.depth;
    a.valueDepth = p.valueDepth;
    (p.mask == Mask::None ? a.scale : a.steps.emplace_back().scale) = scale;
    Floats out(size_t(p.batch) * p.queries * p.heads * p.valueDepth, -7);
    a.queriesTransposed = a.outTransposed = p.transposed;
    const Floats columns = flipped(p, d.q, p.depth, true);
    if (p.transposed) {
        placeFlipped(a.q, p, p.depth);
        placeFlipped(a.out, p, p.valueDepth);
    } else {
        place(a.q, p, p.queries, p.heads, p.depth);
        place(a.out, p, p.queries, p.heads, p.valueDepth);
    }
    place(a.k, p, p.keys, p.keyHeads, p.depth);
    place(a.v, p, p.keys, p.keyHeads, p.valueDepth);
    AttentionData data;
    data.q = p.transposed ? columns.data() : d.q.data();
    data.k = d.k.data();
    data.v = d.v.data();
    data.out = out.data();
    if (p.mask != Mask::None) {
        AttentionStep& step = a.steps[0];
        step.operand.rowStep = size_t(p.keys);
        step.kind = p.mask == Mask::Float ? AttentionStep::Kind::Add : AttentionStep::Kind::Keep;
        data.steps[0] = d.add.data();
        if (p.mask == Mask::Condition) data.steps[0] = d.keep.data();
        for (int j = 0; p.gathered && j <= p.keys; ++j) step.runs.push_back({j, p.keys - 1 - j, 0});
    }
    if (p.sinks) {
        data.sinks = d.sinks.data();
        for (int h = 0; h < a.heads; ++h) a.sinks.heads.push_back(size_t(h % p.heads));
    }
    Floats scratch(size_t(attentionScratchBytes(kernels, a, pool.threads(), "test")) / 4);
    data.scratch = scratch.data();
    attention(kernels, a, data, pool);
    return p.transposed ? flipped(p, out, p.valueDepth, false) : out;
}

TEST(Attention, AllInstructionSets) {
    const Problem problems[] = {{1, 1, 1, 1, 1, 1, 1},
                                {1, 5, 7, 2, 2, 3, 5},
                                {2, 75, 13, 2, 1, 16, 17, Mask::Float},
                                {1, 3, 600, 2, 2, 8, 33, Mask::Float, true},
                                {1, 19, 257, 3, 3, 5, 4, Mask::Condition},
                                {1, 150, 512, 1, 1, 2, 64, Mask::None, true},
                                {2, 80, 21, 3, 3, 9, 19, Mask::None, false, true},
                                {1, 30, 300, 2, 1, 16, 5, Mask::Float, false, true, true},
                                {1, 7, 270, 1, 1, 4, 4, Mask::Condition, false, false, true}};
    ForkJoinPool three(3);
    InlinePool one;
    for (const std::string& isa : availableIsas()) {
        const Kernels& kernels = selectKernels(isa);
        for (const Problem& p : problems) {
            SCOPED_TRACE(isa + " " + std::to_string(p.queries) + "x" + std::to_string(p.keys));
            const Data data(p);
            const Floats expected = expectedOf(p, data, 0.75f);
            Floats first;
            {
                RunLease lease(one);
                first = run(kernels, p, data, 0.75f, one);
            }
            ASSERT_EQ(first.size(), expected.size());
            for (size_t i = 0; i < first.size(); ++i) ASSERT_NEAR(first[i], expected[i], 3e-6) << "element " << i;
            RunLease lease(three);
            const Floats again = run(kernels, p, data, 0.75f, three);
            ASSERT_EQ(std::memcmp(first.data(), again.data(), first.size() * sizeof(float)), 0);
        }
    }
}

// Products of rounded operands: close to the results with floats, and the same for any number of threads.
TEST(Attention, Bf16) {
    ForkJoinPool three(3);
    InlinePool one;
    for (const std::string& isa : availableIsas()) {
        const Kernels kernels = kernelsWithBf16(isa);
        for (const Problem& p : {Problem{1, 5, 7, 2, 2, 3, 5}, Problem{2, 75, 13, 2, 1, 16, 17, Mask::Float},
                                 Problem{1, 3, 601, 2, 2, 8, 33, Mask::None, true},
                                 Problem{2, 80, 21, 3, 3, 9, 19, Mask::None, false, true}}) {
            SCOPED_TRACE(isa + " " + std::to_string(p.queries) + "x" + std::to_string(p.keys));
            const Data data(p);
            const Floats expected = expectedOf(p, data, 0.75f);
            Floats first;
            {
                RunLease lease(one);
                first = run(kernels, p, data, 0.75f, one, GemmType::Bf16);
            }
            for (size_t i = 0; i < first.size(); ++i) ASSERT_NEAR(first[i], expected[i], 0.02) << "element " << i;
            RunLease lease(three);
            const Floats again = run(kernels, p, data, 0.75f, three, GemmType::Bf16);
            ASSERT_EQ(std::memcmp(first.data(), again.data(), first.size() * sizeof(float)), 0);
        }
    }
}

// Masks of the lowest floats and infinities: rows without a score, and blocks of keys that have no effect.
TEST(Attention, ExtremeMasks) {
    const Problem p{1, 4, 300, 1, 1, 4, 3, Mask::Float};
    Data data(p);
    const float infinity = std::numeric_limits<float>::infinity();
    for (int j = 0; j < 300; ++j) {
        data.add[size_t(j)] = -infinity;                          // row 0: no score at all
        data.add[size_t(300 + j)] = -FLT_MAX;                     // row 1: all equal
        data.add[size_t(600 + j)] = j < 256 ? -infinity : 0.25f;  // row 2: the second block alone
        data.add[size_t(900 + j)] = j < 256 ? 0.25f : -FLT_MAX;   // row 3: the first block alone
    }
    InlinePool one;
    RunLease lease(one);
    const Floats got = run(selectKernels(), p, data, 0.5f, one);
    for (int c = 0; c < 3; ++c) {
        EXPECT_EQ(got[size_t(c)], 0);
        double mean = 0;
        for (int j = 0; j < 300; ++j) mean += data.v[size_t(j * 3 + c)] / 300.0;
        EXPECT_NEAR(got[size_t(3 + c)], mean, 1e-6);
        for (const int row : {2, 3}) {
            double sum = 0, weights = 0;
            for (int j = row == 2 ? 256 : 0; j < (row == 2 ? 300 : 256); ++j) {
                const double weight = std::exp(scoreAt(p, data, 0.5f, 0, 0, row, j));
                weights += weight;
                sum += weight * data.v[size_t(j * 3 + c)];
            }
            EXPECT_NEAR(got[size_t(row * 3 + c)], sum / weights, 1e-6) << "row " << row;
        }
    }
}

class Net : public NetBuilder {
  public:
    using NetBuilder::add;
    wire::NetT attention(const std::vector<std::vector<int32_t>>& shapes, wire::AttentionParamT table) {
        std::vector<int32_t> inputs;
        for (const std::vector<int32_t>& shape : shapes) inputs.push_back(input(shape));
        return finish({add(wire::OpType::Attention, inputs, std::move(table))});
    }
};
wire::AttentionParamT withoutCache() {
    wire::AttentionParamT table;
    table.kv_cache = false;
    return table;
}
void refuses(const std::vector<std::vector<int32_t>>& shapes, Status status, const std::string& part,
             wire::AttentionParamT table = withoutCache()) {
    Net net;
    const wire::NetT built = net.attention(shapes, std::move(table));
    expectFailure(status, part, [&] { runNet(built); });
}

TEST(Attention, RefusesState) {
    const std::vector<std::vector<int32_t>> qkv = {{1, 5, 2, 4}, {1, 5, 2, 4}, {1, 5, 2, 4}};
    wire::AttentionParamT shared = withoutCache();
    shared.kv_shared_layer_index = 3;
    refuses(qkv, Status::NotSupported, "kv_shared_layer", std::move(shared));
    wire::AttentionParamT quantised = withoutCache();
    quantised.mhq_quant.push_back(std::make_unique<wire::TensorQuantInfoT>());
    refuses(qkv, Status::NotSupported, "mhq_quant", std::move(quantised));
    wire::AttentionParamT scaled = withoutCache();
    scaled.attnScale = std::numeric_limits<float>::infinity();
    refuses(qkv, Status::BadParameter, "attnScale", std::move(scaled));
}

TEST(Attention, RefusesOperandsThatDoNotFit) {
    const std::vector<int32_t> x = {1, 5, 2, 4};
    const auto misfit = [](const std::vector<std::vector<int32_t>>& shapes, const std::string& part) {
        refuses(shapes, Status::ComputeSizeError, part);
    };
    misfit({{5, 2, 4}, x, x}, "of rank 4");
    misfit({x, {2, 5, 2, 4}, x}, "do not fit together");
    misfit({x, {1, 5, 2, 3}, x}, "do not fit together");
    misfit({x, x, {1, 6, 2, 4}}, "do not fit together");
    misfit({x, x, {1, 5, 1, 4}}, "do not fit together");
    misfit({{1, 5, 3, 4}, x, x}, "do not fit together");
    misfit({x, {1, 5, 0, 4}, {1, 5, 0, 4}}, "do not fit together");
    misfit({x, x, x, {1, 3, 5, 5}}, "a mask of 1x3x5x5");
    misfit({x, x, x, {1, 1, 1, 5, 5}}, "a mask of");
    misfit({x, x, x, {5, 5}, {3}}, "sinks of 3, one for each of 2 heads is needed");
    refuses({x, x, x, {5, 5}, {2}, {2}}, Status::NotSupported, "with 6 inputs");
    refuses({x, x, x, {}}, Status::NotSupported, "a scalar mask");
}

}  // namespace
}  // namespace mnnc::test
