// The partition of rows of planes among threads: each row once, and with pixels each thread has its part of every
// plane.
#include "backends/cpu/kernels/plane_cut.h"

#include <gtest/gtest.h>

#include <vector>

namespace mnnc {
namespace {

TEST(PlaneCut, CoversEachRowOnce) {
    for (const int threads : {1, 2, 3, 16})
        for (const int planes : {0, 1, 3, 36, 1000})
            for (const int rows : {1, 2, 7, 112})
                for (const bool byPixels : {false, true}) {
                    const PlaneCut cut(planes, rows, byPixels, threads);
                    std::vector<int> seen(static_cast<size_t>(planes) * rows);
                    for (int task = 0; task < cut.tasks(); ++task) {
                        const PlaneCut::Part part = cut[task];
                        for (int64_t plane = part.planeBegin; plane < part.planeEnd; ++plane)
                            for (int64_t row = part.rowBegin; row < part.rowEnd; ++row)
                                ++seen[static_cast<size_t>(plane * rows + row)];
                    }
                    EXPECT_EQ(seen, std::vector<int>(seen.size(), 1))
                        << threads << " threads, " << planes << " planes, " << rows << " rows";
                }
}

TEST(PlaneCut, GivesEachThreadTheSameRowsOfAllPlanes) {
    const PlaneCut cut(64, 112, true, 2);
    for (int task = 0; task < cut.tasks(); ++task) {
        const bool first = task < cut.tasks() / 2;
        EXPECT_EQ(cut[task].rowBegin, first ? 0 : 56);
        EXPECT_EQ(cut[task].rowEnd, first ? 56 : 112);
    }
}

TEST(PlaneCut, CutsPlanesWhereTheyHaveFewerRowsThanThreads) {
    const PlaneCut cut(64, 1, true, 2);
    for (int task = 0; task < cut.tasks(); ++task) EXPECT_EQ(cut[task].rowEnd, 1);
    EXPECT_EQ(cut[0].planeBegin, 0);
    EXPECT_EQ(cut[cut.tasks() - 1].planeEnd, 64);
}

// Each task costs time, too: a map of 7 x 7 pixels with 960 channels takes some microseconds.
TEST(PlaneCut, MakesNoMoreTasksThanThreadsCanUse) {
    EXPECT_EQ(PlaneCut(60, 7, false, 16).tasks(), 60);
    EXPECT_EQ(PlaneCut(17, 7, false, 16).tasks(),
              17 * 6);  // seven rounds of a sixth of a plane, in place of two of a plane
    EXPECT_EQ(PlaneCut(16, 7, false, 16).tasks(), 16);
    EXPECT_EQ(PlaneCut(3, 7, false, 16).tasks(), 3 * 5);  // 15 of 16 threads have one
    EXPECT_LE(PlaneCut(1000, 112, true, 16).tasks(), 24 * 16);
}

}  // namespace
}  // namespace mnnc
