// Each cost is the shortest of several timings of the kernel that it stands for, over memory of the size that the
// kernel has in a net, in cycles of a product in cache: the unit of the cost model.
#include "backends/cpu/kernels/costs/calibrate.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <limits>

#include "backends/cpu/kernels/chunks.h"
#include "backends/cpu/kernels/conv/few_outputs.h"
#include "backends/cpu/kernels/conv_kernels.h"
#include "backends/cpu/kernels/costs/calibrate_timing.h"
#include "backends/cpu/kernels/elementwise/elementwise.h"
#include "backends/cpu/kernels/gemm/panels.h"
#include "backends/cpu/kernels/winograd/winograd_weights.h"

namespace mnnc {

namespace {

class Calibration {
  public:
    Calibration(const Kernels& k, const std::function<void()>& check) : k_(k), check_(check) {}

    CycleCosts run() {
        CycleCosts costs = k_.costs->cycles;
        cycle_ = 1;
        const double product = productSeconds(kProductRows, kProductChannels);
        cycle_ = product / productCycles(kProductRows, kProductChannels);
        costs.winogradCall = callCycles();
        for (const int unit : {2, 4, 6}) {
            costs.winogradIn[unit / 2] = transformIn(unit);
            costs.winogradOut[unit / 2] = transformOut(unit);
            costs.winogradTaps[unit / 2] = transformTaps(unit);
        }
        measureFewOutputs(costs);
        costs.copy = copy();
        costs.dequantize = dequantize();
        if (k_.bf16) costs.winogradRound = round();
        calibrateInt8(k_, cycle_, check_, costs);
        costs.weightBytesPerCycle = bandwidth();
        return costs;
    }

  private:
    static constexpr int kProductRows = 4, kProductChannels = 128, kShortProduct = 16;
    static constexpr int kMapSide = 28;  // of a map in the middle of a net
    static constexpr size_t kMapBytes = 8 << 20;
    static constexpr int kBlocks = 8;

    template <typename Body>
    double seconds(Body&& body) const {
        return secondsOf(check_, body);
    }

    // Times a panel of the widest kind, `tiles` tiles high.
    double productSeconds(int tiles, int channels) const {
        const int P = k_.lanes, nb = k_.panels->maxPanelBlocks, m = tiles * k_.panels->maxRows[nb];
        AlignedBuffer source = filled(size_t(m) * channels), weights = filled(size_t(nb) * P * (channels + 1)),
                      out = filled(size_t(m) * nb * P);
        static constexpr ptrdiff_t kNoOffset[1] = {0};
        alignas(64) static constexpr float kZero[4 * kMaxLanes] = {};
        PanelArgs t;
        t.a = source.as<float>();
        t.pixelStride = P;
        t.tapOffset = kNoOffset;
        t.taps = 1;
        t.fullBlocks = channels / P;
        t.blockStride = ptrdiff_t(m) * P;
        t.tail = channels % P;
        t.w = weights.as<float>();
        t.next = weights.as<float>();
        t.dst = out.as<float>();
        t.dstPixelStride = P;
        t.dstBlockStride = ptrdiff_t(m) * P;
        t.residual = nullptr;
        t.bias = kZero;
        t.lo = -std::numeric_limits<float>::infinity();
        t.hi = std::numeric_limits<float>::infinity();
        t.act = Act::None;
        t.nb = nb;
        t.m = m;
        t.lastLanes = P;
        return seconds([&] { k_.panels->panel(t); });
    }
    double productCycles(int tiles, int channels) const {
        const int nb = k_.panels->maxPanelBlocks;
        return channels * gemmCycles(k_, tiles * k_.panels->maxRows[nb], nb, nb);
    }

    // Returns the cycles that a short product takes besides its multiply-adds, for each block of outputs.
    double callCycles() const {
        const double beyond =
            productSeconds(kProductRows, kShortProduct) / cycle_ - productCycles(kProductRows, kShortProduct);
        return std::clamp(beyond / k_.panels->maxPanelBlocks, 1.0, 1000.0);
    }

    // Returns the cycles that a product of the widest kind with a few outputs, `tiles` tiles high, takes besides its
    // multiply-adds.
    double fewOutputsBeyond(int tiles) const {
        constexpr int kOutputs = FewOutputsKernels::kMaxOutputs, kSteps = 16;
        const FewOutputsKernels& few = fewOutputsKernels(k_.id);
        const int P = k_.lanes, m = tiles * few.maxRows[kOutputs];
        AlignedBuffer source = filled(size_t(m) * kSteps * P), weights = filled(size_t(kOutputs) * kSteps * P),
                      out = filled(size_t(m) * P);
        static constexpr ptrdiff_t kNoOffset[1] = {0};
        static constexpr float kZero[kOutputs] = {};
        PanelArgs t{};
        t.a = source.as<float>();
        t.pixelStride = P;
        t.tapOffset = kNoOffset;
        t.taps = 1;
        t.fullBlocks = kSteps;
        t.blockStride = ptrdiff_t(m) * P;
        t.w = weights.as<float>();
        t.dst = out.as<float>();
        t.dstPixelStride = P;
        t.bias = kZero;
        t.lo = -std::numeric_limits<float>::infinity();
        t.hi = std::numeric_limits<float>::infinity();
        t.act = Act::None;
        t.nb = kOutputs;
        t.m = m;
        return seconds([&] { few.product(t, unaryKernels(k_.id).activate); }) / cycle_ -
               kSteps * gemmCycles(k_.costs->cycles.tile, few.maxRows, m, kOutputs, kOutputs);
    }

    // Two products give the costs: one of a single tile, one of several.
    void measureFewOutputs(CycleCosts& costs) const {
        constexpr int kTiles = 8;
        const double one = fewOutputsBeyond(1), several = fewOutputsBeyond(kTiles);
        const int outputs = FewOutputsKernels::kMaxOutputs;
        const int ofTile = outputs * fewOutputsKernels(k_.id).maxRows[outputs];
        costs.fewOutputsReduce = std::clamp((several - one) / ((kTiles - 1) * ofTile), 0.5, 100.0);
        costs.fewOutputsCall = std::clamp(one - ofTile * costs.fewOutputsReduce, 0.0, 1000.0);
    }

    // Together the blocks of maps are larger than the second level cache, as in a net; the transforms fill as much of
    // that cache as those of a chunk. Each call takes the next block of maps and of transforms.
    struct Maps {
        int tilesW, tiles, points;
        ptrdiff_t pointStride;
        int blocks, slots;
        AlignedBuffer planes, transforms;

        size_t slotFloats() const { return static_cast<size_t>(pointStride) * static_cast<size_t>(points); }
    };
    size_t planeFloats() const { return size_t(kMapSide) * kMapSide * k_.lanes; }
    Maps maps(int unit) const {
        Maps m;
        m.tilesW = ceilDiv(kMapSide, unit);
        m.tiles = m.tilesW * m.tilesW;
        m.points = (unit + 2) * (unit + 2);
        m.pointStride = ptrdiff_t((size_t(m.tiles) * k_.lanes / 16 + 1) | 1) * 16;
        m.blocks = static_cast<int>(kMapBytes / (planeFloats() * sizeof(float)));
        m.slots = static_cast<int>(std::max<size_t>(
            1, static_cast<size_t>(k_.costs->cache.winogradTransforms) / (m.slotFloats() * sizeof(float))));
        m.planes = filled(m.blocks * planeFloats());
        m.transforms = filled(m.slots * m.slotFloats());
        return m;
    }

    // Returns the cycles for a vector of one point of one tile. transform(plane, transforms) is called for one block.
    template <typename Transform>
    double transformCycles(Maps& m, Transform&& transform) const {
        int call = 0;
        const double taken = seconds([&] {
            transform(m.planes.as<float>() + (call % m.blocks) * planeFloats(),
                      m.transforms.as<float>() + (call % m.slots) * m.slotFloats());
            call = call == INT_MAX ? 0 : call + 1;
        });
        return taken / cycle_ / (double(m.tiles) * m.points);
    }

    double transformIn(int unit) const {
        Maps m = maps(unit);
        return transformCycles(m, [&](const float* plane, float* transforms) {
            k_.winograd->of({unit, 3}).in({plane, 0, kMapSide, kMapSide, 1, 1, unit, unit, m.tilesW, 0, m.tiles, false,
                                           transforms, m.pointStride});
        });
    }

    double transformOut(int unit) const {
        Maps m = maps(unit);
        alignas(64) static constexpr float kZero[kMaxLanes] = {};
        return transformCycles(m, [&](float* plane, const float* transforms) {
            k_.winograd->of({unit, 3}).out({transforms, m.pointStride, 0, 0, kMapSide, kMapSide, m.tilesW, 0, m.tiles,
                                            false, plane, ptrdiff_t(kMapSide) * k_.lanes, k_.lanes, nullptr, kZero, 0,
                                            std::numeric_limits<float>::infinity(), Act::None});
        });
    }

    // Transforms taps into a panel, a slice of channels at a time. In a net, maps are read and written between two
    // slices, so that the panel's memory is not in the second level cache; products prefetch the taps.
    double transformTaps(int unit) const {
        const int P = k_.lanes, nb = k_.panels->maxPanelBlocks, points = (unit + 2) * (unit + 2);
        const int channels = winogradSlice(k_, points * nb * P * int{sizeof(float)});
        const size_t line = size_t(9) * P;
        const ptrdiff_t point = (size_t(channels) * nb * P / 16 | 1) * 16;
        const size_t panel = static_cast<size_t>(point) * points;
        const int lines = nb * channels, slots = static_cast<int>(kMapBytes / (panel * sizeof(float))) + 1;
        AlignedBuffer taps = filled(lines * line), out = filled(slots * panel);
        int slot = 0;
        const double taken = seconds([&] {
            float* const to = out.as<float>() + slot * panel;
            slot = (slot + 1) % slots;
            for (int c = 0; c < channels; ++c)
                for (int b = 0; b < nb; ++b)
                    k_.winograd->of({unit, 3}).weight(taps.as<float>() + (b * size_t(channels) + c) * line,
                                                      to + (size_t(c) * nb + b) * P, point);
        });
        return taken / cycle_ / (double(nb) * channels * points);
    }

    // Copies the rows of a map into a map with a border.
    double copy() const {
        const size_t row = size_t(kMapSide) * k_.lanes, wide = row + 2 * k_.lanes;
        AlignedBuffer from = filled(kBlocks * kMapSide * row), to = filled(kBlocks * kMapSide * wide);
        const double taken = seconds([&] {
            for (int y = 0; y < kBlocks * kMapSide; ++y)
                std::memcpy(to.as<float>() + y * wide + k_.lanes, from.as<float>() + y * row, row * sizeof(float));
        });
        return taken / cycle_ / (double(kBlocks) * kMapSide * kMapSide);
    }

    double dequantize() const {
        constexpr int kRows = 512;
        const int width = k_.panels->maxPanelBlocks * k_.lanes;
        AlignedBuffer codes(int64_t{kRows} * width), out = filled(size_t(kRows) * width), scale = filled(width),
                                                     min = filled(width);
        std::memset(codes.data(), 3, codes.size());
        const double taken = seconds([&] {
            k_.dequant->s8(codes.as<int8_t>(), kRows, width, scale.as<float>(), min.as<float>(), out.as<float>());
        });
        return taken / cycle_ / (double(kRows) * k_.panels->maxPanelBlocks);
    }

    // Rounds floats to bf16; the cost is that of each vector of floats.
    double round() const {
        const size_t floats = kBlocks * planeFloats();
        AlignedBuffer from = filled(floats), to = filled(floats);
        const double taken = seconds([&] { k_.bf16->convert(from.as<float>(), floats, to.as<uint16_t>()); });
        return taken / cycle_ / (double(floats) / k_.lanes);
    }

    // Returns the bytes of memory that one core reads in a cycle, measured over more memory than the last level cache
    // of most CPUs.
    double bandwidth() const {
        constexpr int64_t kBytes = int64_t{96} << 20;
        constexpr int kPasses = 4;
        AlignedBuffer memory(kBytes);
        std::memset(memory.data(), 1, memory.size());
        const uint64_t* const words = memory.as<uint64_t>();
        volatile uint64_t sink = 0;
        double best = std::numeric_limits<double>::infinity();
        for (int pass = 0; pass < kPasses; ++pass) {
            check_();
            const double begin = secondsNow();
            uint64_t sums[8] = {};
            for (size_t i = 0; i + 8 <= memory.size() / sizeof(uint64_t); i += 8)
                for (size_t j = 0; j < 8; ++j) sums[j] += words[i + j];
            uint64_t all = 0;
            for (const uint64_t sum : sums) all += sum;
            sink = sink + all;
            best = std::min(best, secondsNow() - begin);
        }
        return static_cast<double>(kBytes) / (best / cycle_);
    }

    const Kernels& k_;
    const std::function<void()>& check_;
    double cycle_ = 1;  // seconds
};

}  // namespace

CycleCosts calibrate(const Kernels& k, const std::function<void()>& check) {
    return Calibration(k, check).run();
}

}  // namespace mnnc
