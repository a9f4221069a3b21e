// Lanes of several blocks of channels are mixed into one, and matrices of any extents are transposed, on every
// instruction set of this CPU.
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
                for (size_t i = 0; i < kArea; ++i) expected[i * lanes + to] = blocks[source][i * lanes + from];
            }
            std::vector<LaneSource> sources;
            for (size_t i = 0; i < blocks.size(); ++i) sources.push_back({blocks[i].data(), lane[i].data()});
            k.pack->mixLanes(sources.data(), count, kArea, got.data());
            EXPECT_EQ(expected, got) << k.isa << ", " << count;
        }
    }
}

// Only the elements of the destination are written, and only those of the source are read.
TEST(KernelsTranspose, TransposesAnyExtents) {
    std::mt19937 random(3);
    for (const std::string& isa : availableIsas()) {
        const Kernels k = selectKernels(isa);
        for (size_t round = 0; round < 2000; ++round) {
            const size_t rows = 1 + random() % (round % 2 ? 6 : 40), columns = 1 + random() % (round % 3 ? 40 : 6);
            const size_t srcStride = columns + (random() % 2 ? random() % 5 : 0),
                         dstStride = rows + (random() % 2 ? random() % 5 : 0);
            std::vector<float> from((rows - 1) * srcStride + columns);
            for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i + 1);
            std::vector<float> got((columns - 1) * dstStride + rows, -1), expected = got;
            for (size_t row = 0; row < rows; ++row)
                for (size_t column = 0; column < columns; ++column)
                    expected[column * dstStride + row] = from[row * srcStride + column];
            k.pack->transpose(from.data(), srcStride, rows, columns, got.data(), dstStride);
            ASSERT_EQ(expected, got) << k.isa << ": " << rows << " rows of " << columns << ", strides " << srcStride
                                     << " and " << dstStride;
        }
    }
}

}  // namespace
}  // namespace mnnc::test
