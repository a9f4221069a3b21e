// Lanes of several blocks of channels are mixed into one, on every instruction set of this CPU.
#include "backends/cpu/kernels/pack.h"

#include <gtest/gtest.h>

#include <random>

#include "backends/cpu/kernels/kernels.h"

namespace mnnc::test {
namespace {

TEST(KernelsMixLanes, TakesLanesOfUpToFourBlocks) {
    std::mt19937 random(2);
    constexpr size_t kArea = 7;
    for (const std::string& isa : availableIsas()) {
        const Kernels k = selectKernels(isa);
        const auto lanes = static_cast<size_t>(k.lanes);
        for (int count = 1; count <= PackKernels::kMaxSources; ++count) {
            std::vector<std::vector<float>> blocks(static_cast<size_t>(count));
            std::vector<std::vector<int32_t>> lane(blocks.size(), std::vector<int32_t>(lanes, -1));
            std::vector<float> expected(kArea * lanes), got(kArea * lanes, 5);
            float value = 1;
            for (std::vector<float>& block : blocks)
                for (size_t i = 0; i < kArea * lanes; ++i) block.push_back(value++);
            for (size_t to = 0; to < lanes; ++to) {
                const size_t source = random() % (blocks.size() + 1), from = random() % lanes;
                if (source == blocks.size()) continue;  // zero
                lane[source][to] = static_cast<int32_t>(from);
                for (size_t i = 0; i < kArea; ++i)
                    expected[i * lanes + to] = blocks[source][i * lanes + from];
            }
            std::vector<LaneSource> sources;
            for (size_t i = 0; i < blocks.size(); ++i) sources.push_back({blocks[i].data(), lane[i].data()});
            k.pack->mixLanes(sources.data(), count, kArea, got.data());
            EXPECT_EQ(expected, got) << k.isa << ", " << count;
        }
    }
}

}  // namespace
}  // namespace mnnc::test
