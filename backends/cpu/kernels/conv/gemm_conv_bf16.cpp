// Rounds the source strip by strip, or completely where several tasks read it.
#include "backends/cpu/kernels/conv/gemm_conv_bf16.h"

#include <algorithm>

#include "backends/cpu/kernels/chunks.h"

namespace mnnc {

Bf16GemmConvPlan::Positions Bf16GemmConvPlan::positionsOf(int u0, int u1) const {
    const int step = geometry_.walks[0].step, first = u0 * step;
    return {first, std::min(height_ - first, (u1 - 1 - u0) * step + tapRows_)};
}

Bf16GemmConvPlan::Positions Bf16GemmConvPlan::allPositions() const {
    return geometry_.walks.size() > 1 ? Positions{0, height_} : positionsOf(0, geometry_.walks[0].units);
}

size_t Bf16GemmConvPlan::stripBytes(const Split& split) const {
    const OutputWalk& walk = geometry_.walks[0];
    const int positions = wholeStrip(split) ? allPositions().count
                                            : positionsOf(0, maxChunk(walk.units, split.chunks, tileUnits())).count;
    return wholeLines(size_t(icb_) * positions * walk.position * sizeof(uint16_t));
}

size_t Bf16GemmConvPlan::sourceBytes(int threads) const {
    size_t bytes = 0;
    for (int t = 1; t <= threads; ++t) {
        const Split split = splitOf(0, t);
        bytes = std::max(bytes, stripBytes(split) * (wholeStrip(split) ? 1 : t));
    }
    return bytes;
}

void Bf16GemmConvPlan::runImage(const GemmImage& image, ThreadPool& pool) const {
    const OutputWalk& walk = geometry_.walks[0];
    auto* strips = reinterpret_cast<uint16_t*>(image.memory);
    const auto source = [&](const uint16_t* strip, Positions positions) {
        return GemmSource<uint16_t>{strip, positions.count * walk.position, positions.first};
    };
    const Split split = splitOf(0, pool.threads());
    if (wholeStrip(split)) {
        const Positions all = allPositions();
        parallelRanges(pool, int64_t(icb_) * all.count, 4 * pool.threads(),
                       [&](int64_t begin, int64_t end) { fillStrip(image.src, all, strips, begin, end); });
        return runSource(image, source(strips, all), pool);
    }
    const size_t stride = stripBytes(split) / sizeof(uint16_t);
    parallelSlots(pool, split.chunks, [&](int slot, int chunk) {
        uint16_t* strip = strips + slot * stride;
        const int u0 = chunkBeginTiled(walk.units, chunk, split.chunks, tileUnits()),
                  u1 = chunkBeginTiled(walk.units, chunk + 1, split.chunks, tileUnits());
        const Positions positions = positionsOf(u0, u1);
        fillStrip(image.src, positions, strip, 0, int64_t(icb_) * positions.count);
        runPanels(image, source(strip, positions), 0, {0, panelCount()}, false, u0, u1, slot);
    });
}

}  // namespace mnnc
