// Winograd convolutions F(unit x unit, 3x3).
#include <vector>

#include "backends/cpu/kernels/conv_plans.h"
#include "backends/cpu/kernels/dequant_panels.h"
#include "backends/cpu/kernels/pack.h"
#include "backends/cpu/kernels/panels.h"
#include "base/error.h"

namespace mnnc {
namespace {

constexpr size_t kExpandedBytes = 300 << 10;  // about what transformed weights made for a panel may take

// The taps of one channel after the other for one block of output channels: 9 rows of P floats. Made for a few
// channels at a time.
class FloatTaps {
  public:
    // `weights`: those of the block.
    FloatTaps(const Kernels& k, const float* weights, const ConvShape& s, int block)
        : pack_(*k.pack),
          weights_(weights),
          ic_(s.ic),
          lanes_(k.lanes),
          real_(std::min(k.lanes, s.oc - block * k.lanes)) {}

    const float* channel(int c) {
        if (c % kChannels == 0)
            pack_.rowsToBlock(weights_ + size_t(c) * 9, size_t(ic_) * 9, real_,
                              size_t(std::min(kChannels, ic_ - c)) * 9, taps_);
        return taps_ + c % kChannels * 9 * lanes_;
    }

  private:
    static constexpr int kChannels = 8;
    alignas(64) float taps_[kChannels * 9 * 16];
    const PackKernels& pack_;
    const float* weights_;
    int ic_, lanes_, real_;
};

class QuantizedTaps {
  public:
    QuantizedTaps(const DequantPanels& codes, const void* packed, int lanes, int block)
        : dequant_(codes), packed_(packed), lanes_(lanes), block_{block, 1} {}

    const float* channel(int c) {
        if (c % kChannels == 0)
            dequant_.expand(packed_, block_, c * 9, std::min(kChannels * 9, dequant_.rows() - c * 9), taps_);
        return taps_ + c % kChannels * 9 * lanes_;
    }

  private:
    static constexpr int kChannels = 8;
    alignas(64) float taps_[kChannels * 9 * 16];
    const DequantPanels& dequant_;
    const void* packed_;
    int lanes_;
    OutPanel block_;
};

class WinogradPlan final : public ConvPlan {
  public:
    WinogradPlan(const Kernels& k, const ConvShape& shape, int unit, const ConvOptions& options)
        : k_(k),
          s_(shape),
          unit_(unit),
          points_((unit + 2) * (unit + 2)),
          tilesW_(ceilDiv(shape.ow, unit)),
          tiles_(ceilDiv(shape.oh, unit) * tilesW_),
          icb_(ceilDiv(shape.ic, k.lanes)),
          ocb_(ceilDiv(shape.oc, k.lanes)),
          threads_(options.threads),
          bf16_(options.bf16) {
        chunks_ = winogradChunks(k, shape, unit);
        if (threads_ > 1 && chunks_ < 4 * threads_) {
            const int wanted = taskCount(chunks_, tiles_, threads_);
            // Small weights: more, smaller chunks. Big ones: one chunk whose pieces the threads share.
            if (tiles_ / (chunks_ * wanted) >= 18) chunks_ *= wanted;
        }
        chunkTiles_ = ceilDiv(tiles_, chunks_);
        byRows_ = options.byRows && s_.batch == 1 && tilesW_ <= 2 * chunkTiles_;
        if (byRows_) {
            // Whole rows of tiles: at each end of a chunk two rows of the input are made once more.
            step_ = tilesW_;
            chunkTiles_ = std::max(1, (chunkTiles_ + tilesW_ / 2) / tilesW_) * tilesW_;
            rowFloats_ = size_t(std::min(s_.ih, chunkTiles_ / tilesW_ * unit_ + 2)) * s_.iw * k_.lanes;
        }
        chunks_ = ceilDiv(tiles_, chunkTiles_);
        panelBlocks_ = bestPanelBlocks(*k.panels, std::min(chunkTiles_, 72), ocb_);
        if (options.quantization.bits) {
            dequant_ = DequantPanels(k, options.quantization, shape, DequantPanels::Rows::ChannelMajor);
            // With one chunk each panel's weights are made when it is its turn, a slice of channels at a time so
            // that they stay in the second level cache; else all of them first.
            perPanel_ = chunks_ * s_.batch == 1;
            if (perPanel_) {
                const size_t channel = size_t(points_) * panelBlocks_ * k.lanes * elementBytes();
                slice_ = std::max(static_cast<int>(kExpandedBytes / channel), 64) / 16 * 16;
            }
        }
        panels_ = splitPanels(0, ocb_, panelBlocks_);
        inPoint_ = pointStride(icb_);
        outPoint_ = pointStride(ocb_);
        slotFloats_ = roundUpFloats((inPoint_ + outPoint_) * points_);
        stripFloats_ = bf16_ ? roundUpFloats(size_t(icb_) * chunkTiles_ * k.lanes / 2) : 0;
    }

    size_t packedWeightBytes() const override {
        return dequant_.used() ? dequant_.bytes() : pointWeights() * points_ * elementBytes();
    }

    void packWeights(const WeightReader& weights, void* packed, ThreadPool& pool) const override {
        const auto end = [&](int b) { return size_t(std::min(s_.oc, (b + 1) * k_.lanes)) * s_.ic * 9; };
        packInChunks(pool, ocb_, weights, end, [&](int b, const float* own) {
            FloatTaps taps(k_, own, s_, b);
            transformInto(packed, b, taps);
        });
    }

    bool keepsCodes() const override { return dequant_.used(); }

    void packCodes(const QuantizedWeights& weights, void* packed, ThreadPool& pool) const override {
        parallelFor(pool, ocb_, [&](int b) { dequant_.pack(weights, {b, 1}, packed); });
    }

    std::string weightVariant() const override {
        if (dequant_.used()) return dequant_.variant() + format("winograd.p%d", k_.lanes);
        return format("winograd%d.%sp%d.n%d", unit_, bf16_ ? "bf16." : "", k_.lanes, panelBlocks_);
    }

    size_t scratchBytes(int threads) const override {
        const int slots = shared() ? 1 : std::clamp(threads, 1, chunks_ * s_.batch);
        const int strips = perPanel_ ? points_ : std::clamp(threads, 1, std::max(slots, points_));
        return (roundUpFloats(size_t(ocb_) * k_.lanes) + (slotFloats_ + rowFloats_) * slots +
                stripFloats_ * strips) *
                   sizeof(float) +
               expandedBytes() * (perPanel_ ? std::max(1, threads) : 1);
    }

    std::string algorithm() const override {
        return format("winograd%d%s", unit_, bf16_ ? ".bf16" : "") + dequant_.suffix();
    }

    void run(const float* src, const void* packed, float* dst, const PostOps& post, void* scratch,
             ThreadPool& pool) const override {
        run(Job{src, nullptr, packed, dst, nullptr, post, nullptr}, scratch, pool);
    }

    // Of few chunks the threads share each: they would make the same rows.
    bool readsRows() const override { return byRows_ && !shared(); }

    void runRows(const RowSource& src, const void* packed, float* dst, const PostOps& post, void* scratch,
                 ThreadPool& pool) const override {
        run(Job{nullptr, &src, packed, dst, nullptr, post, nullptr}, scratch, pool);
    }

  private:
    struct Job {
        const float* src;
        const RowSource* rows;  // in place of src
        const void* weights;    // transformed, or the codes when each panel is expanded for itself
        float* dst;
        const float* bias;
        const PostOps& post;
        char* expanded;  // memory for transformed weights
    };

    // Memory of one thread.
    struct Slot {
        float *transforms, *strip, *rows;
    };

    void run(Job job, void* scratch, ThreadPool& pool) const {
        const PostOps& post = job.post;
        float* bias = static_cast<float*>(scratch);
        padBias(post.bias, s_.oc, ocb_ * k_.lanes, bias);
        float* slots = bias + roundUpFloats(size_t(ocb_) * k_.lanes);
        const int total = chunks_ * s_.batch;
        const bool together = shared() || pool.threads() == 1;
        const int threads = together ? 1 : std::min(pool.threads(), total);
        float* rows = slots + threads * slotFloats_;
        float* strips = rows + threads * rowFloats_;
        job.bias = bias;
        if (dequant_.used()) {
            const int stripCount =
                perPanel_ ? points_ : std::clamp(pool.threads(), 1, std::max(threads, points_));
            job.expanded = reinterpret_cast<char*>(strips + stripCount * stripFloats_);
            if (!perPanel_) {
                parallelFor(pool, ocb_, [&](int b) {
                    QuantizedTaps taps(dequant_, job.weights, k_.lanes, b);
                    transformInto(job.expanded, b, taps);
                });
                job.weights = job.expanded;
            }
        }
        if (together) {
            for (int i = 0; i < total; ++i) runChunk(job, i, {slots, strips, rows}, pool);
            return;
        }
        // Chunks are independent: each thread takes one at a time through all three steps in its own cache.
        parallelSlots(pool, total, [&](int slot, int i) {
            InlinePool alone;
            runChunk(job, i,
                     {slots + slot * slotFloats_, strips + slot * stripFloats_, rows + slot * rowFloats_},
                     alone);
        });
    }

    size_t elementBytes() const { return bf16_ ? sizeof(uint16_t) : sizeof(float); }
    size_t expandedBytes() const {
        if (!dequant_.used()) return 0;
        const size_t stride =
            perPanel_ ? weightStride(panelBlocks_, std::min(slice_, s_.ic)) : pointWeights();
        return (stride * points_ * elementBytes() + 63) / 64 * 64;
    }

    // Too few chunks to keep the threads evenly busy: they share the work inside each.
    bool shared() const { return chunks_ * s_.batch < std::max(2, 2 * threads_); }

    // Elements from one point's weights to the next one's: channels in whole pairs for bf16, and an odd number
    // of cache lines, because all points of a channel are written at a time.
    size_t weightStride(int blocks, int channels) const {
        const size_t line = 64 / elementBytes();
        return ((size_t(blocks) * k_.lanes * rows(channels) + line - 1) / line | 1) * line;
    }
    size_t pointWeights() const { return weightStride(ocb_, s_.ic); }
    int rows(int channels) const { return bf16_ ? ceilDiv(channels, 2) * 2 : channels; }
    int rows() const { return rows(s_.ic); }

    // Strides that are multiples of 4 KiB would put all points of a tile into one set of the first level
    // cache.
    size_t pointStride(int blocks) const {
        size_t lines = size_t(blocks) * chunkTiles_ * k_.lanes / 16 + 1;
        lines |= 1;
        return lines * 16;
    }

    // The planes of a block of image n that tiles t0 .. t1 read, and the row that they begin with.
    struct Planes {
        const float* src;
        int firstRow;
    };
    Planes planesOf(const Job& job, int n, int block, int t0, int t1, float* rows) const {
        if (!job.rows) return {job.src + (size_t(n) * icb_ + block) * s_.ih * s_.iw * k_.lanes, 0};
        const int first = std::clamp(t0 / tilesW_ * unit_ - s_.padTop, 0, s_.ih);
        const int end = std::clamp((t1 - 1) / tilesW_ * unit_ - s_.padTop + unit_ + 2, first, s_.ih);
        return {job.rows->rows(block, first, end, rows), first};
    }

    void runChunk(const Job& job, int index, const Slot& slot, ThreadPool& pool) const {
        const int P = k_.lanes, n = index / chunks_, chunk = index % chunks_, steps = tiles_ / step_;
        const int t0 = chunkBegin(steps, chunk, chunks_) * step_,
                  t1 = chunkBegin(steps, chunk + 1, chunks_) * step_;
        const int m = t1 - t0;
        const size_t outPlane = size_t(s_.oh) * s_.ow * P;
        float* v = slot.transforms;
        float* y = v + inPoint_ * points_;
        const int threads = pool.threads();
        const int inSplit = threads == 1 ? 1 : std::clamp(ceilDiv(4 * threads, icb_), 1, m);
        parallelFor(pool, icb_ * inSplit, [&](int task) {
            const int b = task / inSplit, part = task % inSplit;
            const int from = chunkBegin(m, part, inSplit), to = chunkBegin(m, part + 1, inSplit);
            const Planes planes = planesOf(job, n, b, t0 + from, t0 + to, slot.rows);
            const WinogradIn t{planes.src,
                               planes.firstRow,
                               s_.ih,
                               s_.iw,
                               s_.padTop,
                               s_.padLeft,
                               tilesW_,
                               t0 + from,
                               t0 + to,
                               v + (size_t(b) * m + from) * P,
                               static_cast<ptrdiff_t>(inPoint_)};
            k_.winograd->in[unit_ / 2](t);
        });
        products(job, v, y, m, slot.strip, pool);
        const int outSplit = threads == 1 ? 1 : std::clamp(ceilDiv(4 * threads, ocb_), 1, m);
        parallelFor(pool, ocb_ * outSplit, [&](int task) {
            const int b = task / outSplit, part = task % outSplit;
            const int from = chunkBegin(m, part, outSplit), to = chunkBegin(m, part + 1, outSplit);
            const size_t plane = (size_t(n) * ocb_ + b) * outPlane;
            const WinogradOut t{y + (size_t(b) * m + from) * P,
                                static_cast<ptrdiff_t>(outPoint_),
                                s_.oh,
                                s_.ow,
                                tilesW_,
                                t0 + from,
                                t0 + to,
                                job.dst + plane,
                                job.post.residual ? job.post.residual + plane : nullptr,
                                job.bias + b * P,
                                job.post.lo,
                                job.post.hi,
                                job.post.act};
            k_.winograd->out[unit_ / 2](t);
        });
    }

    // Block b of output channels at its place among all panels' weights.
    template <typename Taps>
    void transformInto(void* packed, int b, Taps& taps) const {
        const OutPanel* panel = panels_.data();
        while (b >= panel->block + panel->nb) ++panel;
        const size_t at = size_t(panel->block) * k_.lanes * rows();
        const auto point = static_cast<ptrdiff_t>(pointWeights());
        if (bf16_)
            transform(*panel, b, taps, {0, s_.ic}, static_cast<uint16_t*>(packed) + at, point);
        else
            transform(*panel, b, taps, {0, s_.ic}, static_cast<float*>(packed) + at, point);
    }

    struct Channels {
        int first, end;
    };

    // Block b of a panel that begins at out.
    template <typename Taps>
    void transform(const OutPanel& panel, int b, Taps& taps, Channels channels, float* out,
                   ptrdiff_t point) const {
        const int P = k_.lanes, width = panel.nb * P;
        out += (b - panel.block) * P;
        for (int c = channels.first; c < channels.end; ++c, out += width)
            k_.winograd->weight[unit_ / 2](taps.channel(c), out, point);
    }

    template <typename Taps>
    void transform(const OutPanel& panel, int b, Taps& taps, Channels channels, uint16_t* out,
                   ptrdiff_t point) const {
        const int P = k_.lanes, width = panel.nb * P;
        out += (b - panel.block) * 2 * P;
        alignas(64) float u[2][64 * 16];
        for (int c = channels.first; c < channels.end; c += 2, out += 2 * width) {
            k_.winograd->weight[unit_ / 2](taps.channel(c), u[0], P);
            if (c + 1 < channels.end)
                k_.winograd->weight[unit_ / 2](taps.channel(c + 1), u[1], P);
            else
                std::fill(u[1], u[1] + points_ * P, 0.0f);
            for (int i = 0; i < points_; ++i)
                k_.bf16->interleave(u[0] + i * P, u[1] + i * P, P, out + i * point);
        }
    }

    // A panel's weights and how far apart their points are.
    template <typename T>
    struct PanelWeights {
        const T* data;
        size_t point;
    };

    template <typename T>
    PanelWeights<T> expandPanel(const Job& job, const OutPanel& panel, Channels channels, int slot) const {
        auto* out = reinterpret_cast<T*>(job.expanded + slot * expandedBytes());
        const size_t point = weightStride(panel.nb, channels.end - channels.first);
        for (int b = panel.block; b < panel.block + panel.nb; ++b) {
            QuantizedTaps taps(dequant_, job.weights, k_.lanes, b);
            transform(panel, b, taps, channels, out, static_cast<ptrdiff_t>(point));
        }
        return {out, point};
    }

    template <typename T>
    PanelWeights<T> storedPanel(const Job& job, const OutPanel& panel) const {
        return {static_cast<const T*>(job.weights) + size_t(panel.block) * k_.lanes * rows(), pointWeights()};
    }

    // One panel of one point: y = v x weights over these channels.
    template <typename T>
    PanelArgsOf<T> panelArgs(const OutPanel& p, Channels channels, int point, int m, const T* v,
                             const PanelWeights<T>& weights, float* y) const {
        static constexpr ptrdiff_t kNoOffset[1] = {0};
        alignas(64) static constexpr float kZero[4 * 16] = {};
        const int P = k_.lanes;
        PanelArgsOf<T> t;
        t.pixelStride = P;
        t.tapOffset = kNoOffset;
        t.taps = 1;
        const int count = channels.end - channels.first;
        t.a = v + ptrdiff_t(channels.first / P) * m * P;
        t.fullBlocks = count / P;
        t.blockStride = ptrdiff_t(m) * P;
        t.tail = count % P;
        t.w = weights.data + point * weights.point;
        t.dst = y + point * outPoint_ + size_t(p.block) * m * P;
        t.dstPixelStride = P;
        t.dstBlockStride = ptrdiff_t(m) * P;
        t.residual = channels.first ? t.dst : nullptr;  // further slices are added
        t.bias = kZero;
        t.lo = -std::numeric_limits<float>::infinity();
        t.hi = std::numeric_limits<float>::infinity();
        t.act = Act::None;
        t.nb = p.nb;
        t.m = m;
        t.lastLanes = P;
        return t;
    }

    // A point's input as bf16, rounded once for all panels.
    void fillStrip(const float* v, int m, uint16_t* strip) const {
        const int P = k_.lanes;
        for (int b = 0; b < icb_; ++b) {
            const size_t at = size_t(b) * m * P;
            k_.bf16->convertBlock(v + at, P, m, std::min(P, s_.ic - b * P), strip + at);
        }
    }

    void products(const Job& job, const float* v, float* y, int m, float* strips, ThreadPool& pool) const {
        const int panels = static_cast<int>(panels_.size());
        const auto strip = [&](int i) { return reinterpret_cast<uint16_t*>(strips + i * stripFloats_); };
        if (perPanel_) {
            if (bf16_)
                parallelFor(pool, points_,
                            [&](int point) { fillStrip(v + point * inPoint_, m, strip(point)); });
            for (int c = 0; c < s_.ic; c += slice_) {
                const Channels slice{c, std::min(s_.ic, c + slice_)};
                parallelSlots(pool, panels, [&](int slot, int i) {
                    const OutPanel& p = panels_[i];
                    if (bf16_) {
                        const auto weights = expandPanel<uint16_t>(job, p, slice, slot);
                        for (int point = 0; point < points_; ++point)
                            k_.bf16->panel(panelArgs<uint16_t>(p, slice, point, m, strip(point), weights, y));
                    } else {
                        const auto weights = expandPanel<float>(job, p, slice, slot);
                        for (int point = 0; point < points_; ++point)
                            k_.panels->panel(panelArgs(p, slice, point, m, v + point * inPoint_, weights, y));
                    }
                });
            }
            return;
        }
        if (bf16_) {
            parallelSlots(pool, points_, [&](int slot, int point) {
                fillStrip(v + point * inPoint_, m, strip(slot));
                for (const OutPanel& p : panels_)
                    k_.bf16->panel(panelArgs<uint16_t>(p, {0, s_.ic}, point, m, strip(slot),
                                                       storedPanel<uint16_t>(job, p), y));
            });
            return;
        }
        parallelFor(pool, points_ * panels, [&](int task) {
            const int point = task / panels;
            const OutPanel& p = panels_[task % panels];
            k_.panels->panel(
                panelArgs(p, {0, s_.ic}, point, m, v + point * inPoint_, storedPanel<float>(job, p), y));
        });
    }

    const Kernels& k_;
    const ConvShape s_;
    const int unit_, points_, tilesW_, tiles_, icb_, ocb_, threads_;
    const bool bf16_;
    bool byRows_ = false;
    bool perPanel_ = false;
    DequantPanels dequant_;
    int chunkTiles_ = 0, chunks_ = 1, panelBlocks_ = 1;
    int step_ = 1;   // chunks are whole multiples of so many tiles
    int slice_ = 0;  // channels whose weights are made at a time, with perPanel_
    size_t inPoint_ = 0, outPoint_ = 0, slotFloats_ = 0, stripFloats_ = 0, rowFloats_ = 0;
    std::vector<OutPanel> panels_;
};

}  // namespace

int winogradChunks(const Kernels& k, const ConvShape& shape, int unit) {
    const int tiles = ceilDiv(shape.oh, unit) * ceilDiv(shape.ow, unit), points = (unit + 2) * (unit + 2);
    const int blocks = ceilDiv(shape.ic, k.lanes) + ceilDiv(shape.oc, k.lanes);
    const long bytes = long(points) * blocks * k.lanes * long(sizeof(float));
    return ceilDiv(tiles, static_cast<int>(std::clamp<long>((512L << 10) / bytes, 27, 512)));
}

std::unique_ptr<ConvPlan> makeWinogradPlan(const Kernels& k, const ConvShape& shape, int unit,
                                           const ConvOptions& options) {
    return std::make_unique<WinogradPlan>(k, shape, unit, options);
}

}  // namespace mnnc
