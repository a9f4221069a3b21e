// The taps of the phases of convolutions and the regions of outputs with equal taps, against their definitions; and
// shapes of small files that would take very long, or much memory, if they were walked output by output.
#include "backends/cpu/kernels/conv/conv_phases.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "conv_case.h"

namespace mnnc::test {
namespace {

std::vector<std::pair<ConvShape, bool>> smallShapes() {
    std::vector<std::pair<ConvShape, bool>> shapes;
    for (const int kernel : {1, 2, 3, 5})
        for (const int stride : {1, 2, 3})
            for (const int dilation : {1, 2, 6})
                for (const int pad : {-2, 0, 1, 4})
                    for (const bool transposed : {false, true}) {
                        ConvShape s = transposed ? transposedShape(1, 5, 6, 1, kernel, stride, dilation, pad, 1)
                                                 : shape(1, 15, 16, 1, kernel, stride, dilation, pad);
                        s.padLeft += 1;
                        if (s.oh > 0 && s.ow > 0) shapes.emplace_back(s, transposed);
                    }
    return shapes;
}

using Tap = std::tuple<int, int, int, int>;  // of the kernel; the place in the map

// Returns the taps of an output, in their order, that lie inside of the map.
std::vector<Tap> tapsInside(const ConvShape& s, bool transposed, int oy, int ox) {
    std::vector<Tap> taps;
    for (int ky = 0; ky < s.kh; ++ky)
        for (int kx = 0; kx < s.kw; ++kx) {
            int y = oy * s.strideH + ky * s.dilateH - s.padTop, x = ox * s.strideW + kx * s.dilateW - s.padLeft;
            if (transposed) {
                y = oy + s.padTop - ky * s.dilateH;
                x = ox + s.padLeft - kx * s.dilateW;
                if (y % s.strideH != 0 || x % s.strideW != 0) continue;
                y /= s.strideH;
                x /= s.strideW;
            }
            if (y >= 0 && y < s.ih && x >= 0 && x < s.iw) taps.emplace_back(ky, kx, y, x);
        }
    return taps;
}

TEST(ConvPhases, RegionsHaveTheTapsInsideOfTheMap) {
    size_t compared = 0;
    for (const auto& [s, transposed] : smallShapes()) {
        const int phaseY = transposed ? s.strideH : 1, phaseX = transposed ? s.strideW : 1;
        const int stepY = transposed ? 1 : s.strideH, stepX = transposed ? 1 : s.strideW;
        const std::vector<ConvPhase> phases = convPhases(s, transposed);
        const std::vector<TapRegion> regions = tapRegions(s, transposed, 10000);
        std::set<std::pair<int, int>> outputs;
        for (const TapRegion& region : regions)
            for (int y = region.y; y < region.y + region.rows; ++y)
                for (int x = region.x; x < region.x + region.cols; ++x) {
                    const ConvPhase& phase = phases[region.phase];
                    const int oy = y * phaseY + phase.py, ox = x * phaseX + phase.px;
                    std::vector<Tap> taps;
                    for (const int i : region.taps) {
                        const ConvTap& tap = phase.taps[static_cast<size_t>(i)];
                        taps.emplace_back(tap.ky, tap.kx, y * stepY + tap.dy, x * stepX + tap.dx);
                    }
                    ASSERT_EQ(taps, tapsInside(s, transposed, oy, ox)) << oy << ", " << ox;
                    ASSERT_TRUE(outputs.emplace(oy, ox).second) << oy << ", " << ox;
                }
        ASSERT_EQ(outputs.size(), size_t(s.oh) * s.ow);
        compared += regions.size();
    }
    EXPECT_GT(compared, 5000u);
}

// There are 2^14 phases and 2^20 rows of the kernel, but each row belongs to one phase.
TEST(ConvPhases, ManyPhasesOfATallKernelTakeNoTime) {
    ConvShape s = transposedShape(1, 1, 1, 1, 1, 1, 1, 0);
    s.kh = s.oh = 1 << 20;
    s.strideH = 1 << 14;
    for (const bool turned : {false, true}) {
        if (turned) {
            std::swap(s.kh, s.kw);
            std::swap(s.oh, s.ow);
            std::swap(s.strideH, s.strideW);
        }
        const std::vector<ConvPhase> phases = convPhases(s, true);
        EXPECT_EQ(phases.size(), size_t{1} << 14);
        for (const ConvPhase& phase : phases) ASSERT_EQ(phase.taps.size(), 64u);
    }
}

// Nearly all outputs read only the border.
TEST(ConvPhases, RegionsOfWideBordersTakeNoTime) {
    ConvShape s = shape(8, 1, 1, 1, 1);
    s.kw = 3;
    s.padLeft = 1 << 28;
    s.ow = (1 << 29) - 1;
    const std::vector<TapRegion> regions = tapRegions(s, false, 81);
    ASSERT_EQ(regions.size(), 5u);
    int64_t outputs = 0;
    for (const TapRegion& region : regions) outputs += region.cols;
    EXPECT_EQ(outputs, s.ow);
}

TEST(ConvPhases, ThereAreNoRegionsWithVeryManyTaps) {
    EXPECT_EQ(tapRegions(shape(1, 20, 20, 1, 20, 1, 1, 4), false, 256).size(), 81u);
    EXPECT_TRUE(tapRegions(shape(1, 600, 600, 1, 600, 1, 1, 4), false, 256).empty());
}

// The only output lies between those that a tap reaches.
TEST(ConvPhases, AnOutputWithoutTapsReadsNoRow) {
    const ConvShape s = transposedShape(1, 2, 2, 1, 1, 2, 1, 1);
    const std::vector<ConvPhase> phases = convPhases(s, true);
    ASSERT_EQ(phases.size(), 1u);
    EXPECT_TRUE(phases[0].taps.empty());
    EXPECT_EQ(tapExtent(s, phases, 1, 1).tapRows, 0);
}

}  // namespace
}  // namespace mnnc::test
