// Exact Winograd convolutions of int8, F(4x4, 3x3): tiles of the input are transformed, multiplied point by point in 16
// bits, and transformed back to the sums that a direct product gives. Weights stay codes; each run transforms them,
// which takes a few percent of the time of its products where there are enough tiles to gain anything.
#include <algorithm>
#include <limits>
#include <vector>

#include "backends/cpu/kernels/chunks.h"
#include "backends/cpu/kernels/cpu_costs.h"
#include "backends/cpu/kernels/gemm/panels.h"
#include "backends/cpu/kernels/int8/int8_conv.h"
#include "backends/cpu/kernels/int8/int8_tiles.h"
#include "backends/cpu/kernels/int8/int8_winograd.h"
#include "base/checked.h"
#include "base/error.h"

namespace mnnc {
namespace {

constexpr int kPoints = kInt8WinogradPoints;

// Strides that are multiples of 4 KiB would put all points into one set of the first level cache.
int64_t pointNumbers(int64_t numbers, int64_t perLine) {
    return (ceilDiv(numbers, perLine) | 1) * perLine;
}

class Int8WinogradPlan final : public Int8SumPlan {
  public:
    Int8WinogradPlan(const Kernels& k, const ConvShape& shape)
        : k_(*k.int8),
          s_(shape),
          width_(2 * k_.lanes),
          ocb_(ceilDiv(shape.oc, k_.lanes)),
          depth_(ceilDiv(shape.ic, width_)),
          steps_(ceilDiv(shape.ic, 2)),
          parts_(ceilDiv(depth_ * width_, kInt8WinogradChannels / width_ * width_)),
          tilesW_(ceilDiv(shape.ow, kInt8WinogradOutputs)),
          tiles_(ceilDiv(shape.oh, kInt8WinogradOutputs) * tilesW_) {
        const CacheBudget& cache = k.costs->cache;
        const int all = tiles_ * s_.batch;
        const int64_t tileBytes = int64_t{kPoints} * depth_ * width_ * 2;
        // Fewer tiles would not fill the tiles of products, nor repay making or reading the weights once more.
        constexpr int64_t kMinTiles = 64;
        chunks_ =
            static_cast<int>(ceilDiv(int64_t{all}, std::max<int64_t>(kMinTiles, cache.winogradTransforms / tileBytes)));
        chunkTiles_ = ceilDiv(all, chunks_);
        panelBlocks_ = std::min(ocb_, bestPanelBlocks(int8Tiles(k.costs->cycles, k_, k.costs->cycles.tile.weight),
                                                      *k_.pairSums, std::min(chunkTiles_, kUsualPixels), ocb_));
        // Products of one block wait for their inputs, which costs more than weights that do not stay in the cache.
        while (panelBlocks_ > 2 && panelNumbers(panelBlocks_) * 2 > cache.winogradPanel) --panelBlocks_;
        groups_ = ceilDiv(chunkTiles_, 2 * k_.pairSums->maxRows[panelBlocks_]);
        inPoint_ = pointNumbers(int64_t{depth_} * chunkTiles_ * width_, 32);
        outPoint_ = pointNumbers(int64_t{panelBlocks_} * ceilDiv(chunkTiles_, groups_) * k_.lanes, 16);
        allAtOnce_ = chunks_ > 1 && ocb_ * panelNumbers(1) * 2 <= int64_t(k.costs->cycles.maxWinogradDequantized);
        for (const OutPanel& p : splitPanels(0, ocb_, panelBlocks_)) panels_.push_back(p);
    }

    std::string algorithm() const override { return format("int8 winograd4 %s", k_.name); }
    int64_t packedWeightBytes() const override { return firstAt() + int64_t{ocb_} * k_.lanes * 4; }
    std::string weightVariant() const override {
        return format("int8winograd4%s.p%d", k_.pairsApart ? "a" : "", k_.lanes);
    }

    int64_t scratchBytes(int threads) const override {
        return inBytes() + (allAtOnce_ ? weightBytes() : 0) + slots(threads) * slotBytes();
    }

    // Order in memory: [block][step][tap][P][2], or [2][P] (Int8Kernels::pairsApart), and the initial values of the
    // sums of (x + 128) * w: 128 times the sums of the weights.
    void packQuantized(const QuantizedWeightsView& weights, void* packed, ThreadPool& pool) const override {
        auto* first = reinterpret_cast<int32_t*>(static_cast<char*>(packed) + firstAt());
        parallelFor(pool, ocb_, [&](int b) {
            int8_t* out = static_cast<int8_t*>(packed) + b * blockBytes();
            std::fill_n(out, blockBytes(), int8_t{0});
            for (int l = 0; l < k_.lanes; ++l) {
                const int o = b * k_.lanes + l;
                uint32_t sum = 0;
                for (int c = 0; o < s_.oc && c < s_.ic; ++c)
                    for (int tap = 0; tap < kInt8WinogradTaps; ++tap) {
                        const int8_t code = weights.codes[(size_t(o) * s_.ic + c) * kInt8WinogradTaps + tap];
                        const int lane = k_.pairsApart ? c % 2 * k_.lanes + l : l * 2 + c % 2;
                        out[(int64_t{c / 2} * kInt8WinogradTaps + tap) * width_ + lane] = code;
                        sum += static_cast<uint32_t>(int{code});
                    }
                first[b * k_.lanes + l] = static_cast<int32_t>(128 * sum);
            }
        });
    }

    void run(const int8_t* src, const void* packed, int8_t* dst, float* floats, const Int8Post& post, void* scratch,
             ThreadPool& pool) const override {
        runAll({src, static_cast<const int8_t*>(packed), dst, floats, nullptr, &post}, scratch, pool);
    }

    void runSums(const int8_t* src, const void* packed, int32_t* sums, int padding, void* scratch,
                 ThreadPool& pool) const override {
        Int8Post post;
        post.padding = padding;
        runAll({src, static_cast<const int8_t*>(packed), nullptr, nullptr, sums, &post}, scratch, pool);
    }

  private:
    struct Job {
        const int8_t *src, *packed;
        int8_t* dst;  // one of these three is not null
        float* floats;
        int32_t* sums;
        const Int8Post* post;
    };

    // A range of the tiles of the batch.
    struct Range {
        int begin, end;
        int count() const { return end - begin; }
    };

    // The numbers of transformed weights of a point, and of all points.
    int64_t pointWeights(int nb) const { return pointNumbers(int64_t{steps_} * nb * width_, 32); }
    int64_t panelNumbers(int nb) const { return kPoints * pointWeights(nb); }

    int64_t blockBytes() const { return int64_t{steps_} * kInt8WinogradTaps * width_; }
    int64_t firstAt() const { return roundUp(ocb_ * blockBytes(), 64); }
    int64_t inBytes() const { return kPoints * inPoint_ * 2; }
    int64_t weightBytes() const { return static_cast<int64_t>(panels_.size()) * panelNumbers(panelBlocks_) * 2; }
    int64_t outBytes() const { return parts_ * kPoints * outPoint_ * 4; }
    // Returns the memory of one thread: the sums of a group of tiles, and the weights of a panel.
    int64_t slotBytes() const { return outBytes() + (allAtOnce_ ? 0 : panelNumbers(panelBlocks_) * 2); }
    int tasks() const { return static_cast<int>(panels_.size()) * (allAtOnce_ ? groups_ : 1); }
    int64_t slots(int threads) const { return std::clamp(threads, 1, tasks()); }

    // Calls body(image, its first and last tile, tiles before them) for the images of these tiles.
    template <typename Body>
    void eachImage(Range range, Body&& body) const {
        for (int t = range.begin; t < range.end;) {
            const int n = t / tiles_, next = std::min(range.end, (n + 1) * tiles_);
            body(n, t - n * tiles_, next - n * tiles_, t - range.begin);
            t = next;
        }
    }

    void runAll(const Job& job, void* scratch, ThreadPool& pool) const {
        char* memory = static_cast<char*>(scratch);
        auto* in = reinterpret_cast<int16_t*>(memory);
        auto* weights = reinterpret_cast<int16_t*>(memory + inBytes());
        char* slots = memory + inBytes() + (allAtOnce_ ? weightBytes() : 0);
        const int panels = static_cast<int>(panels_.size());
        if (allAtOnce_)
            parallelFor(pool, panels, [&](int p) { expand(job, p, weights + p * panelNumbers(panelBlocks_)); });
        for (int i = 0; i < chunks_; ++i) {
            const int all = tiles_ * s_.batch;
            const Range chunk{chunkBegin(all, i, chunks_), chunkBegin(all, i + 1, chunks_)};
            const int pieces = taskCount(depth_, chunk.count(), pool.threads());
            parallelFor(pool, depth_ * pieces, [&](int task) {
                transformInput(job, chunk, task / pieces, pieceOf(chunk, task % pieces, pieces), in);
            });
            parallelSlots(pool, tasks(), [&](int slot, int task) {
                auto* sums = reinterpret_cast<int32_t*>(slots + slot * slotBytes());
                if (allAtOnce_) {
                    const int p = task / groups_;
                    return runPanel(job, p, chunk, pieceOf(chunk, task % groups_, groups_), in,
                                    weights + p * panelNumbers(panelBlocks_), sums);
                }
                auto* own = reinterpret_cast<int16_t*>(slots + slot * slotBytes() + outBytes());
                expand(job, task, own);
                for (int g = 0; g < groups_; ++g) runPanel(job, task, chunk, pieceOf(chunk, g, groups_), in, own, sums);
            });
        }
    }

    static Range pieceOf(Range range, int i, int pieces) {
        return {range.begin + chunkBegin(range.count(), i, pieces),
                range.begin + chunkBegin(range.count(), i + 1, pieces)};
    }

    // Order in memory: [point][pair of blocks][tile of the chunk][2 P]
    void transformInput(const Job& job, Range chunk, int pair, Range range, int16_t* in) const {
        const int icb = ceilDiv(s_.ic, k_.lanes);
        const int64_t plane = int64_t{s_.ih} * s_.iw * k_.lanes;
        int16_t* to = in + (int64_t{pair} * chunk.count() + range.begin - chunk.begin) * width_;
        eachImage(range, [&](int n, int t0, int t1, int before) {
            Int8WinogradInput t;
            t.src = job.src + (int64_t{n} * icb + 2 * pair) * plane;
            t.blockStride = 2 * pair + 1 < icb ? plane : 0;
            t.ih = s_.ih, t.iw = s_.iw;
            t.padTop = s_.padTop, t.padLeft = s_.padLeft;
            t.tilesW = tilesW_;
            t.padding = job.post->padding;
            t.t0 = t0, t.t1 = t1;
            t.dst = to + int64_t{before} * width_;
            t.pointStride = inPoint_;
            k_.winograd->input(t);
        });
    }

    // Transforms the weights of a panel: [point][step][block of the panel][P][2].
    void expand(const Job& job, int panel, int16_t* to) const {
        const OutPanel& p = panels_[static_cast<size_t>(panel)];
        for (int b = 0; b < p.nb; ++b)
            k_.winograd->weights({job.packed + (p.block + b) * blockBytes(), steps_, to + b * width_,
                                  ptrdiff_t(p.nb) * width_, pointWeights(p.nb)});
    }

    void runPanel(const Job& job, int panel, Range chunk, Range group, const int16_t* in, const int16_t* weights,
                  int32_t* sums) const {
        static constexpr ptrdiff_t kNoOffset[1] = {0};
        const OutPanel& p = panels_[static_cast<size_t>(panel)];
        const int P = k_.lanes, m = group.count();
        Int8PanelArgs t{};
        t.pixelStride = width_ * 2;
        t.tapOffset = kNoOffset;
        t.taps = 1;
        t.fullSteps = P;
        t.blockStride = ptrdiff_t(chunk.count()) * width_ * 2;
        t.dstPixelStride = P;
        t.dstBlockStride = ptrdiff_t(m) * P;
        t.nb = p.nb;
        t.m = m;
        const int16_t* from = in + int64_t{group.begin - chunk.begin} * width_;
        for (int part = 0; part < parts_; ++part) {
            const int first = chunkBegin(depth_, part, parts_), end = chunkBegin(depth_, part + 1, parts_);
            const int channels = std::min(s_.ic, end * width_) - first * width_;
            t.fullBlocks = channels / width_;
            t.tailSteps = ceilDiv(channels % width_, 2);
            for (int point = 0; point < kPoints; ++point) {
                t.a = reinterpret_cast<const char*>(from + point * inPoint_ + int64_t{first} * chunk.count() * width_);
                t.w = reinterpret_cast<const char*>(weights + point * pointWeights(p.nb) +
                                                    int64_t{first} * P * p.nb * width_);
                t.sums = sums + (int64_t{part} * kPoints + point) * outPoint_;
                k_.pairSums->panel(t);
            }
        }
        for (int b = 0; b < p.nb; ++b) transformOutput(job, p.block + b, group, sums + int64_t{b} * m * P);
    }

    void transformOutput(const Job& job, int block, Range group, const int32_t* sums) const {
        const int P = k_.lanes;
        const Int8Post& post = *job.post;
        Int8PanelArgs results{};
        results.dstPixelStride = P;
        results.scale = post.scale ? post.scale + block * P : nullptr;
        results.offset = post.offset ? post.offset + block * P : nullptr;
        results.ratio = post.ratio;
        results.lo = post.lo;
        results.hi = post.hi;
        results.bounded = post.bounded;
        eachImage(group, [&](int n, int t0, int t1, int before) {
            const int64_t plane = (int64_t{n} * ocb_ + block) * s_.oh * s_.ow * P;
            results.dst = job.dst ? job.dst + plane : nullptr;
            results.floats = job.floats ? job.floats + plane : nullptr;
            results.sums = job.sums ? job.sums + plane : nullptr;
            Int8WinogradOutput t;
            t.src = sums + int64_t{before} * P;
            t.pointStride = outPoint_;
            t.partStride = kPoints * outPoint_;
            t.parts = parts_;
            t.oh = s_.oh, t.ow = s_.ow, t.tilesW = tilesW_;
            t.t0 = t0, t.t1 = t1;
            t.first = reinterpret_cast<const int32_t*>(job.packed + firstAt()) + block * P;
            t.post = &results;
            k_.winograd->output(t);
        });
    }

    const Int8Kernels& k_;
    const ConvShape s_;
    const int width_;  // channels of a pair of blocks
    const int ocb_;
    const int depth_;  // pairs of blocks
    const int steps_;  // pairs of channels
    const int parts_, tilesW_, tiles_;
    int chunks_ = 1, chunkTiles_ = 1, panelBlocks_ = 1;
    int groups_ = 1;          // of tiles in a chunk, which a panel multiplies one after another
    bool allAtOnce_ = false;  // all weights are transformed first, for all chunks
    int64_t inPoint_ = 0, outPoint_ = 0;
    std::vector<OutPanel> panels_;
};

}  // namespace

bool int8WinogradAccepts(const Kernels& k, const ConvShape& s, const Int8ConvOptions& options) {
    return k.int8->winograd && options.groups == 1 && !options.srcNchw && !options.minima && s.ic > 4 && s.kh == 3 &&
           s.kw == 3 && s.strideH == 1 && s.strideW == 1 && s.dilateH == 1 && s.dilateW == 1 &&
           int64_t{s.batch} * ceilDiv(s.oh, kInt8WinogradOutputs) * ceilDiv(s.ow, kInt8WinogradOutputs) <=
               std::numeric_limits<int>::max();
}

std::unique_ptr<Int8SumPlan> makeInt8WinogradPlan(const Kernels& k, const ConvShape& s) {
    return std::make_unique<Int8WinogradPlan>(k, s);
}

}  // namespace mnnc
