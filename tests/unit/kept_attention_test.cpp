// Attention over kept keys and values: its kernel against a loop in double precision for every instruction set, and
// the inputs that the operator refuses. tests/c_abi/kept_test.c has sessions with it.
#include "backends/cpu/kernels/sequence/kept_attention.h"

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "float_util.h"
#include "index_cases.h"
#include "scalar_bf16.h"

namespace mnnc::test {
namespace {

struct Problem {
    int past, rows, heads, keyHeads, depth, valueDepth;
    bool masked = false, halves = false;
    float scale = 0.75f;
};

// A state with room for all rows, and random operands: those of the past come first.
class Kept {
  public:
    explicit Kept(const Problem& p)
        : p_(p),
          q(randomFloats(size_t(p.rows) * p.heads * p.depth, 1)),
          k(randomFloats(size_t(all()) * p.keyHeads * p.depth, 2)),
          v(randomFloats(size_t(all()) * p.keyHeads * p.valueDepth, 3)),
          mask(randomFloats(size_t(p.rows) * all(), 4)),
          state_(KeptForm{1, p.keyHeads, p.depth, p.valueDepth, 0}) {
        state_.halves = p.halves;
        for (int64_t row = 0; row < all(); row += kKeptPageRows) {
            pages_.emplace_back(size_t(state_.pageBytes()), '\x7f');
            state_.pages.push_back(pages_.back().data());
        }
        for (int row = 0; row < p.past; ++row) store(row);
        state_.length = p.past;
    }
    int all() const { return p_.past + p_.rows; }

    Floats run(const Kernels& kernels, ThreadPool& pool, GemmType type = GemmType::Float) const {
        KeptAttentionArgs a;
        a.type = type;
        a.rows = p_.rows;
        a.heads = p_.heads;
        a.keyHeads = p_.keyHeads;
        a.depth = p_.depth;
        a.valueDepth = p_.valueDepth;
        a.scale = p_.scale;
        std::vector<char> scratch(size_t(keptAttentionScratchBytes(kernels, a, pool.threads(), "test")) + 64);
        Floats out(size_t(p_.rows) * p_.heads * p_.valueDepth, std::numeric_limits<float>::quiet_NaN());
        KeptAttentionData data;
        data.q = q.data();
        data.k = k.data() + size_t(p_.past) * p_.keyHeads * p_.depth;
        data.v = v.data() + size_t(p_.past) * p_.keyHeads * p_.valueDepth;
        data.mask = p_.masked ? mask.data() : nullptr;
        data.out = out.data();
        data.state = &state_;
        data.scratch = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64);
        keptAttention(kernels, a, data, pool);
        return out;
    }

    Floats expected() const {
        Floats out;
        for (int i = 0; i < p_.rows; ++i)
            for (int h = 0; h < p_.heads; ++h) {
                std::vector<double> row(size_t(p_.valueDepth), 0);
                const int seen = p_.masked ? all() : p_.past + i + 1, own = h / (p_.heads / p_.keyHeads);
                double top = -1e300, sum = 0;
                for (int j = 0; j < seen; ++j) top = std::max(top, score(i, j, h));
                for (int j = 0; j < seen; ++j) {
                    const double weight = std::exp(score(i, j, h) - top);
                    sum += weight;
                    for (int c = 0; c < p_.valueDepth; ++c)
                        row[size_t(c)] += weight * v[(size_t(j) * p_.keyHeads + own) * p_.valueDepth + c];
                }
                for (const double x : row) out.push_back(static_cast<float>(x / sum));
            }
        return out;
    }
    double score(int i, int j, int h) const {
        double sum = 0;
        for (int c = 0; c < p_.depth; ++c)
            sum += double(q[(size_t(i) * p_.heads + h) * p_.depth + c]) *
                   k[(size_t(j) * p_.keyHeads + h / (p_.heads / p_.keyHeads)) * p_.depth + c];
        return sum * p_.scale + (p_.masked ? mask[size_t(i) * all() + j] : 0);
    }

  private:
    const Problem p_;

  public:
    Floats q, k, v, mask;

  private:
    void store(int row) {
        for (int head = 0; head < p_.keyHeads; ++head) {
            const size_t at = size_t(row) * p_.keyHeads + head;
            storeKept(k.data() + at * p_.depth, p_.depth, p_.halves, state_.key(head, row));
            storeKept(v.data() + at * p_.valueDepth, p_.valueDepth, p_.halves, state_.value(head, row));
        }
    }
    KeptState state_;
    std::vector<std::vector<char>> pages_;
};

TEST(KeptAttention, EveryInstructionSet) {
    const Problem problems[] = {
        {0, 1, 1, 1, 1, 1},
        {0, 7, 4, 2, 3, 5},
        {1, 1, 6, 2, 16, 8},
        {255, 1, 2, 2, 8, 17},
        {256, 2, 3, 1, 9, 33},
        {300, 75, 4, 2, 16, 16},
        {511, 3, 2, 1, 5, 4, true},
        {0, 300, 2, 1, 8, 4, true},
        {13, 1, 80, 1, 4, 3},
        {600, 1, 4, 4, 64, 64, true},
        {20, 6, 2, 2, 8, 8, false, true},
        {270, 5, 4, 1, 8, 6, true, true},
        {3, 4, 2, 1, 4, 4, false, false, -1.5f},
        // Few rows, whose products read pages as they lie, up to 8; and the first number that packs them.
        {530, 1, 9, 3, 64, 64},
        {300, 1, 9, 3, 64, 64, false, true},
        {300, 2, 3, 1, 70, 37, true, true},
        {40, 8, 1, 1, 20, 12},
        {40, 9, 1, 1, 20, 12},
        {300, 30, 3, 1, 64, 64, false, true},
    };
    ForkJoinPool three(3);
    InlinePool one;
    for (const std::string& isa : availableIsas()) {
        const Kernels& kernels = selectKernels(isa);
        for (const Problem& p : problems) {
            SCOPED_TRACE(isa + " " + std::to_string(p.rows) + " behind " + std::to_string(p.past));
            const Kept kept(p);
            const Floats expected = kept.expected(), first = kept.run(kernels, one);
            ASSERT_EQ(first.size(), expected.size());
            for (size_t i = 0; i < first.size(); ++i)
                ASSERT_NEAR(first[i], expected[i], p.halves ? 2e-3 : 3e-6) << "element " << i;
            RunLease lease(three);
            const Floats again = kept.run(kernels, three);
            ASSERT_EQ(std::memcmp(first.data(), again.data(), first.size() * sizeof(float)), 0);
        }
    }
}

TEST(KeptAttention, Bf16) {
    InlinePool one;
    for (const std::string& isa : availableIsas()) {
        const Kernels kernels = kernelsWithBf16(isa);
        for (const Problem& p :
             {Problem{0, 7, 4, 2, 3, 5}, Problem{300, 75, 4, 2, 16, 16}, Problem{511, 3, 2, 1, 5, 4, true}}) {
            SCOPED_TRACE(isa + " " + std::to_string(p.rows) + " behind " + std::to_string(p.past));
            const Kept kept(p);
            const Floats expected = kept.expected(), got = kept.run(kernels, one, GemmType::Bf16);
            for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 0.03) << "element " << i;
        }
    }
}

// The masks leave a row without a finite score, give all keys of a row the same score, or leave a whole page out.
TEST(KeptAttention, ExtremeMasks) {
    for (const int heads : {1, 5}) {  // few rows and many
        SCOPED_TRACE(heads);
        const Problem p{296, 4, heads, 1, 4, 3, true};
        Kept kept(p);
        const float infinity = std::numeric_limits<float>::infinity();
        for (int j = 0; j < 300; ++j) {
            kept.mask[size_t(j)] = -infinity;
            kept.mask[size_t(300 + j)] = -FLT_MAX;
            kept.mask[size_t(600 + j)] = j < 256 ? -infinity : 0.25f;
            kept.mask[size_t(900 + j)] = j < 256 ? 0.25f : -FLT_MAX;
        }
        InlinePool one;
        const Floats got = kept.run(selectKernels(), one);
        const auto at = [&](int row, int head, int c) { return got[size_t((row * heads + head) * 3 + c)]; };
        for (int head = 0; head < heads; ++head)
            for (int c = 0; c < 3; ++c) {
                EXPECT_EQ(at(0, head, c), 0);
                double mean = 0;
                for (int j = 0; j < 300; ++j) mean += kept.v[size_t(j * 3 + c)] / 300.0;
                EXPECT_NEAR(at(1, head, c), mean, 1e-6);
                for (const int row : {2, 3}) {
                    double sum = 0, weights = 0;
                    for (int j = row == 2 ? 256 : 0; j < (row == 2 ? 300 : 256); ++j) {
                        const double weight = std::exp(kept.score(row, j, head));
                        weights += weight;
                        sum += weight * kept.v[size_t(j * 3 + c)];
                    }
                    EXPECT_NEAR(at(row, head, c), sum / weights, 1e-6) << "row " << row;
                }
            }
    }
}

class Net : public NetBuilder {
  public:
    using NetBuilder::add;
    wire::NetT attention(const std::vector<std::vector<int32_t>>& shapes, wire::AttentionParamT table = {}) {
        std::vector<int32_t> inputs;
        for (const std::vector<int32_t>& shape : shapes) inputs.push_back(input(shape));
        return finish({add(wire::OpType::Attention, inputs, std::move(table))});
    }
};

void refuses(const std::vector<std::vector<int32_t>>& shapes, Status status, const std::string& part) {
    Net net;
    const wire::NetT built = net.attention(shapes);
    expectFailure(status, part, [&] { runNet(built); });
}

TEST(KeptAttention, Refuses) {
    const std::vector<int32_t> q = {1, 5, 4, 8}, k = {1, 5, 2, 8}, v = {1, 5, 2, 3};
    refuses({q, k, v}, Status::NotSupported, "and 3 inputs is not supported");
    refuses({q, k, v, {}, {4}}, Status::NotSupported, "and 5 inputs is not supported");
    refuses({{2, 5, 4, 8}, {2, 5, 2, 8}, {2, 5, 2, 3}, {}}, Status::NotSupported, "a batch of 2");
    refuses({{1, 4, 4, 8}, k, v, {}}, Status::ComputeSizeError, "4 queries and 5 new keys");
    refuses({q, k, {5, 7, 1, 1}, {}}, Status::ComputeSizeError, "cannot be cut into 2 heads");
    refuses({q, k, {4, 6, 1, 1}, {}}, Status::ComputeSizeError, "do not fit together");
    refuses({q, k, v, {5}}, Status::ComputeSizeError, "a mask of 5, a scalar is needed, or for each of 5 queries");
    refuses({q, k, v, {1, 5}}, Status::ComputeSizeError, "a mask of 1x5");
    refuses({q, k, v, {5, 4}}, Status::ComputeSizeError, "a mask of 5x4");
    refuses({q, k, v, {2, 1, 5, 5}}, Status::ComputeSizeError, "a mask of 2x1x5x5");
    refuses({q, k, v, {5, 6}}, Status::ComputeSizeError, "its last extent has to be 5");
}

// Values in the layout that a projection makes, and results in the layout that the next projection takes.
TEST(KeptAttention, PackedValuesAndResults) {
    Net net;
    wire::AttentionParamT table;
    table.output_c4 = true;
    const wire::NetT packed = net.attention({{1, 5, 4, 8}, {1, 5, 2, 8}, {5, 6, 1, 1}, {}}, std::move(table));
    Net other;
    const wire::NetT plain = other.attention({{1, 5, 4, 8}, {1, 5, 2, 8}, {1, 5, 2, 3}, {}});
    const NetResult a = runNet(packed), b = runNet(plain);
    ASSERT_EQ(b.outputs[0].size(), 60u);
    EXPECT_EQ(a.outputs[0], b.outputs[0]);
    EXPECT_EQ(a.count("Attention"), 1u);
}

// The operator is refused in the body of a loop, where it would add rows in each iteration.
TEST(KeptAttention, NotInLoops) {
    IndexNet whole, body;
    const int x = whole.input({1, 1, 1, 4}), limit = whole.ints({});
    wire::WhileParamT params;
    params.body_graph = "body";
    const int result = whole.indexed(wire::OpType::While, {limit, whole.constant({}, Ints{1}), x}, std::move(params));
    wire::NetT net = whole.finish({whole.relu(result)});
    body.ints({});
    const int next = body.ints({}), carried = body.input({1, 1, 1, 4});
    const int attention = body.indexed(
        wire::OpType::Attention, {carried, carried, carried, body.constant({}, Floats{0})}, wire::AttentionParamT());
    const int shaped = body.reshape(attention, {1, 1, 1, 4});
    net.subgraphs.push_back(asGraph("body", body.finish({}), {0, 1, carried}, {next, shaped}));
    expectFailure(Status::NotSupported, "stands in subgraph 'body'", [&] { runNet(net); });
}

}  // namespace
}  // namespace mnnc::test
