// Convolutions as products of taps and channels: 1x1, direct, grouped, first layer, transposed.
#include <climits>
#include <type_traits>
#include <vector>

#include "backends/cpu/kernels/conv_plans.h"
#include "backends/cpu/kernels/dequant_panels.h"
#include "backends/cpu/kernels/gemm_conv_weights.h"
#include "backends/cpu/kernels/pack.h"
#include "backends/cpu/kernels/panels.h"
#include "base/error.h"

namespace mnnc {
namespace {

constexpr size_t kExpandedBytes = 600 << 10;  // most of an expanded panel of quantised weights
constexpr long kCacheBytes = 384L << 10;      // what one task keeps of its input in the second level cache
constexpr long kPlanarBytes = 96L << 10;      // of a first layer's input with its border

using Tap = ConvTap;
using Phase = ConvPhase;
using Panel = GemmPanel;

// Where the products read their source: the plan's input itself, a copy of it with a border, or a strip of it
// as bf16.
template <typename T>
struct Source {
    const T* data;
    ptrdiff_t plane, pixel;
    int first;  // row (pixel when flat) that data begins with
};

class GemmConvPlan final : public ConvPlan, private TileableConv {
  public:
    GemmConvPlan(const Kernels& k, const ConvShape& shape, const ConvOptions& options)
        : k_(k),
          s_(shape),
          groups_(options.groups),
          transposed_(options.transposed),
          nchw_(options.srcNchw),
          bf16_(options.bf16) {
        const int P = k.lanes;
        planar_ = !transposed_ && groups_ == 1 && s_.ic <= 4 && (s_.kh * s_.kw > 1 || nchw_);
        if (nchw_ && !planar_) fail(Status::NotSupported, "no convolution kernel reads this shape row-major");
        const bool point =
            !transposed_ && !planar_ && s_.kh * s_.kw == 1 && s_.padTop == 0 && s_.padLeft == 0;
        flat_ = point && s_.oh == s_.ih && s_.ow == s_.iw && (s_.strideH == 1 || s_.oh == 1) &&
                (s_.strideW == 1 || s_.ow == 1);
        // A strip takes the pixels that count, one after another.
        sampled_ =
            bf16_ && point && !flat_ && (s_.oh - 1) * s_.strideH < s_.ih && (s_.ow - 1) * s_.strideW < s_.iw;
        flat_ = flat_ || sampled_;
        icb_ = ceilDiv(s_.ic, P);
        ocb_ = ceilDiv(s_.oc, P);
        phases_ = convPhases(s_, transposed_);
        stepY_ = transposed_ ? 1 : s_.strideH;
        stepX_ = transposed_ ? 1 : s_.strideW;
        placeSource();
        if (options.quantization.bits && !transposed_ && !planar_ && groups_ == 1)
            dequant_ = DequantPanels(k, options.quantization, shape, DequantPanels::Rows::TapMajor);
        makePanels();
        if (int64_t(panels_.size()) * int64_t(phases_.size()) > INT_MAX)
            fail(Status::NotSupported, "a deconvolution to %d channels with a stride of %dx%d is too large",
                 s_.oc, s_.strideH, s_.strideW);
    }

    size_t packedWeightBytes() const override {
        return dequant_.used() ? dequant_.bytes() : weightElements_ * elementBytes();
    }

    bool keepsCodes() const override { return dequant_.used(); }

    void packCodes(const QuantizedWeights& weights, void* packed, ThreadPool& pool) const override {
        parallelFor(pool, static_cast<int>(panels_.size()), [&](int i) {
            dequant_.pack(weights, {panels_[i].block, panels_[i].nb}, packed);
        });
    }

    void packWeights(const WeightReader& weights, void* packed, ThreadPool& pool) const override {
        const size_t perOutput = size_t(s_.ic / groups_) * s_.kh * s_.kw;
        const auto pack = [&](int phase, int panel, const float* own) {
            const size_t at = weightOffset(phase, panel);
            if (bf16_)
                layout().pack(own, static_cast<uint16_t*>(packed) + at, phases_[phase], panels_[panel]);
            else
                layout().pack(own, static_cast<float*>(packed) + at, phases_[phase], panels_[panel]);
        };
        const int panels = static_cast<int>(panels_.size());
        if (transposed_) {  // the weights of an output are spread over all of them
            const float* all = weights(0, size_t(s_.oc) * perOutput);
            parallelFor(pool, panels * static_cast<int>(phases_.size()),
                        [&](int i) { pack(i / panels, i % panels, all); });
            return;
        }
        const auto end = [&](int i) {
            return std::min<size_t>(s_.oc, size_t(panels_[i].block + panels_[i].nb) * k_.lanes) * perOutput;
        };
        packInChunks(pool, panels, weights, end, [&](int i, const float* own) { pack(0, i, own); });
    }

    std::string weightVariant() const override {
        return (dequant_.used() ? dequant_.variant() : "") +
               format("%s%s.p%d.n%d.g%d.s%dx%d.a%dx%d", bf16_ && !dequant_.used() ? "bf16." : "",
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

    size_t scratchBytes(int threads) const override {
        const size_t floats =
            roundUpFloats(size_t(ocb_) * k_.lanes) + paddedFloats_ + planarFloats_ * std::max(1, threads);
        const size_t bytes = floats * sizeof(float) + expandedBytes() * std::max(1, threads);
        size_t strips = 0;
        for (int t = 1; bf16_ && t <= std::max(1, threads); ++t) {
            const Split split = splitFor(phases_[0], t);
            strips = std::max(strips, stripBytes(phases_[0], split) * (wholeStrip(split) ? 1 : t));
        }
        return bytes + strips;
    }

    std::string algorithm() const override {
        return std::string(transposed_   ? "deconv"
                           : planar_     ? "first"
                           : groups_ > 1 ? "grouped"
                           : flat_       ? "gemm1x1"
                                         : "direct") +
               (bf16_ ? ".bf16" : "") + dequant_.suffix();
    }

    const TileableConv* parts() const override {
        return flat_ && !bf16_ && s_.ih * s_.iw > 1 ? this : nullptr;
    }

    void run(const float* src, const void* packed, float* dst, const PostOps& post, void* scratch,
             ThreadPool& pool) const override {
        const int P = k_.lanes;
        float* bias = static_cast<float*>(scratch);
        padBias(post.bias, s_.oc, ocb_ * P, bias);
        float* padded = bias + roundUpFloats(size_t(ocb_) * P);
        const Weights weights{packed, reinterpret_cast<char*>(padded + paddedFloats_)};
        char* strips = weights.expanded + expandedBytes() * pool.threads();
        const size_t srcImage = size_t(nchw_ ? s_.ic : icb_ * P) * s_.ih * s_.iw;
        const size_t dstImage = size_t(ocb_) * P * s_.oh * s_.ow;
        for (int n = 0; n < images_; ++n) {
            const float* image = src + n * srcImage;
            PostOps here = post;
            if (post.residual) here.residual = post.residual + n * dstImage;
            if (bf16_) {
                runStrips(image, weights, reinterpret_cast<uint16_t*>(strips), dst + n * dstImage, bias, here,
                          pool);
                continue;
            }
            if (planarFloats_) {
                runPlanar(image, weights, padded, dst + n * dstImage, bias, here, pool);
                continue;
            }
            if (paddedFloats_) {
                padSource(image, padded, pool);
                image = padded;
            }
            runImage(Source<float>{image, plane_, pixel_, 0}, weights, dst + n * dstImage, bias, here, pool);
        }
    }

  private:
    struct Weights {
        const void* packed;
        char* expanded;  // a panel for each thread, where they are codes
    };

    size_t elementBytes() const { return bf16_ ? sizeof(uint16_t) : sizeof(float); }

    int panelCount() const override { return static_cast<int>(panels_.size()); }
    OutPanel panel(int i) const override { return {panels_[i].block, panels_[i].nb}; }
    size_t expandedBytes() const override { return dequant_.used() ? largestPanel_ * elementBytes() : 0; }
    const float* weightsOf(const void* packed, int i, void* expanded) const override {
        return panelWeights<float>({packed, static_cast<char*>(expanded)}, 0, i, 0);
    }
    void runPixels(const float* image, const float* weights, int i, int begin, int end, float* dst,
                   ptrdiff_t dstBlock, const float* bias, const PostOps& post) const override {
        PanelArgs t =
            panelArgs(phases_[0], panels_[i], weights, Source<float>{image, plane_, pixel_, 0}, bias, post);
        t.a += begin * pixel_;
        t.dst = dst;
        t.dstPixelStride = k_.lanes;
        t.dstBlockStride = dstBlock;
        t.m = end - begin;
        product(t);
    }

    // Panel i of phase f, expanded into the slot's memory where it has to be.
    template <typename T>
    const T* panelWeights(const Weights& weights, size_t f, int i, int slot) const {
        if (!dequant_.used()) return static_cast<const T*>(weights.packed) + weightOffset(f, i);
        auto* out = reinterpret_cast<T*>(weights.expanded + slot * expandedBytes());
        dequant_.expand(weights.packed, {panels_[i].block, panels_[i].nb}, out);
        return out;
    }

    // Where the taps find their pixels: in the source itself when none of them leaves it, else in a copy with
    // a border.
    void placeSource() {
        const int P = k_.lanes;
        int y0 = 0, x0 = 0, y1 = s_.ih, x1 = s_.iw, lastTap = INT_MIN;
        for (const Phase& p : phases_) {
            for (const Tap& t : p.taps) {
                y0 = std::min(y0, t.dy);
                x0 = std::min(x0, t.dx);
                lastTap = std::max(lastTap, t.dy);
                y1 = std::max(y1, (p.rows - 1) * stepY_ + t.dy + 1);
                x1 = std::max(x1, (p.cols - 1) * stepX_ + t.dx + 1);
            }
        }
        top_ = -y0;
        left_ = -x0;
        height_ = y1 - y0;
        tapRows_ = lastTap + top_ + 1;
        width_ = x1 - x0;
        const bool border = top_ || left_ || height_ != s_.ih || width_ != s_.iw;
        const int unit = planar_ ? 1 : P;
        plane_ = ptrdiff_t(height_) * width_ * unit;
        if (bf16_) {
            // Strips bring their border along.
        } else if (planar_) {
            if (border || !nchw_) placePlanarStrips();
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
        if (flat_) {
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
                pixel_ = P;
                flatDstPixel_ = P;
                flatDstBlock_ = ptrdiff_t(flatCols_) * P;
            }
        }
    }

    // A first layer copies its input with a border strip by strip, each just before its products. Enough strips
    // for the threads, whatever their number: results do not depend on it, but memory does.
    void placePlanarStrips() {
        const long row = long(s_.ic) * width_ * long(sizeof(float));
        const long fit = std::max(1L, (kPlanarBytes / row - tapRows_) / stepY_ + 1);
        const int strips =
            std::max(ceilDiv(s_.oh, static_cast<int>(std::min<long>(fit, s_.oh))), std::min(s_.oh, 8));
        planarRows_ = ceilDiv(s_.oh, strips);
        plane_ = ((planarRows_ - 1) * ptrdiff_t(stepY_) + tapRows_) * width_;
        planarFloats_ = roundUpFloats(size_t(s_.ic) * plane_);
    }

    void makePanels() {
        const int P = k_.lanes, icg = s_.ic / groups_, ocg = s_.oc / groups_;
        const int m = flat_ ? flatCols_ : phases_[0].cols;
        const auto add = [&](OutPanel o, int first, int last) {
            Panel p{o.block, o.nb, first / P, 0, 0, 0};
            p.channels = last - p.inBlock * P;
            p.fullBlocks = p.channels / P;
            p.tail = p.channels % P;
            panels_.push_back(p);
        };
        if (groups_ == 1 || (icg % P == 0 && ocg % P == 0)) {
            const int blocks = ceilDiv(ocg, P);
            panelBlocks_ = bestPanelBlocks(*k_.panels, m, blocks);
            if (dequant_.used()) {
                // What is expanded shall stay in the second level cache.
                const size_t block = size_t(dequant_.rows()) * P * elementBytes();
                panelBlocks_ = std::clamp(static_cast<int>(kExpandedBytes / block), 1, panelBlocks_);
            }
            for (int g = 0; g < groups_; ++g) {
                for (const OutPanel& o : splitPanels(g * blocks, blocks, panelBlocks_))
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
        const GemmConvWeights weights = layout();
        for (const Phase& phase : phases_) {
            for (const Panel& p : panels_) {
                offsets_.push_back(weightElements_);
                const int length = weights.runLength(p);
                const size_t elements =
                    phase.offsets.size() * (bf16_ ? (length + 1) / 2 * 2 : length) * p.nb * P;
                weightElements_ += elements;
                largestPanel_ = std::max(largestPanel_, elements);
            }
        }
    }

    GemmConvWeights layout() const { return {k_, s_, groups_, transposed_, planar_, joined_}; }
    size_t weightOffset(size_t phase, int panel) const { return offsets_[phase * panels_.size() + panel]; }

    void padSource(const float* src, float* dst, ThreadPool& pool) const {
        const int P = k_.lanes;
        const size_t line = size_t(s_.iw) * P;
        parallelRanges(pool, long(icb_) * height_, 4 * pool.threads(), [&](long begin, long end) {
            for (long i = begin; i < end; ++i) {
                const int c = static_cast<int>(i / height_), y = static_cast<int>(i % height_) - top_;
                float* to = dst + i * rowFloats_;
                if (y < 0 || y >= s_.ih) {
                    std::fill(to, to + rowFloats_, 0.0f);
                    continue;
                }
                std::fill(to, to + left_ * P, 0.0f);
                to += left_ * P;
                std::memcpy(to, src + (size_t(c) * s_.ih + y) * line, line * sizeof(float));
                std::fill(to + line, dst + (i + 1) * rowFloats_, 0.0f);
            }
        });
    }

    // The rows that outputs u0 .. u1 read, of every channel.
    void fillPlanar(const float* src, int u0, int u1, float* strip) const {
        const int P = k_.lanes, rows = (u1 - u0 - 1) * stepY_ + tapRows_;
        for (int c = 0; c < s_.ic; ++c) {
            for (int i = 0; i < rows; ++i) {
                const int y = u0 * stepY_ + i - top_;
                float* to = strip + c * plane_ + i * rowFloats_;
                float* const end = to + rowFloats_;
                if (y < 0 || y >= s_.ih) {
                    std::fill(to, end, 0.0f);
                    continue;
                }
                std::fill(to, to + left_, 0.0f);
                to += left_;
                if (nchw_) {
                    std::memcpy(to, src + (size_t(c) * s_.ih + y) * s_.iw, size_t(s_.iw) * sizeof(float));
                } else {
                    const float* from = src + (size_t(c / P) * s_.ih + y) * s_.iw * P + c % P;
                    for (int x = 0; x < s_.iw; ++x) to[x] = from[size_t(x) * P];
                }
                std::fill(to + s_.iw, end, 0.0f);
            }
        }
    }

    void runPlanar(const float* image, const Weights& weights, float* strips, float* dst, const float* bias,
                   const PostOps& post, ThreadPool& pool) const {
        parallelSlots(pool, ceilDiv(s_.oh, planarRows_), [&](int slot, int chunk) {
            float* strip = strips + slot * planarFloats_;
            const int u0 = chunk * planarRows_, u1 = std::min(s_.oh, u0 + planarRows_);
            fillPlanar(image, u0, u1, strip);
            for (int i = 0; i < static_cast<int>(panels_.size()); ++i) {
                runPanel(phases_[0], panels_[i], panelWeights<float>(weights, 0, i, slot),
                         Source<float>{strip, plane_, pixel_, u0 * stepY_}, dst, bias, post, u0, u1);
            }
        });
    }

    // A chunk of rows (of pixels when flat) stays in cache while the panels pass by.
    Split splitFor(const Phase& phase, int threads) const {
        const int panels = static_cast<int>(panels_.size()), units = unitsOf(phase);
        const long unitBytes =
            (flat_ ? long(icb_) * k_.lanes : long(planar_ ? s_.ic : icb_) * rowFloats_ * stepY_) *
            long(bf16_ ? sizeof(uint16_t) : sizeof(float)) / (groups_ > 1 ? groups_ : 1);
        long fit = std::max<long>(1, kCacheBytes / std::max<long>(1, unitBytes));
        if (flat_) fit = std::max(fit, 36L);
        if (planar_ && threads > 1) fit = std::min<long>(fit, ceilDiv(units, 4 * threads));
        const double pixels = flat_ ? double(flatCols_) : double(phase.rows) * phase.cols;
        const double weights =
            double(phase.offsets.size()) * layout().runLength(panels_[0]) * panels_[0].nb * k_.lanes;
        return splitGemm({units, fit, panels, pixels, weights, 1 << 18}, threads);
    }

    int unitsOf(const Phase& phase) const { return flat_ ? flatCols_ : phase.rows; }

    // Where chunk i begins.
    int unitBegin(int units, int i, int chunks) const {
        return chunkBeginTiled(units, i, chunks, tileUnits());
    }
    int tileUnits() const { return flat_ ? k_.panels->maxRows[panels_[0].nb] : 1; }

    template <typename T>
    void runImage(const Source<T>& src, const Weights& weights, float* dst, const float* bias,
                  const PostOps& post, ThreadPool& pool) const {
        const int panels = static_cast<int>(panels_.size());
        for (size_t f = 0; f < phases_.size(); ++f) {
            const Phase& phase = phases_[f];
            const Split split = splitFor(phase, pool.threads());
            parallelSlots(pool, split.chunks * split.groups, [&](int slot, int task) {
                const int chunk = task / split.groups, group = task % split.groups, units = unitsOf(phase);
                const int u0 = unitBegin(units, chunk, split.chunks),
                          u1 = unitBegin(units, chunk + 1, split.chunks);
                const int from = chunkBegin(panels, group, split.groups),
                          to = chunkBegin(panels, group + 1, split.groups);
                for (int i = from; i < to; ++i) {
                    runPanel(phase, panels_[i], panelWeights<T>(weights, f, i, slot), src, dst, bias, post,
                             u0, u1);
                }
            });
        }
    }

    // ---- bf16: the source of each chunk is rounded once, into a strip that its panels share ----

    // Where several tasks (or phases) read the same rows, all of them are rounded first.
    bool wholeStrip(const Split& split) const { return split.groups > 1 || phases_.size() > 1; }

    struct StripRows {
        int first, count;  // rows with border, or pixels when flat
    };
    StripRows stripRows(int u0, int u1) const {
        if (flat_) return {u0, u1 - u0};
        return {u0 * stepY_, std::min(height_ - u0 * stepY_, (u1 - 1 - u0) * stepY_ + tapRows_)};
    }
    StripRows allRows(const Phase& phase) const {
        return phases_.size() > 1 ? StripRows{0, height_} : stripRows(0, unitsOf(phase));
    }
    ptrdiff_t stripRow() const { return flat_ ? k_.lanes : rowFloats_; }

    size_t stripBytes(const Phase& phase, const Split& split) const {
        const int units = unitsOf(phase);
        const int rows = wholeStrip(split) ? allRows(phase).count
                                           : stripRows(0, maxChunk(units, split.chunks, tileUnits())).count;
        return (size_t(icb_) * rows * stripRow() * sizeof(uint16_t) + 63) / 64 * 64;
    }

    // Rows begin..end of all planes' rows, counted through.
    void fillStrip(const float* image, StripRows rows, uint16_t* strip, long begin, long end) const {
        const int P = k_.lanes;
        while (begin < end) {
            const int c = static_cast<int>(begin / rows.count), at = static_cast<int>(begin % rows.count);
            uint16_t* to = strip + begin * stripRow();
            const int lanes = std::min(P, s_.ic - c * P);
            if (flat_) {
                const int left = static_cast<int>(std::min<long>(end - begin, rows.count - at));
                const int pixel = rows.first + at;
                int n = left;
                if (sampled_) {
                    const int y = pixel / s_.ow, x = pixel % s_.ow;
                    n = std::min(left, s_.ow - x);
                    const ptrdiff_t from = (ptrdiff_t(y) * s_.strideH * s_.iw + x * s_.strideW) * P;
                    k_.bf16->convertBlock(image + c * plane_ + from, ptrdiff_t(s_.strideW) * P, n, lanes, to);
                } else {
                    k_.bf16->convertBlock(image + c * plane_ + pixel * pixel_, pixel_, n, lanes, to);
                }
                begin += n;
                continue;
            }
            ++begin;
            const int y = rows.first + at - top_;
            uint16_t* const rowEnd = to + rowFloats_;
            if (y >= 0 && y < s_.ih) {
                std::fill(to, to + left_ * P, uint16_t{0});
                to += left_ * P;
                k_.bf16->convertBlock(image + (ptrdiff_t(c) * s_.ih + y) * s_.iw * P, P, s_.iw, lanes, to);
                to += s_.iw * P;
            }
            std::fill(to, rowEnd, uint16_t{0});
        }
    }

    void fillStrip(const float* image, StripRows rows, uint16_t* strip, ThreadPool& pool) const {
        parallelRanges(pool, long(icb_) * rows.count, 4 * pool.threads(),
                       [&](long begin, long end) { fillStrip(image, rows, strip, begin, end); });
    }

    Source<uint16_t> stripSource(const uint16_t* strip, StripRows rows) const {
        return {strip, rows.count * stripRow(), flat_ ? k_.lanes : pixel_, rows.first};
    }

    void runStrips(const float* image, const Weights& weights, uint16_t* strips, float* dst,
                   const float* bias, const PostOps& post, ThreadPool& pool) const {
        const Phase& phase = phases_[0];
        const Split split = splitFor(phase, pool.threads());
        if (wholeStrip(split)) {
            const StripRows rows = allRows(phase);
            fillStrip(image, rows, strips, pool);
            return runImage(stripSource(strips, rows), weights, dst, bias, post, pool);
        }
        const size_t stride = stripBytes(phase, split) / sizeof(uint16_t);
        parallelSlots(pool, split.chunks, [&](int slot, int chunk) {
            InlinePool alone;
            uint16_t* strip = strips + slot * stride;
            const int units = unitsOf(phase);
            const int u0 = unitBegin(units, chunk, split.chunks),
                      u1 = unitBegin(units, chunk + 1, split.chunks);
            const StripRows rows = stripRows(u0, u1);
            fillStrip(image, rows, strip, alone);
            for (int i = 0; i < static_cast<int>(panels_.size()); ++i) {
                runPanel(phase, panels_[i], panelWeights<uint16_t>(weights, 0, i, slot),
                         stripSource(strip, rows), dst, bias, post, u0, u1);
            }
        });
    }

    void product(const PanelArgs& t) const { k_.panels->panel(t); }
    void product(const Bf16PanelArgs& t) const { k_.bf16->panel(t); }

    // Of a panel, but for where and how much it writes; reads from the first pixel.
    template <typename T>
    PanelArgsOf<T> panelArgs(const Phase& phase, const Panel& p, const T* w, const Source<T>& src,
                             const float* bias, const PostOps& post) const {
        PanelArgsOf<T> t{};
        t.a = src.data + (planar_ ? 0 : p.inBlock * src.plane);
        t.pixelStride = src.pixel;
        t.tapOffset = phase.offsets.data();
        t.taps = static_cast<int>(phase.offsets.size());
        t.fullBlocks = planar_ ? 0 : p.fullBlocks;
        t.blockStride = src.plane;
        t.tail = planar_ ? (joined_ ? s_.kw : 1) : p.tail;
        t.w = w;
        if (dequant_.used()) t.next = w;  // no panel follows an expanded one
        t.bias = bias + p.block * k_.lanes;
        t.lo = post.lo;
        t.hi = post.hi;
        t.act = post.act;
        t.nb = p.nb;
        t.lastLanes = k_.lanes;
        return t;
    }

    template <typename T>
    void runPanel(const Phase& phase, const Panel& p, const T* w, const Source<T>& src, float* dst,
                  const float* bias, const PostOps& post, int u0, int u1) const {
        const int P = k_.lanes;
        PanelArgsOf<T> t = panelArgs(phase, p, w, src, bias, post);
        const T* const from = t.a;
        if (flat_) {
            t.a = from + (u0 - src.first) * src.pixel;
            t.dstPixelStride = flatDstPixel_;
            t.dstBlockStride = flatDstBlock_;
            const ptrdiff_t at = p.block * flatDstBlock_ + u0 * flatDstPixel_;
            t.dst = dst + at;
            t.residual = post.residual ? post.residual + at : nullptr;
            t.m = u1 - u0;
            product(t);
            return;
        }
        const int sy = transposed_ ? s_.strideH : 1, sx = transposed_ ? s_.strideW : 1;
        t.dstPixelStride = ptrdiff_t(sx) * P;
        t.dstBlockStride = ptrdiff_t(s_.oh) * s_.ow * P;
        t.m = phase.cols;
        for (int y = u0; y < u1; ++y) {
            t.a = from + (y * stepY_ - src.first) * rowFloats_;
            const ptrdiff_t at =
                p.block * t.dstBlockStride + (ptrdiff_t(phase.py + y * sy) * s_.ow + phase.px) * P;
            t.dst = dst + at;
            t.residual = post.residual ? post.residual + at : nullptr;
            product(t);
        }
    }

    const Kernels& k_;
    const ConvShape s_;
    const int groups_;
    const bool transposed_, nchw_, bf16_;
    bool planar_ = false, flat_ = false, sampled_ = false, joined_ = false;
    int icb_ = 0, ocb_ = 0, images_ = 1, flatCols_ = 0, panelBlocks_ = 1;
    int stepY_ = 1, stepX_ = 1;
    int top_ = 0, left_ = 0, height_ = 0, width_ = 0, tapRows_ = 0;
    ptrdiff_t plane_ = 0, rowFloats_ = 0, pixel_ = 0, flatDstPixel_ = 0, flatDstBlock_ = 0;
    int planarRows_ = 0;       // outputs of a first layer's strip
    size_t planarFloats_ = 0;  // of the strip, 0 where the source needs no copy
    size_t paddedFloats_ = 0, weightElements_ = 0, largestPanel_ = 0;
    DequantPanels dequant_;
    std::vector<Phase> phases_;
    std::vector<Panel> panels_;
    std::vector<size_t> offsets_;
};

}  // namespace

std::unique_ptr<ConvPlan> makeGemmConvPlan(const Kernels& k, const ConvShape& shape,
                                           const ConvOptions& options) {
    return std::make_unique<GemmConvPlan>(k, shape, options);
}

}  // namespace mnnc
