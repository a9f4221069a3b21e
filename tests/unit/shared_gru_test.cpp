// GRU layers that share one of their constants have separate packings where the other constant differs.
#include <gtest/gtest.h>

#include <cmath>

#include "index_cases.h"

namespace mnnc::test {
namespace {

constexpr int kInputs = 3, kHidden = 6;

class GruNet : public IndexNet {
  public:
    int numbers(Ints dims, float seed) {
        size_t count = 1;
        for (const int32_t extent : dims) count *= static_cast<size_t>(extent);
        Floats values(count);
        for (size_t i = 0; i < count; ++i) values[i] = std::sin(seed + static_cast<float>(i));
        return constant(std::move(dims), std::move(values));
    }
    int gru(int x, int gates, int candidate) {
        wire::RNNParamT table;
        table.numUnits = kHidden;
        table.keepAllOutputs = true;
        return add(wire::OpType::RNNSequenceGRU,
                   {x, gates, numbers({2 * kHidden}, 1), candidate, numbers({kHidden}, 2), numbers({3 * kHidden}, 3)},
                   std::move(table));
    }
    int gates() { return numbers({kInputs + kHidden, 2 * kHidden}, 4); }
    int candidate(float seed) { return numbers({kInputs + kHidden, kHidden}, seed); }
};

std::vector<float> alone(float seed) {
    GruNet s;
    const int x = s.input({4, 2, kInputs}), gates = s.gates();
    return runNet(s.finish({s.gru(x, gates, s.candidate(seed))})).outputs[0];
}

TEST(SharedGru, CandidatesDiffer) {
    GruNet s;
    const int x = s.input({4, 2, kInputs}), gates = s.gates();
    const int first = s.gru(x, gates, s.candidate(5)), second = s.gru(x, gates, s.candidate(6));
    const NetResult both = runNet(s.finish({first, second}));
    EXPECT_EQ(both.outputs[0], alone(5));
    EXPECT_EQ(both.outputs[1], alone(6));
    EXPECT_NE(both.outputs[0], both.outputs[1]);
}

}  // namespace
}  // namespace mnnc::test
