// Winograd convolutions F(unit x unit, 3x3).
#include <atomic>
#include <vector>

#include "backends/cpu/kernels/conv_plans.h"
#include "backends/cpu/kernels/panels.h"
#include "base/error.h"

namespace mnnc {
namespace {

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
        // As many tiles at a time as the second level cache holds, but enough to fill the product's tiles.
        const long bytes = long(points_) * (icb_ + ocb_) * k.lanes * 4;
        chunkTiles_ = static_cast<int>(std::clamp<long>((768L << 10) / bytes, 27, 512));
        chunks_ = ceilDiv(tiles_, chunkTiles_);
        if (threads_ > 1 && chunks_ < 2 * threads_) {
            const int wanted = 2 * threads_;
            // Small weights: more, smaller chunks. Big ones: one chunk whose pieces the threads share.
            if (tiles_ / wanted >= 18) chunks_ = wanted;
        }
        chunkTiles_ = ceilDiv(tiles_, chunks_);
        chunks_ = ceilDiv(tiles_, chunkTiles_);
        panelBlocks_ = bestPanelBlocks(*k.panels, std::min(chunkTiles_, 72), ocb_);
        panels_ = cutPanels(0, ocb_, panelBlocks_);
        inPoint_ = pointStride(icb_);
        outPoint_ = pointStride(ocb_);
        slotFloats_ = roundUpFloats((inPoint_ + outPoint_) * points_);
        stripFloats_ = bf16_ ? roundUpFloats(size_t(icb_) * chunkTiles_ * k.lanes / 2) : 0;
    }

    size_t packedWeightBytes() const override {
        return pointWeights() * points_ * (bf16_ ? sizeof(uint16_t) : sizeof(float));
    }

    void packWeights(const float* weights, void* to, ThreadPool& pool) const override {
        if (bf16_) return packPairs(weights, static_cast<uint16_t*>(to), pool);
        const int P = k_.lanes;
        float* packed = static_cast<float*>(to);
        const auto point = static_cast<ptrdiff_t>(pointWeights());
        parallelFor(pool, ocb_, [&](int b) {
            const OutPanel* panel = panels_.data();
            while (b >= panel->block + panel->nb) ++panel;
            const int width = panel->nb * P, lanes = std::min(P, s_.oc - b * P);
            float* out = packed + size_t(panel->block) * P * s_.ic + (b - panel->block) * P;
            alignas(64) float g[9 * 16] = {};
            for (int c = 0; c < s_.ic; ++c) {
                for (int l = 0; l < lanes; ++l) {
                    const float* w = weights + ((size_t(b) * P + l) * s_.ic + c) * 9;
                    for (int i = 0; i < 9; ++i) g[i * P + l] = w[i];
                }
                k_.winograd->weight[unit_ / 2](g, out + size_t(c) * width, point);
            }
        });
    }

    std::string weightVariant() const override {
        return format("winograd%d.%sp%d.n%d", unit_, bf16_ ? "bf16." : "", k_.lanes, panelBlocks_);
    }

    size_t scratchBytes(int threads) const override {
        const int slots = shared() ? 1 : std::clamp(threads, 1, chunks_ * s_.batch);
        const int strips = std::clamp(threads, 1, std::max(slots, points_));
        return (roundUpFloats(size_t(ocb_) * k_.lanes) + slotFloats_ * slots + stripFloats_ * strips) *
               sizeof(float);
    }

    std::string algorithm() const override { return format("winograd%d%s", unit_, bf16_ ? ".bf16" : ""); }

    void run(const float* src, const void* packed, float* dst, const PostOps& post, void* scratch,
             ThreadPool& pool) const override {
        float* bias = static_cast<float*>(scratch);
        padBias(post.bias, s_.oc, ocb_ * k_.lanes, bias);
        float* slots = bias + roundUpFloats(size_t(ocb_) * k_.lanes);
        const int total = chunks_ * s_.batch;
        const Job job{src, packed, dst, bias, post};
        if (shared() || pool.threads() == 1) {
            for (int i = 0; i < total; ++i) runChunk(job, i, slots, slots + slotFloats_, pool);
            return;
        }
        const int threads = std::min(pool.threads(), total);
        float* strips = slots + threads * slotFloats_;
        // Chunks are independent: each thread takes one at a time through all three steps in its own cache.
        std::atomic<int> next{0};
        parallelFor(pool, threads, [&](int slot) {
            InlinePool alone;
            for (int i; (i = next.fetch_add(1, std::memory_order_relaxed)) < total;) {
                runChunk(job, i, slots + slot * slotFloats_, strips + slot * stripFloats_, alone);
            }
        });
    }

  private:
    struct Job {
        const float* src;
        const void* packed;
        float* dst;
        const float* bias;
        const PostOps& post;
    };

    // Too few chunks to keep the threads evenly busy: they share the work inside each.
    bool shared() const { return chunks_ * s_.batch < std::max(2, 2 * threads_); }

    // Elements of one point: channels in whole pairs for bf16.
    size_t pointWeights() const { return size_t(ocb_) * k_.lanes * rows(); }
    int rows() const { return bf16_ ? ceilDiv(s_.ic, 2) * 2 : s_.ic; }

    // Strides that are multiples of 4 KiB would put all points of a tile into one set of the first level
    // cache.
    size_t pointStride(int blocks) const {
        size_t lines = size_t(blocks) * chunkTiles_ * k_.lanes / 16 + 1;
        lines |= 1;
        return lines * 16;
    }

    void runChunk(const Job& job, int index, float* slot, float* strips, ThreadPool& pool) const {
        const int P = k_.lanes, n = index / chunks_, chunk = index % chunks_;
        const int t0 = cut(tiles_, chunk, chunks_), t1 = cut(tiles_, chunk + 1, chunks_), m = t1 - t0;
        const size_t inPlane = size_t(s_.ih) * s_.iw * P, outPlane = size_t(s_.oh) * s_.ow * P;
        float* v = slot;
        float* y = slot + inPoint_ * points_;
        const int threads = pool.threads();
        const int inSplit = threads == 1 ? 1 : std::clamp(ceilDiv(4 * threads, icb_), 1, m);
        parallelFor(pool, icb_ * inSplit, [&](int task) {
            const int b = task / inSplit, part = task % inSplit;
            const int from = cut(m, part, inSplit), to = cut(m, part + 1, inSplit);
            const WinogradIn t{job.src + (size_t(n) * icb_ + b) * inPlane,
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
        products(job, v, y, m, strips, pool);
        const int outSplit = threads == 1 ? 1 : std::clamp(ceilDiv(4 * threads, ocb_), 1, m);
        parallelFor(pool, ocb_ * outSplit, [&](int task) {
            const int b = task / outSplit, part = task % outSplit;
            const int from = cut(m, part, outSplit), to = cut(m, part + 1, outSplit);
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

    // One panel of one point: y = v x weights.
    template <typename T>
    PanelArgsOf<T> panelArgs(const OutPanel& p, int point, int m, const T* v, const T* weights,
                             float* y) const {
        static constexpr ptrdiff_t kNoOffset[1] = {0};
        alignas(64) static constexpr float kZero[4 * 16] = {};
        const int P = k_.lanes;
        PanelArgsOf<T> t;
        t.a = v;
        t.pixelStride = P;
        t.tapOffset = kNoOffset;
        t.taps = 1;
        t.fullBlocks = s_.ic / P;
        t.blockStride = ptrdiff_t(m) * P;
        t.tail = s_.ic % P;
        t.w = weights + point * pointWeights() + size_t(p.block) * P * rows();
        t.dst = y + point * outPoint_ + size_t(p.block) * m * P;
        t.dstPixelStride = P;
        t.dstBlockStride = ptrdiff_t(m) * P;
        t.residual = nullptr;
        t.bias = kZero;
        t.lo = -std::numeric_limits<float>::infinity();
        t.hi = std::numeric_limits<float>::infinity();
        t.act = Act::None;
        t.nb = p.nb;
        t.m = m;
        t.lastLanes = P;
        return t;
    }

    void products(const Job& job, const float* v, float* y, int m, float* strips, ThreadPool& pool) const {
        const int panels = static_cast<int>(panels_.size());
        if (!bf16_) {
            const auto* weights = static_cast<const float*>(job.packed);
            parallelFor(pool, points_ * panels, [&](int task) {
                const int point = task / panels;
                k_.panels->panel(
                    panelArgs(panels_[task % panels], point, m, v + point * inPoint_, weights, y));
            });
            return;
        }
        // Each point's input is rounded once, into a strip that its panels share.
        const auto* weights = static_cast<const uint16_t*>(job.packed);
        std::atomic<int> next{0};
        parallelFor(pool, std::min(pool.threads(), points_), [&](int thread) {
            auto* strip = reinterpret_cast<uint16_t*>(strips + thread * stripFloats_);
            for (int point; (point = next.fetch_add(1, std::memory_order_relaxed)) < points_;) {
                for (int b = 0; b < icb_; ++b) {
                    k_.bf16->convertBlock(v + point * inPoint_ + size_t(b) * m * k_.lanes, k_.lanes, m,
                                          std::min(k_.lanes, s_.ic - b * k_.lanes),
                                          strip + size_t(b) * m * k_.lanes);
                }
                for (const OutPanel& p : panels_) k_.bf16->panel(panelArgs(p, point, m, strip, weights, y));
            }
        });
    }

    void packPairs(const float* weights, uint16_t* packed, ThreadPool& pool) const {
        const int P = k_.lanes, pairs = rows() / 2;
        parallelFor(pool, ocb_, [&](int b) {
            const OutPanel* panel = panels_.data();
            while (b >= panel->block + panel->nb) ++panel;
            const int width = panel->nb * P, lanes = std::min(P, s_.oc - b * P);
            uint16_t* out = packed + size_t(panel->block) * P * rows() + (b - panel->block) * 2 * P;
            alignas(64) float g[9 * 16] = {};
            alignas(64) float u[2][64 * 16];
            for (int pair = 0; pair < pairs; ++pair) {
                for (int odd = 0; odd < 2; ++odd) {
                    const int c = 2 * pair + odd;
                    if (c >= s_.ic) {
                        std::fill(u[odd], u[odd] + points_ * P, 0.0f);
                        continue;
                    }
                    for (int l = 0; l < lanes; ++l) {
                        const float* w = weights + ((size_t(b) * P + l) * s_.ic + c) * 9;
                        for (int i = 0; i < 9; ++i) g[i * P + l] = w[i];
                    }
                    k_.winograd->weight[unit_ / 2](g, u[odd], P);
                }
                for (int point = 0; point < points_; ++point) {
                    k_.bf16->interleave(u[0] + point * P, u[1] + point * P, P,
                                        out + point * pointWeights() + size_t(pair) * 2 * width);
                }
            }
        });
    }

    const Kernels& k_;
    const ConvShape s_;
    const int unit_, points_, tilesW_, tiles_, icb_, ocb_, threads_;
    const bool bf16_;
    int chunkTiles_ = 0, chunks_ = 1, panelBlocks_ = 1;
    size_t inPoint_ = 0, outPoint_ = 0, slotFloats_ = 0, stripFloats_ = 0;
    std::vector<OutPanel> panels_;
};

}  // namespace

std::unique_ptr<ConvPlan> makeWinogradPlan(const Kernels& k, const ConvShape& shape, int unit,
                                           const ConvOptions& options) {
    return std::make_unique<WinogradPlan>(k, shape, unit, options);
}

}  // namespace mnnc
