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
    WinogradPlan(const Kernels& k, const ConvShape& shape, int unit, int threads)
        : k_(k),
          s_(shape),
          unit_(unit),
          points_((unit + 2) * (unit + 2)),
          tilesW_(ceilDiv(shape.ow, unit)),
          tiles_(ceilDiv(shape.oh, unit) * tilesW_),
          icb_(ceilDiv(shape.ic, k.lanes)),
          ocb_(ceilDiv(shape.oc, k.lanes)),
          threads_(threads) {
        // As many tiles at a time as the second level cache holds, but enough to fill the product's tiles.
        const long bytes = long(points_) * (icb_ + ocb_) * k.lanes * 4;
        chunkTiles_ = static_cast<int>(std::clamp<long>((768L << 10) / bytes, 27, 512));
        chunks_ = ceilDiv(tiles_, chunkTiles_);
        if (threads > 1 && chunks_ < 2 * threads) {
            const int wanted = 2 * threads;
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
    }

    size_t packedWeightFloats() const override { return pointWeights() * points_; }

    void packWeights(const float* weights, float* packed, ThreadPool& pool) const override {
        const int P = k_.lanes;
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
        return format("winograd%d.p%d.n%d", unit_, k_.lanes, panelBlocks_);
    }

    size_t scratchBytes(int threads) const override {
        const int slots = shared() ? 1 : std::clamp(threads, 1, chunks_ * s_.batch);
        return (roundUpFloats(size_t(ocb_) * k_.lanes) + slotFloats_ * slots) * sizeof(float);
    }

    const char* algorithm() const override {
        return unit_ == 2 ? "winograd2" : unit_ == 4 ? "winograd4" : "winograd6";
    }

    void run(const float* src, const float* packed, float* dst, const PostOps& post, void* scratch,
             ThreadPool& pool) const override {
        float* bias = static_cast<float*>(scratch);
        padBias(post.bias, s_.oc, ocb_ * k_.lanes, bias);
        float* slots = bias + roundUpFloats(size_t(ocb_) * k_.lanes);
        const int total = chunks_ * s_.batch;
        const Job job{src, packed, dst, bias, post};
        if (shared() || pool.threads() == 1) {
            for (int i = 0; i < total; ++i) runChunk(job, i, slots, pool);
            return;
        }
        // Chunks are independent: each thread takes one at a time through all three steps in its own cache.
        std::atomic<int> next{0};
        parallelFor(pool, std::min(pool.threads(), total), [&](int slot) {
            InlinePool alone;
            for (int i; (i = next.fetch_add(1, std::memory_order_relaxed)) < total;) {
                runChunk(job, i, slots + slot * slotFloats_, alone);
            }
        });
    }

  private:
    struct Job {
        const float* src;
        const float* packed;
        float* dst;
        const float* bias;
        const PostOps& post;
    };

    // Too few chunks to keep the threads evenly busy: they share the work inside each.
    bool shared() const { return chunks_ * s_.batch < std::max(2, 2 * threads_); }

    size_t pointWeights() const { return size_t(ocb_) * k_.lanes * s_.ic; }

    // Strides that are multiples of 4 KiB would put all points of a tile into one set of the first level
    // cache.
    size_t pointStride(int blocks) const {
        size_t lines = size_t(blocks) * chunkTiles_ * k_.lanes / 16 + 1;
        lines |= 1;
        return lines * 16;
    }

    void runChunk(const Job& job, int index, float* slot, ThreadPool& pool) const {
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
        alignas(64) float zero[4 * 16] = {};
        const int panels = static_cast<int>(panels_.size());
        const ptrdiff_t noOffset[1] = {0};
        parallelFor(pool, points_ * panels, [&](int task) {
            const int point = task / panels;
            const OutPanel& p = panels_[task % panels];
            PanelArgs t;
            t.a = v + point * inPoint_;
            t.pixelStride = P;
            t.tapOffset = noOffset;
            t.taps = 1;
            t.fullBlocks = s_.ic / P;
            t.blockStride = ptrdiff_t(m) * P;
            t.tail = s_.ic % P;
            t.w = job.packed + point * pointWeights() + size_t(p.block) * P * s_.ic;
            t.dst = y + point * outPoint_ + size_t(p.block) * m * P;
            t.dstPixelStride = P;
            t.dstBlockStride = ptrdiff_t(m) * P;
            t.residual = nullptr;
            t.bias = zero;
            t.lo = -std::numeric_limits<float>::infinity();
            t.hi = std::numeric_limits<float>::infinity();
            t.act = Act::None;
            t.nb = p.nb;
            t.m = m;
            t.lastLanes = P;
            k_.panels->panel(t);
        });
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

    const Kernels& k_;
    const ConvShape s_;
    const int unit_, points_, tilesW_, tiles_, icb_, ocb_, threads_;
    int chunkTiles_ = 0, chunks_ = 1, panelBlocks_ = 1;
    size_t inPoint_ = 0, outPoint_ = 0, slotFloats_ = 0;
    std::vector<OutPanel> panels_;
};

}  // namespace

std::unique_ptr<ConvPlan> makeWinogradPlan(const Kernels& k, const ConvShape& shape, int unit, int threads) {
    return std::make_unique<WinogradPlan>(k, shape, unit, threads);
}

}  // namespace mnnc
