// Times the int8 kernels whose costs are part of the cost model.
#include <algorithm>
#include <climits>

#include "backends/cpu/kernels/costs/calibrate_timing.h"
#include "backends/cpu/kernels/int8/int8_winograd.h"

namespace mnnc {

namespace {

constexpr int kMapSide = 28;                     // of a map in the middle of a net
constexpr int64_t kMapBytes = int64_t{4} << 20;  // of all maps: they lie beyond the second level cache
constexpr int kTiles = kMapSide / (kInt8WinogradOutputs);

class Int8Calibration {
  public:
    Int8Calibration(const Kernels& k, double cycle, const std::function<void()>& check)
        : k_(k), cycle_(cycle), check_(check) {}

    // Returns the cycles for each vector of weights when a row of int8 is multiplied by a panel whose weights lie in
    // the second level cache.
    double rowWeight() const {
        const Int8Kernels& k = *k_.int8;
        static constexpr ptrdiff_t kNoOffset[1] = {0};
        alignas(64) static constexpr float kZero[4 * kMaxLanes] = {};
        const int P = k.lanes, nb = k.maxPanelBlocks, stepBytes = nb * P * 4;
        const int fullSteps = P * k.unit / 4;
        const int blocks = std::max(1, static_cast<int>(k_.costs->cache.int8Input / (int64_t{stepBytes} * fullSteps)));
        // Some kinds have sums behind their weights.
        AlignedBuffer weights = filled((size_t(blocks) * fullSteps + 1) * stepBytes / sizeof(float)),
                      source = filled(size_t(blocks) * P * k.unit / sizeof(float) + kMaxLanes),
                      out = filled(size_t(nb) * P);
        Int8PanelArgs t{};
        t.a = source.as<char>();
        t.pixelStride = ptrdiff_t(P) * k.unit;
        t.tapOffset = kNoOffset;
        t.taps = 1;
        t.fullBlocks = blocks;
        t.fullSteps = fullSteps;
        t.blockStride = ptrdiff_t(P) * k.unit;
        t.w = weights.as<char>();
        t.dst = out.as<int8_t>();
        t.dstPixelStride = P;
        t.dstBlockStride = P;
        t.scale = kZero;
        t.offset = kZero;
        t.ratio = 1;
        t.hi = 127;
        t.bounded = true;
        t.nb = nb;
        t.m = 1;
        const double taken = secondsOf(check_, [&] { k.panel(t); });
        return taken / cycle_ / (double(blocks) * fullSteps * nb);
    }

    // Transforms of exact Winograd convolutions. Each call takes the next block of maps and of transforms, as in
    // calibrate.cpp.
    struct Maps {
        int64_t planeBytes, slotBytes;
        ptrdiff_t pointStride;  // numbers of the transforms
        int blocks, slots;
        AlignedBuffer planes, transforms;
    };
    Maps maps(int numberBytes, int width) const {
        Maps m;
        m.planeBytes = int64_t{kMapSide} * kMapSide * k_.int8->lanes;
        m.pointStride = ((kTiles * kTiles * width) / 32 | 1) * 32 + 32;
        m.slotBytes = int64_t{kInt8WinogradPoints} * m.pointStride * numberBytes;
        m.blocks = static_cast<int>(kMapBytes / m.planeBytes) & ~1;
        m.slots = static_cast<int>(std::max<int64_t>(1, k_.costs->cache.winogradTransforms / m.slotBytes));
        m.planes = filled(static_cast<size_t>(m.blocks * m.planeBytes) / sizeof(float));
        m.transforms = filled(static_cast<size_t>(m.slots * m.slotBytes) / sizeof(float));
        return m;
    }

    // Returns the cycles to transform a block of channels of a tile's input.
    double in() const {
        Maps m = maps(sizeof(int16_t), 2 * k_.int8->lanes);
        int call = 0;
        const double taken = secondsOf(check_, [&] {
            Int8WinogradInput t{};
            t.src = m.planes.as<int8_t>() + (2 * call % m.blocks) * m.planeBytes;
            t.blockStride = static_cast<ptrdiff_t>(m.planeBytes);
            t.ih = t.iw = kMapSide;
            t.padTop = t.padLeft = 1;
            t.tilesW = kTiles;
            t.t1 = kTiles * kTiles;
            t.dst = reinterpret_cast<int16_t*>(m.transforms.as<char>() + (call % m.slots) * m.slotBytes);
            t.pointStride = m.pointStride;
            k_.int8->winograd->input(t);
            call = (call + 1) % (INT_MAX / 2);
        });
        return taken / cycle_ / (2.0 * kTiles * kTiles);
    }

    // Returns the cycles to transform the weights of a pair of channels for a block of outputs.
    double weights() const {
        constexpr int kSteps = 64, kTaps = 9;
        const int pair = 2 * k_.int8->lanes;
        const ptrdiff_t point = ptrdiff_t(kSteps) * pair + 32;
        AlignedBuffer codes = filled(size_t(kSteps) * kTaps * pair / sizeof(float)),
                      out = filled(kInt8WinogradPoints * size_t(point) / 2);
        const double taken = secondsOf(check_, [&] {
            k_.int8->winograd->weights({codes.as<int8_t>(), kSteps, out.as<int16_t>(), pair, point});
        });
        return taken / cycle_ / kSteps;
    }

    // Returns the cycles to transform a block of a tile's results.
    double out() const {
        const int P = k_.int8->lanes;
        alignas(64) static constexpr int32_t kFirst[kMaxLanes] = {};
        alignas(64) static constexpr float kScale[kMaxLanes] = {};
        Maps m = maps(sizeof(int32_t), P);
        Int8PanelArgs post{};
        post.dstPixelStride = P;
        post.scale = kScale;
        post.offset = kScale;
        post.ratio = 1;
        post.hi = 127;
        post.bounded = true;
        int call = 0;
        const double taken = secondsOf(check_, [&] {
            post.dst = m.planes.as<int8_t>() + (call % m.blocks) * m.planeBytes;
            Int8WinogradOutput t{};
            t.src = reinterpret_cast<const int32_t*>(m.transforms.as<char>() + (call % m.slots) * m.slotBytes);
            t.pointStride = m.pointStride;
            t.parts = 1;
            t.oh = t.ow = kMapSide;
            t.tilesW = kTiles;
            t.t1 = kTiles * kTiles;
            t.first = kFirst;
            t.post = &post;
            k_.int8->winograd->output(t);
            call = (call + 1) % INT_MAX;
        });
        return taken / cycle_ / (double(kTiles) * kTiles);
    }

  private:
    const Kernels& k_;
    const double cycle_;
    const std::function<void()>& check_;
};

}  // namespace

void calibrateInt8(const Kernels& k, double cycle, const std::function<void()>& check, CycleCosts& costs) {
    const Int8Calibration int8(k, cycle, check);
    costs.int8RowWeight = int8.rowWeight();
    if (!k.int8->winograd) return;
    costs.int8WinogradIn = int8.in();
    costs.int8WinogradWeights = int8.weights();
    costs.int8WinogradOut = int8.out();
}

}  // namespace mnnc
