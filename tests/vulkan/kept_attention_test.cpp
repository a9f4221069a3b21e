// Attention over kept keys and values against the CPU's: odd sizes, several pages, masks in the places that they can
// have; and the number of submissions of a token.
#include <limits>
#include <optional>

#include "backends/vulkan/device/device.h"
#include "device_nets.h"
#include "session/kept_states.h"
#include "tensor/host_copy.h"

namespace mnnc::vulkan::test {
namespace {

int64_t counter(Count kind) {
    return Device::counters()[static_cast<size_t>(kind)].load();
}

struct Sizes {
    int32_t heads, keyHeads, depth, valueDepth;
};

enum class Masks { Causal, Read, Computed };

// Queries, keys, values and, where there is one, a mask are inputs; nothing before a run says how many rows are kept.
class Net : public NetBuilder {
  public:
    std::shared_ptr<const Interpreter> of(const Sizes& s, Masks masks) {
        const int q = input({1, -1, s.heads, s.depth}), k = input({1, -1, s.keyHeads, s.depth});
        const int v = input({1, -1, s.keyHeads, s.valueDepth});
        int mask = masks == Masks::Causal ? scalar(0) : input({-1, -1});
        if (masks == Masks::Computed) mask = binary(wire::BinaryOpOperation::ADD, mask, mask);
        return mnnc::test::open(finish({add(wire::OpType::Attention, {q, k, v, mask}, wire::AttentionParamT{})}));
    }
};

float numberOf(int64_t i, int64_t seed) {
    return static_cast<float>(std::sin(static_cast<double>(i * 37 + seed * 101) * 0.7));
}

class Conversation {
  public:
    Conversation(const std::shared_ptr<const Interpreter>& net, const Sizes& sizes, Masks masks, ForwardType type,
                 bool halves, Precision precision = Precision::Normal)
        : sizes_(sizes), masks_(masks) {
        SessionConfig config;
        config.forwardType = type;
        config.backend.precision = precision;
        session_.emplace(net, config);
        if (halves) session_->kept().useHalves(true);
    }

    std::vector<float> run(int64_t rows) {
        feed(0, {1, rows, sizes_.heads, sizes_.depth});
        feed(1, {1, rows, sizes_.keyHeads, sizes_.depth});
        feed(2, {1, rows, sizes_.keyHeads, sizes_.valueDepth});
        if (masks_ != Masks::Causal) feed(3, {rows, past_ + rows});
        session_->resize();
        for (size_t i = 0; i < shapes_.size(); ++i) {
            std::vector<float> values(static_cast<size_t>(shapes_[i].elements()));
            for (size_t k = 0; k < values.size(); ++k) {
                values[k] = numberOf(static_cast<int64_t>(k), past_ + static_cast<int64_t>(i) * 7);
                if (i == 3 && k % 3 == 0) values[k] = -std::numeric_limits<float>::infinity();
            }
            copyFromHost(session_->input(i), session_->inputData(i), values.data(), Format::NCHW);
        }
        session_->run();
        past_ += rows;
        std::vector<float> result(static_cast<size_t>(session_->output(0).elements()));
        copyToHost(session_->output(0), session_->outputData(0), result.data(), Format::NCHW);
        return result;
    }

    Session& session() { return *session_; }

  private:
    void feed(size_t index, const Shape& shape) {
        shapes_.resize(std::max(shapes_.size(), index + 1));
        shapes_[index] = shape;
        session_->resizeInput(index, shape);
    }

    const Sizes sizes_;
    const Masks masks_;
    std::optional<Session> session_;
    std::vector<Shape> shapes_;
    int64_t past_ = 0;
};

void expectAsOnCpu(const Sizes& sizes, Masks masks, const std::vector<int64_t>& runs, bool halves, float tolerance,
                   Precision precision = Precision::Normal) {
    const auto net = Net().of(sizes, masks);
    Conversation cpu(net, sizes, masks, ForwardType::Cpu, halves);
    Conversation device(net, sizes, masks, ForwardType::Vulkan, halves, precision);
    for (const int64_t rows : runs) {
        const std::vector<float> wanted = cpu.run(rows), got = device.run(rows);
        ASSERT_EQ(got.size(), wanted.size());
        for (size_t i = 0; i < got.size(); ++i)
            ASSERT_NEAR(got[i], wanted[i], tolerance) << "of " << rows << " rows, number " << i;
    }
    for (const OpRecord& op : device.session().records()) EXPECT_STREQ(op.backend, "vulkan") << op.reason;
}

const std::vector<int64_t> kRuns = {5, 1, 1, 252, 1, 40, 1, 300, 1, 9};

TEST(KeptAttention, Sizes) {
    for (const Sizes& sizes : {Sizes{1, 1, 1, 1}, Sizes{6, 3, 20, 12}, Sizes{2, 1, 17, 35}, Sizes{4, 4, 64, 64},
                               Sizes{12, 1, 8, 131}, Sizes{3, 1, 130, 5}})
        expectAsOnCpu(sizes, Masks::Causal, kRuns, false, 1e-5f);
}

TEST(KeptAttention, Masks) {
    for (const Masks masks : {Masks::Read, Masks::Computed}) {
        expectAsOnCpu({6, 3, 20, 12}, masks, kRuns, false, 1e-5f);
        expectAsOnCpu({2, 1, 17, 35}, masks, {3, 1, 260, 1}, true, 2e-3f);
    }
}

// Rows of an odd number of halves begin in the middle of a word.
TEST(KeptAttention, Halves) {
    for (const Sizes& sizes : {Sizes{6, 3, 20, 12}, Sizes{2, 1, 17, 35}, Sizes{2, 2, 3, 1}})
        expectAsOnCpu(sizes, Masks::Causal, kRuns, true, 1e-3f);
}

TEST(KeptAttention, LowPrecision) {
    for (const Masks masks : {Masks::Causal, Masks::Read, Masks::Computed})
        expectAsOnCpu({6, 3, 20, 12}, masks, kRuns, false, 1e-2f, Precision::Low);
}

// Tokens below the capacity are one submission each, and neither plan, record nor allocate; the next page is recorded.
TEST(KeptAttention, TokensAreOneSubmission) {
    const Sizes sizes{4, 2, 16, 16};
    for (const Masks masks : {Masks::Causal, Masks::Read}) {
        Conversation device(Net().of(sizes, masks), sizes, masks, ForwardType::Vulkan, false);
        device.run(5);
        device.run(1);
        const int64_t recordings = counter(Count::Recordings), submits = counter(Count::Submits);
        const uint64_t plans = device.session().stagePlans(), allocations = device.session().deviceAllocations();
        for (int i = 0; i < 250; ++i) device.run(1);
        EXPECT_EQ(counter(Count::Submits), submits + 250);
        EXPECT_EQ(counter(Count::Recordings), recordings);
        EXPECT_EQ(device.session().deviceAllocations(), allocations);
        device.run(1);
        EXPECT_GT(counter(Count::Recordings), recordings);
        EXPECT_GT(device.session().deviceAllocations(), allocations);
        EXPECT_EQ(device.session().stagePlans(), plans);
    }
}

}  // namespace
}  // namespace mnnc::vulkan::test
