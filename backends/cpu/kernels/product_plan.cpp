// Convolutions as products of taps and channels: 1x1, direct, grouped, first layer, transposed.
#include <climits>
#include <vector>

#include "backends/cpu/kernels/conv_plans.h"
#include "backends/cpu/kernels/panels.h"
#include "base/error.h"

namespace mnnc {
namespace {

constexpr long kCacheBytes = 384L << 10;  // what one task keeps of its input in the second level cache

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
        return (roundUpFloats(size_t(ocb_) * k_.lanes) + paddedFloats_) * sizeof(float);
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
        float* padded = bias + roundUpFloats(size_t(ocb_) * P);
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
            if (border || !nchw_) paddedFloats_ = roundUpFloats(size_t(s_.ic) * plane_);
        } else if (border) {
            paddedFloats_ = roundUpFloats(size_t(icb_) * plane_);
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

}  // namespace

std::unique_ptr<ConvPlan> makeProductPlan(const Kernels& k, const ConvShape& shape,
                                          const ConvOptions& options) {
    return std::make_unique<ProductPlan>(k, shape, options);
}

}  // namespace mnnc
