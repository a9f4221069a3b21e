#include "backends/cpu/kernels/conv.h"

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstring>
#include <vector>

#include "backends/cpu/kernels/grouped_plan.h"
#include "backends/cpu/kernels/pack.h"
#include "backends/cpu/kernels/panels.h"
#include "base/error.h"

namespace mnnc {
namespace {

constexpr long kCacheBytes = 384L << 10;  // what one task keeps of its input in the second level cache

int ceilDiv(int a, int b) {
    return (a + b - 1) / b;
}
size_t roundUp(size_t floats) {
    return (floats + 15) / 16 * 16;
}
int cut(int total, int i, int pieces) {
    return static_cast<int>(static_cast<long>(total) * i / pieces);
}

// The bias with zeros behind it, so that kernels read whole blocks.
void padBias(const float* bias, int oc, int padded, float* out) {
    if (bias) {
        std::memcpy(out, bias, oc * sizeof(float));
    } else {
        std::fill(out, out + oc, 0.0f);
    }
    std::fill(out + oc, out + padded, 0.0f);
}

void checkShape(const ConvShape& s, int groups) {
    const int least = std::min({s.batch, s.ic, s.ih, s.iw, s.oc, s.oh, s.ow, s.kh, s.kw, s.strideH, s.strideW,
                                s.dilateH, s.dilateW, groups});
    if (least < 1) fail(Status::InvalidValue, "convolution with an extent below 1");
    if (s.ic % groups != 0 || s.oc % groups != 0) {
        fail(Status::InvalidValue, "convolution of %d to %d channels does not divide into %d groups", s.ic,
             s.oc, groups);
    }
}

// ---- everything that is taps x channels products: 1x1, direct, grouped, first layer, transposed ----

struct Tap {
    int ky, kx;
    int dy, dx;  // where it reads, from the output's position times the step
};

// Output pixels that share their taps. A forward convolution is one phase; a transposed one has stride x
// stride, each a dense convolution of its own with a few of the taps.
struct Phase {
    int py, px;      // first output
    int rows, cols;  // how many of its outputs
    std::vector<Tap> taps;
    std::vector<ptrdiff_t> offsets;  // of the taps in the source, floats
};

constexpr int kMaxPhases = 1 << 14;

struct Panel {
    int block, nb;
    int inBlock;  // first block of input channels read
    int fullBlocks;
    int tail;
    int channels() const { return channelsCached; }
    int channelsCached;
};

class ProductPlan final : public ConvPlan {
  public:
    ProductPlan(const Kernels& k, const ConvShape& shape, const ConvOptions& options)
        : k_(k), s_(shape), groups_(options.groups), transposed_(options.transposed), nchw_(options.srcNchw) {
        const int P = k.lanes;
        planar_ = !transposed_ && groups_ == 1 && s_.ic <= 4 && (s_.kh * s_.kw > 1 || nchw_);
        if (nchw_ && !planar_) fail(Status::NotSupported, "no convolution kernel reads this shape row-major");
        flat_ = !transposed_ && !planar_ && s_.kh * s_.kw == 1 && s_.strideH == 1 && s_.strideW == 1 &&
                s_.padTop == 0 && s_.padLeft == 0 && s_.oh <= s_.ih && s_.ow == s_.iw;
        icb_ = ceilDiv(s_.ic, P);
        ocb_ = ceilDiv(s_.oc, P);
        makePhases();
        placeSource();
        makePanels();
        if (int64_t(panels_.size()) * int64_t(phases_.size()) > INT_MAX)
            fail(Status::NotSupported, "a deconvolution to %d channels with a stride of %dx%d is too large",
                 s_.oc, s_.strideH, s_.strideW);
    }

    size_t packedWeightFloats() const override { return weightFloats_; }

    void packWeights(const float* weights, float* packed, ThreadPool& pool) const override {
        const int panels = static_cast<int>(panels_.size());
        parallelFor(pool, panels * static_cast<int>(phases_.size()), [&](int i) {
            const int phase = i / panels;
            packPanel(weights, packed + weightOffset(phase, i % panels), phases_[phase], panels_[i % panels]);
        });
    }

    std::string weightVariant() const override {
        return format("%s.p%d.n%d.g%d.s%dx%d.a%dx%d",
                      transposed_ ? "deconv"
                      : planar_   ? "planar"
                                  : "tap",
                      k_.lanes, panelBlocks_, groups_, transposed_ ? s_.strideH : 0,
                      transposed_ ? s_.strideW : 0, transposed_ ? s_.padTop % s_.strideH : 0,
                      transposed_ ? s_.padLeft % s_.strideW : 0) +
               (transposed_ ? format(".d%dx%d.o%dx%d", s_.dilateH, s_.dilateW, std::min(s_.strideH, s_.oh),
                                     std::min(s_.strideW, s_.ow))
                            : std::string());
    }

    size_t scratchBytes(int) const override {
        return (roundUp(size_t(ocb_) * k_.lanes) + paddedFloats_) * sizeof(float);
    }

    const char* algorithm() const override {
        return transposed_   ? "deconv"
               : planar_     ? "first"
               : groups_ > 1 ? "grouped"
               : flat_       ? "gemm1x1"
                             : "direct";
    }

    void run(const float* src, const float* packed, float* dst, const PostOps& post, void* scratch,
             ThreadPool& pool) const override {
        const int P = k_.lanes;
        float* bias = static_cast<float*>(scratch);
        padBias(post.bias, s_.oc, ocb_ * P, bias);
        float* padded = bias + roundUp(size_t(ocb_) * P);
        const size_t srcImage = size_t(nchw_ ? s_.ic : icb_ * P) * s_.ih * s_.iw;
        const size_t dstImage = size_t(ocb_) * P * s_.oh * s_.ow;
        for (int n = 0; n < images_; ++n) {
            const float* image = src + n * srcImage;
            if (paddedFloats_) {
                padSource(image, padded, pool);
                image = padded;
            }
            PostOps here = post;
            if (post.residual) here.residual = post.residual + n * dstImage;
            runImage(image, packed, dst + n * dstImage, bias, here, pool);
        }
    }

  private:
    void makePhases() {
        const int sh = transposed_ ? s_.strideH : 1, sw = transposed_ ? s_.strideW : 1;
        if (int64_t{std::min(sh, s_.oh)} * std::min(sw, s_.ow) > kMaxPhases)
            fail(Status::NotSupported, "no deconvolution kernel does a stride of %dx%d", sh, sw);
        for (int py = 0; py < std::min(sh, s_.oh); ++py) {
            for (int px = 0; px < std::min(sw, s_.ow); ++px) {
                Phase p{py, px, ceilDiv(s_.oh - py, sh), ceilDiv(s_.ow - px, sw), {}, {}};
                for (int ky = 0; ky < s_.kh; ++ky) {
                    if (transposed_ && (py + s_.padTop - ky * s_.dilateH) % sh != 0) continue;
                    for (int kx = 0; kx < s_.kw; ++kx) {
                        if (!transposed_) {
                            p.taps.push_back(
                                {ky, kx, ky * s_.dilateH - s_.padTop, kx * s_.dilateW - s_.padLeft});
                            continue;
                        }
                        const int y = py + s_.padTop - ky * s_.dilateH, x = px + s_.padLeft - kx * s_.dilateW;
                        if (x % sw == 0) p.taps.push_back({ky, kx, y / sh, x / sw});
                    }
                }
                phases_.push_back(std::move(p));
            }
        }
        stepY_ = transposed_ ? 1 : s_.strideH;
        stepX_ = transposed_ ? 1 : s_.strideW;
    }

    // Where the taps find their pixels: in the source itself when none of them leaves it, else in a copy with
    // a border.
    void placeSource() {
        const int P = k_.lanes;
        int y0 = 0, x0 = 0, y1 = s_.ih, x1 = s_.iw;
        for (const Phase& p : phases_) {
            for (const Tap& t : p.taps) {
                y0 = std::min(y0, t.dy);
                x0 = std::min(x0, t.dx);
                y1 = std::max(y1, (p.rows - 1) * stepY_ + t.dy + 1);
                x1 = std::max(x1, (p.cols - 1) * stepX_ + t.dx + 1);
            }
        }
        top_ = -y0;
        left_ = -x0;
        height_ = y1 - y0;
        width_ = x1 - x0;
        const bool border = top_ || left_ || height_ != s_.ih || width_ != s_.iw;
        const int unit = planar_ ? 1 : P;
        plane_ = ptrdiff_t(height_) * width_ * unit;
        if (planar_) {
            if (border || !nchw_) paddedFloats_ = roundUp(size_t(s_.ic) * plane_);
        } else if (border) {
            paddedFloats_ = roundUp(size_t(icb_) * plane_);
        }
        rowFloats_ = ptrdiff_t(width_) * unit;
        pixel_ = ptrdiff_t(stepX_) * unit;
        // Planar: the taps of one kernel row lie side by side like channels do.
        joined_ = planar_ && s_.dilateW == 1;
        for (Phase& p : phases_) {
            if (!planar_) {
                for (const Tap& t : p.taps)
                    p.offsets.push_back(((t.dy + top_) * ptrdiff_t(width_) + t.dx + left_) * P);
                continue;
            }
            for (int c = 0; c < s_.ic; ++c) {
                for (const Tap& t : p.taps) {
                    if (joined_ && t.kx != 0) continue;
                    p.offsets.push_back(c * plane_ + (t.dy + top_) * ptrdiff_t(width_) + t.dx + left_);
                }
            }
        }
        images_ = s_.batch;
        rows_ = 0;
        if (flat_ && s_.oh == s_.ih) {
            // Rows follow one another without a gap. One-pixel maps (fully connected layers): the batch is
            // the row.
            const bool batchRow = s_.ih * s_.iw == 1;
            flatCols_ = batchRow ? s_.batch : s_.oh * s_.ow;
            if (batchRow) {
                images_ = 1;
                pixel_ = ptrdiff_t(icb_) * P;
                plane_ = P;
                flatDstPixel_ = ptrdiff_t(ocb_) * P;
                flatDstBlock_ = P;
            } else {
                flatDstPixel_ = P;
                flatDstBlock_ = ptrdiff_t(flatCols_) * P;
            }
        } else {
            flat_ = false;
        }
    }

    void makePanels() {
        const int P = k_.lanes, icg = s_.ic / groups_, ocg = s_.oc / groups_;
        const int m = flat_ ? flatCols_ : phases_[0].cols;
        const auto add = [&](OutPanel o, int first, int last) {
            Panel p{o.block, o.nb, first / P, 0, 0, 0};
            p.channelsCached = last - p.inBlock * P;
            p.fullBlocks = p.channelsCached / P;
            p.tail = p.channelsCached % P;
            panels_.push_back(p);
        };
        if (groups_ == 1 || (icg % P == 0 && ocg % P == 0)) {
            const int blocks = ceilDiv(ocg, P);
            panelBlocks_ = bestPanelBlocks(*k_.panels, m, blocks);
            for (int g = 0; g < groups_; ++g) {
                for (const OutPanel& o : cutPanels(g * blocks, blocks, panelBlocks_))
                    add(o, g * icg, (g + 1) * icg);
            }
        } else {
            // Groups that do not fill blocks: a block of outputs reads the inputs of every group it holds,
            // with zero weights where they are not its own.
            panelBlocks_ = 1;
            for (int b = 0; b < ocb_; ++b) {
                const int last = std::min(s_.oc, (b + 1) * P) - 1;
                add({b, 1}, b * P / ocg * icg, (last / ocg + 1) * icg);
            }
        }
        for (const Phase& phase : phases_) {
            for (const Panel& p : panels_) {
                offsets_.push_back(weightFloats_);
                weightFloats_ += phase.taps.size() * (planar_ ? s_.ic : p.channels()) * size_t(p.nb) * P;
            }
        }
    }

    size_t weightOffset(int phase, int panel) const { return offsets_[phase * panels_.size() + panel]; }

    void packPanel(const float* weights, float* out, const Phase& phase, const Panel& p) const {
        const int P = k_.lanes, width = p.nb * P, icg = s_.ic / groups_, ocg = s_.oc / groups_;
        const int area = s_.kh * s_.kw, taps = static_cast<int>(phase.taps.size());
        const int channels = planar_ ? s_.ic : p.channels();
        for (int c = 0; c < channels; ++c) {
            const int ic = (planar_ ? 0 : p.inBlock * P) + c, group = ic / icg;
            for (int t = 0; t < taps; ++t) {
                const int spot = phase.taps[t].ky * s_.kw + phase.taps[t].kx;
                float* to = out + (planar_ ? size_t(c) * taps + t : size_t(t) * channels + c) * width;
                for (int l = 0; l < width; ++l) {
                    const int oc = p.block * P + l;
                    float w = 0.0f;
                    if (oc < s_.oc && oc / ocg == group) {
                        const size_t at =
                            transposed_ ? size_t(ic) * ocg + oc % ocg : size_t(oc) * icg + ic % icg;
                        w = weights[at * area + spot];
                    }
                    to[l] = w;
                }
            }
        }
    }

    void padSource(const float* src, float* dst, ThreadPool& pool) const {
        const int P = k_.lanes, unit = planar_ ? 1 : P;
        const int planes = planar_ ? s_.ic : icb_;
        const size_t line = size_t(s_.iw) * unit;
        parallelRanges(pool, long(planes) * height_, 4 * pool.threads(), [&](long begin, long end) {
            for (long i = begin; i < end; ++i) {
                const int c = static_cast<int>(i / height_), y = static_cast<int>(i % height_) - top_;
                float* to = dst + i * rowFloats_;
                if (y < 0 || y >= s_.ih) {
                    std::fill(to, to + rowFloats_, 0.0f);
                    continue;
                }
                std::fill(to, to + left_ * unit, 0.0f);
                to += left_ * unit;
                if (!planar_ || nchw_) {
                    std::memcpy(to, src + (size_t(c) * s_.ih + y) * line, line * sizeof(float));
                } else {
                    const float* from = src + (size_t(c / P) * s_.ih + y) * s_.iw * P + c % P;
                    for (int x = 0; x < s_.iw; ++x) to[x] = from[size_t(x) * P];
                }
                std::fill(to + line, dst + (i + 1) * rowFloats_, 0.0f);
            }
        });
    }

    void runImage(const float* src, const float* packed, float* dst, const float* bias, const PostOps& post,
                  ThreadPool& pool) const {
        const int panels = static_cast<int>(panels_.size()), threads = pool.threads();
        for (size_t f = 0; f < phases_.size(); ++f) {
            const Phase& phase = phases_[f];
            // A chunk of rows (of pixels when flat) stays in cache while the panels pass by.
            const int units = flat_ ? flatCols_ : phase.rows;
            const long unitBytes =
                (flat_ ? long(icb_) * k_.lanes : long(planar_ ? s_.ic : icb_) * rowFloats_ * stepY_) *
                long(sizeof(float)) / (groups_ > 1 ? groups_ : 1);
            long fit = std::max<long>(1, kCacheBytes / std::max<long>(1, unitBytes));
            if (flat_) fit = std::max(fit, 36L);
            int chunks = static_cast<int>((units + fit - 1) / fit);
            if (threads > 1 && long(chunks) * panels < 4L * threads) chunks = std::min(units, chunks * 2);
            const int groups = threads == 1 ? 1 : std::clamp(ceilDiv(4 * threads, chunks), 1, panels);
            parallelFor(pool, chunks * groups, [&](int task) {
                const int chunk = task / groups, group = task % groups;
                const int u0 = cut(units, chunk, chunks), u1 = cut(units, chunk + 1, chunks);
                for (int i = cut(panels, group, groups); i < cut(panels, group + 1, groups); ++i) {
                    runPanel(phase, panels_[i], packed + weightOffset(static_cast<int>(f), i), src, dst, bias,
                             post, u0, u1);
                }
            });
        }
    }

    void runPanel(const Phase& phase, const Panel& p, const float* w, const float* src, float* dst,
                  const float* bias, const PostOps& post, int u0, int u1) const {
        const int P = k_.lanes;
        PanelArgs t;
        t.pixelStride = pixel_;
        t.tapOffset = phase.offsets.data();
        t.taps = static_cast<int>(phase.offsets.size());
        t.fullBlocks = planar_ ? 0 : p.fullBlocks;
        t.blockStride = plane_;
        t.tail = planar_ ? (joined_ ? s_.kw : 1) : p.tail;
        t.w = w;
        t.bias = bias + p.block * P;
        t.lo = post.lo;
        t.hi = post.hi;
        t.act = post.act;
        t.nb = p.nb;
        t.lastLanes = P;
        const float* from = src + (planar_ ? 0 : p.inBlock * plane_);
        if (flat_) {
            t.a = from + u0 * pixel_;
            t.dstPixelStride = flatDstPixel_;
            t.dstBlockStride = flatDstBlock_;
            const ptrdiff_t at = p.block * flatDstBlock_ + u0 * flatDstPixel_;
            t.dst = dst + at;
            t.residual = post.residual ? post.residual + at : nullptr;
            t.m = u1 - u0;
            k_.panels->panel(t);
            return;
        }
        const int sy = transposed_ ? s_.strideH : 1, sx = transposed_ ? s_.strideW : 1;
        t.dstPixelStride = ptrdiff_t(sx) * P;
        t.dstBlockStride = ptrdiff_t(s_.oh) * s_.ow * P;
        t.m = phase.cols;
        for (int y = u0; y < u1; ++y) {
            t.a = from + y * stepY_ * rowFloats_;
            const ptrdiff_t at =
                p.block * t.dstBlockStride + (ptrdiff_t(phase.py + y * sy) * s_.ow + phase.px) * P;
            t.dst = dst + at;
            t.residual = post.residual ? post.residual + at : nullptr;
            k_.panels->panel(t);
        }
    }

    const Kernels& k_;
    const ConvShape s_;
    const int groups_;
    const bool transposed_, nchw_;
    bool planar_ = false, flat_ = false, joined_ = false;
    int icb_ = 0, ocb_ = 0, images_ = 1, rows_ = 0, flatCols_ = 0, panelBlocks_ = 1;
    int stepY_ = 1, stepX_ = 1;
    int top_ = 0, left_ = 0, height_ = 0, width_ = 0;
    ptrdiff_t plane_ = 0, rowFloats_ = 0, pixel_ = 0, flatDstPixel_ = 0, flatDstBlock_ = 0;
    size_t paddedFloats_ = 0, weightFloats_ = 0;
    std::vector<Phase> phases_;
    std::vector<Panel> panels_;
    std::vector<size_t> offsets_;
};

// ---- depthwise, both ways ----

class DepthwisePlan final : public ConvPlan {
  public:
    DepthwisePlan(const Kernels& k, const ConvShape& shape, bool transposed)
        : k_(k), s_(shape), transposed_(transposed), blocks_(ceilDiv(shape.oc, k.lanes)) {}

    size_t packedWeightFloats() const override { return size_t(blocks_) * k_.lanes * s_.kh * s_.kw; }

    void packWeights(const float* weights, float* packed, ThreadPool& pool) const override {
        const int P = k_.lanes, area = s_.kh * s_.kw;
        parallelFor(pool, blocks_, [&](int b) {
            k_.pack->rowsToBlock(weights + size_t(b) * P * area, area, std::min(P, s_.oc - b * P), area,
                                 packed + size_t(b) * P * area);
        });
    }

    std::string weightVariant() const override { return format("depthwise.p%d", k_.lanes); }
    size_t scratchBytes(int) const override { return roundUp(size_t(blocks_) * k_.lanes) * sizeof(float); }
    const char* algorithm() const override { return transposed_ ? "depthwise_deconv" : "depthwise"; }

    void run(const float* src, const float* packed, float* dst, const PostOps& post, void* scratch,
             ThreadPool& pool) const override {
        const int P = k_.lanes;
        float* bias = static_cast<float*>(scratch);
        padBias(post.bias, s_.oc, blocks_ * P, bias);
        const int planes = s_.batch * blocks_, threads = pool.threads();
        const int pieces = threads == 1 ? 1 : std::clamp(ceilDiv(4 * threads, planes), 1, s_.oh);
        const size_t in = size_t(s_.ih) * s_.iw * P, out = size_t(s_.oh) * s_.ow * P;
        parallelFor(pool, planes * pieces, [&](int task) {
            const int plane = task / pieces, piece = task % pieces, block = plane % blocks_;
            const DepthwiseArgs t{src + plane * in,
                                  dst + plane * out,
                                  post.residual ? post.residual + plane * out : nullptr,
                                  packed + size_t(block) * P * s_.kh * s_.kw,
                                  bias + block * P,
                                  &s_,
                                  post.lo,
                                  post.hi,
                                  post.act,
                                  cut(s_.oh, piece, pieces),
                                  cut(s_.oh, piece + 1, pieces)};
            (transposed_ ? k_.depthwise->transposed : k_.depthwise->forward)(t);
        });
    }

  private:
    const Kernels& k_;
    const ConvShape s_;
    const bool transposed_;
    const int blocks_;
};

// ---- Winograd F(unit x unit, 3x3) ----

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
        slotFloats_ = roundUp((inPoint_ + outPoint_) * points_);
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
        return (roundUp(size_t(ocb_) * k_.lanes) + slotFloats_ * slots) * sizeof(float);
    }

    const char* algorithm() const override {
        return unit_ == 2 ? "winograd2" : unit_ == 4 ? "winograd4" : "winograd6";
    }

    void run(const float* src, const float* packed, float* dst, const PostOps& post, void* scratch,
             ThreadPool& pool) const override {
        float* bias = static_cast<float*>(scratch);
        padBias(post.bias, s_.oc, ocb_ * k_.lanes, bias);
        float* slots = bias + roundUp(size_t(ocb_) * k_.lanes);
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

// ---- the choice ----

// Weights come from the third level cache or memory once per pass; products hide part of it.
double withTraffic(double cycles, double bytes) {
    const double traffic = bytes / (bytes > 3e6 ? 11 : 22);
    return std::max(cycles, traffic) + 0.25 * std::min(cycles, traffic);
}

double directCycles(const Kernels& k, const ConvShape& s) {
    const int blocks = ceilDiv(s.oc, k.lanes);
    const int nb = bestPanelBlocks(*k.panels, s.ow, blocks);
    const double steps = double(s.kh) * s.kw * s.ic;
    const double cycles = s.oh * steps * productCycles(*k.panels, s.ow, blocks, nb) * 1.05;
    const double copy = double(ceilDiv(s.ic, k.lanes)) * (s.ih + 2) * (s.iw + 2) * 3;
    return s.batch * (cycles + copy) + 0.25 * steps * blocks * k.lanes * 4 / 11;
}

double winogradCycles(const Kernels& k, const ConvShape& s, int unit) {
    const int icb = ceilDiv(s.ic, k.lanes), ocb = ceilDiv(s.oc, k.lanes);
    const int tiles = ceilDiv(s.oh, unit) * ceilDiv(s.ow, unit), points = (unit + 2) * (unit + 2);
    const long bytes = long(points) * (icb + ocb) * k.lanes * 4;
    const int fit = static_cast<int>(std::clamp<long>((768L << 10) / bytes, 27, 512));
    const int chunks = ceilDiv(tiles, fit), m = ceilDiv(tiles, chunks);
    const int nb = bestPanelBlocks(*k.panels, std::min(m, 72), ocb);
    const double product = points * (double(s.ic) * productCycles(*k.panels, m, ocb, nb) + 25.0 * ocb);
    const double transforms = double(tiles) * points * (icb * 5.5 + ocb * 4.5);
    const double weights = double(points) * s.ic * ocb * k.lanes * 4;
    return s.batch * (chunks * withTraffic(product, weights) + transforms);
}

}  // namespace

bool convReadsNchw(const ConvShape& s, int groups) {
    return groups == 1 && s.ic <= 4;
}

std::unique_ptr<ConvPlan> makeConvPlan(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    checkShape(s, options.groups);
    const bool depthwise = options.groups > 1 && options.groups == s.ic && options.groups == s.oc;
    if (depthwise && !options.srcNchw) return std::make_unique<DepthwisePlan>(k, s, options.transposed);
    const bool winograd = !options.transposed && !options.srcNchw && options.groups == 1 && s.kh == 3 &&
                          s.kw == 3 && s.strideH == 1 && s.strideW == 1 && s.dilateH == 1 && s.dilateW == 1 &&
                          s.ic > 4;
    int unit = 0;
    if (winograd && options.algorithm == ConvAlgorithm::Auto) {
        double best = directCycles(k, s);
        for (int u = 2; u <= 6; u += 2) {
            const double cycles = winogradCycles(k, s, u);
            if (cycles < best * 0.97) {
                best = cycles;
                unit = u;
            }
        }
    } else if (winograd && options.algorithm != ConvAlgorithm::Direct) {
        unit = options.algorithm == ConvAlgorithm::Winograd2   ? 2
               : options.algorithm == ConvAlgorithm::Winograd4 ? 4
                                                               : 6;
    }
    if (unit) return std::make_unique<WinogradPlan>(k, s, unit, options.threads);
    if (!options.transposed && !options.srcNchw && groupedOverPlanes(k, s, options.groups))
        return makeGroupedPlan(k, s, options.groups, options.threads);
    return std::make_unique<ProductPlan>(k, s, options);
}

}  // namespace mnnc
