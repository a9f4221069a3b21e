// Convolutions that multiply the int8 codes of quantised weights as they are, with activations rounded to 16
// bits: sums are exact, and the rounding is about 1e-5 of the largest value.
//
// A pixel of a 1x1 convolution has a scale of its own, found when it is rounded. Others share one for the image,
// because windows overlap; it takes a pass over the input. Both are the same however many threads there are.
// What is not finite makes every result that shares its scale NaN.
#include <atomic>
#include <bit>
#include <cstring>
#include <vector>

#include "backends/cpu/kernels/conv_plans.h"
#include "backends/cpu/kernels/pack.h"
#include "backends/cpu/kernels/panels.h"
#include "backends/cpu/kernels/w8a16_kernels.h"
#include "base/checked.h"
#include "model/weights.h"

namespace mnnc {
namespace {

constexpr int64_t kCacheBytes = 384 << 10;  // what one task keeps of its input in the second level cache

int64_t sumOf(const int8_t* codes, int64_t count) {
    constexpr int64_t kPiece = 1 << 16;  // fits 32 bits
    int64_t sum = 0;
    for (int64_t at = 0; at < count; at += kPiece) {
        const int n = static_cast<int>(std::min(kPiece, count - at));
        int32_t piece = 0;
        for (int i = 0; i < n; ++i) piece += codes[at + i];
        sum += piece;
    }
    return sum;
}

class W8A16Plan final : public ConvPlan {
  public:
    W8A16Plan(const Kernels& k, const ConvShape& shape, const ConvOptions& options)
        : k_(k), s_(shape), minima_(options.quantization.minima) {
        const int P = k.lanes;
        icb_ = ceilDiv(s_.ic, P);
        ocb_ = ceilDiv(s_.oc, P);
        images_ = s_.batch;
        point_ = s_.kh * s_.kw == 1 && s_.padTop == 0 && s_.padLeft == 0 &&
                 (s_.oh - 1) * s_.strideH < s_.ih && (s_.ow - 1) * s_.strideW < s_.iw;
        placeSource();
        const int blocks = bestPanelBlocks(*k.panels, point_ ? units_ : s_.ow, ocb_);
        panels_ = splitPanels(0, ocb_, blocks);
        panelBlocks_ = blocks;
        const int64_t perChannel = checkedMul(area(), 2 * pairs(), "packed weights");
        codeBytes_ = roundUp(checkedMul(ocb_ * int64_t{P}, perChannel, "packed weights"), 64);
    }

    // Codes in the order of the panels, then of all channels the scales, the scaled sums of the codes, the minima.
    size_t packedWeightBytes() const override {
        return size_t(codeBytes_) + size_t(ocb_) * k_.lanes * sizeof(float) * (minima_ ? 3 : 2);
    }

    bool keepsCodes() const override { return true; }
    void packWeights(const WeightReader&, void*, ThreadPool&) const override {}

    void packCodes(const QuantizedWeights& weights, void* packed, ThreadPool& pool) const override {
        parallelFor(pool, static_cast<int>(panels_.size()), [&](int i) {
            packPanel(weights.q.data(), static_cast<int8_t*>(packed) + codesAt(panels_[i]), panels_[i]);
        });
        const int channels = ocb_ * k_.lanes;
        float* scale = scalesOf(packed);
        padBias(weights.scale.data(), s_.oc, channels, scale);
        const int64_t line = int64_t{s_.ic} * area();
        parallelFor(pool, channels, [&](int o) {
            const int64_t sum = o < s_.oc ? sumOf(weights.q.data() + o * line, line) : 0;
            scale[channels + o] = scale[o] * static_cast<float>(sum);
        });
        if (minima_)
            padBias(weights.min.empty() ? nullptr : weights.min.data(), s_.oc, channels,
                    scale + 2 * channels);
    }

    std::string weightVariant() const override {
        return format("int16.p%d.n%d.m%d", k_.lanes, panelBlocks_, minima_);
    }

    size_t scratchBytes(int threads) const override {
        int64_t strips = 0;
        for (int t = 1; t <= std::max(1, threads); ++t) {
            const Split split = splitFor(t);
            const int64_t bytes = layout(maxUnits(split)).bytes;
            strips = std::max(strips, checkedMul(bytes, split.groups > 1 ? 1 : t, "scratch"));
        }
        return roundUpFloats(size_t(ocb_) * k_.lanes) * sizeof(float) + size_t(strips);
    }

    std::string algorithm() const override { return point_ ? "gemm1x1.int16.w8" : "direct.int16.w8"; }

    void run(const float* src, const void* packed, float* dst, const PostOps& post, void* scratch,
             ThreadPool& pool) const override {
        const int P = k_.lanes;
        float* bias = static_cast<float*>(scratch);
        padBias(post.bias, s_.oc, ocb_ * P, bias);
        auto* strips = reinterpret_cast<char*>(bias + roundUpFloats(size_t(ocb_) * P));
        const size_t srcImage = size_t(icb_) * P * s_.ih * s_.iw, dstImage = size_t(ocb_) * P * s_.oh * s_.ow;
        for (int n = 0; n < images_; ++n) {
            Image image{
                src + n * srcImage, static_cast<const int8_t*>(packed), dst + n * dstImage, bias, post, {}};
            if (post.residual) image.post.residual += n * dstImage;
            if (!point_) image.scale = k_.w8a16->scale(rangeOf(image.src, pool));
            runImage(image, strips, pool);
        }
    }

  private:
    struct Image {
        const float* src;
        const int8_t* packed;
        float* dst;
        const float* bias;
        PostOps post;
        ActivationScale scale;  // unless pixels have their own
    };

    // Units of the output (rows, or pixels where they have their own scales) and the rounded input they read.
    struct Strip {
        int16_t* data;
        float *scale, *offset;  // of each pixel, where they have their own
        float* sum;             // of what each output reads, where there are minima
        float* lines;           // sums of the channels of each pixel of data, from which those are made
        int u0, u1;
        int rows;  // of data
    };
    // Offsets in bytes.
    struct Layout {
        int64_t scale, offset, sum, lines, bytes;
    };

    int area() const { return s_.kh * s_.kw; }
    int64_t pairs() const { return (int64_t{s_.ic} + 1) / 2; }
    ptrdiff_t rowElements() const { return point_ ? k_.lanes : ptrdiff_t(width_) * k_.lanes; }
    int tileUnits() const { return point_ ? k_.panels->maxRows[panels_[0].nb] : 1; }
    int rowsOf(int units) const { return point_ ? units : (units - 1) * s_.strideH + tapRows_; }
    int maxUnits(const Split& split) const {
        return split.groups > 1 ? units_ : maxChunk(units_, split.chunks, tileUnits());
    }

    size_t codesAt(const OutPanel& panel) const {
        return size_t(panel.block) * k_.lanes * area() * 2 * size_t(pairs());
    }
    float* scalesOf(void* packed) const {
        return reinterpret_cast<float*>(static_cast<char*>(packed) + codeBytes_);
    }
    const float* scalesOf(const int8_t* packed) const {
        return reinterpret_cast<const float*>(packed + codeBytes_);
    }

    void placeSource() {
        const int P = k_.lanes;
        if (point_) {
            const bool batchRow = s_.ih * s_.iw == 1;  // fully connected: the batch is the row
            units_ = batchRow ? s_.batch : s_.oh * s_.ow;
            if (batchRow) images_ = 1;
            srcPixel_ = batchRow ? ptrdiff_t(icb_) * P : ptrdiff_t(s_.strideW) * P;
            srcPlane_ = batchRow ? P : ptrdiff_t(s_.ih) * s_.iw * P;
            dstPixel_ = batchRow ? ptrdiff_t(ocb_) * P : P;
            dstBlock_ = batchRow ? P : ptrdiff_t(units_) * P;
            // Rows of pixels that follow one another at the same distance.
            line_ = batchRow || (s_.strideW == 1 && s_.strideH == 1 && s_.ow == s_.iw) ? units_ : s_.ow;
            offsets_ = {0};
            return;
        }
        units_ = s_.oh;
        srcPlane_ = ptrdiff_t(s_.ih) * s_.iw * P;
        dstPixel_ = P;
        dstBlock_ = ptrdiff_t(s_.oh) * s_.ow * P;
        top_ = std::max(0, s_.padTop);
        left_ = std::max(0, s_.padLeft);
        const int lastX = (s_.ow - 1) * s_.strideW - s_.padLeft + (s_.kw - 1) * s_.dilateW;
        width_ = left_ + std::max(s_.iw, lastX + 1);
        tapRows_ = (s_.kh - 1) * s_.dilateH - s_.padTop + top_ + 1;
        for (int ky = 0; ky < s_.kh; ++ky)
            for (int kx = 0; kx < s_.kw; ++kx)
                offsets_.push_back(((ky * s_.dilateH - s_.padTop + top_) * ptrdiff_t(width_) +
                                    kx * s_.dilateW - s_.padLeft + left_) *
                                   P);
    }

    Layout layout(int units) const {
        const int64_t rows = rowsOf(units);
        const int64_t data = checkedMul(checkedMul(rows, rowElements(), "scratch"),
                                        icb_ * int64_t{sizeof(int16_t)}, "scratch");
        Layout l{};
        l.scale = roundUp(data, 64);
        l.offset = l.scale + (point_ ? roundUp(int64_t{units} * 4, 64) : 0);
        l.sum = l.offset + (point_ ? roundUp(int64_t{units} * 4, 64) : 0);
        l.lines = l.sum + (minima_ ? roundUp(int64_t{units} * (point_ ? 1 : s_.ow) * 4, 64) : 0);
        l.bytes = l.lines + (minima_ && !point_ ? roundUp(rows * width_ * 4, 64) : 0);
        return l;
    }

    Strip stripOf(char* memory, int u0, int u1) const {
        const Layout l = layout(u1 - u0);
        return {reinterpret_cast<int16_t*>(memory),
                reinterpret_cast<float*>(memory + l.scale),
                reinterpret_cast<float*>(memory + l.offset),
                reinterpret_cast<float*>(memory + l.sum),
                reinterpret_cast<float*>(memory + l.lines),
                u0,
                u1,
                rowsOf(u1 - u0)};
    }

    void packPanel(const int8_t* weights, int8_t* out, const OutPanel& panel) const {
        const int P = k_.lanes, first = panel.block * P, width = panel.nb * P;
        const size_t line = size_t(s_.ic) * area();
        // The codes of a tap, an output's in a row of fours; two pairs at a time are transposed.
        const size_t fours = (size_t(s_.ic) + 3) / 4;
        std::vector<float> rows(size_t(P) * fours), columns(rows.size());
        for (int tap = 0; tap < area(); ++tap, out += 2 * pairs() * width)
            for (int b = 0; b < panel.nb; ++b) {
                const int real = std::min(P, s_.oc - (first + b * P));
                for (int l = 0; l < real; ++l)
                    codesOf(weights + size_t(first + b * P + l) * line + tap,
                            reinterpret_cast<int8_t*>(rows.data() + l * fours));
                k_.pack->rowsToBlock(rows.data(), fours, real, fours, columns.data());
                int8_t* to = out + 2 * b * P;
                for (int64_t pair = 0; pair < pairs(); pair += 2, to += 4 * width) {
                    uint16_t even[16], odd[16];
                    for (int l = 0; l < P; ++l) {
                        const auto four = std::bit_cast<uint32_t>(columns[size_t(pair / 2) * P + l]);
                        even[l] = static_cast<uint16_t>(four);  // the first bytes: hosts are little-endian
                        odd[l] = static_cast<uint16_t>(four >> 16);
                    }
                    std::memcpy(to, even, size_t(P) * 2);
                    if (pair + 1 < pairs()) std::memcpy(to + 2 * width, odd, size_t(P) * 2);
                }
            }
    }

    // Of one output and one tap.
    void codesOf(const int8_t* from, int8_t* to) const {
        const int channels = s_.ic, step = area();
        if (step == 1)
            std::memcpy(to, from, size_t(channels));
        else
            for (int c = 0; c < channels; ++c) to[c] = from[size_t(c) * step];
    }

    ActivationRange rangeOf(const float* src, ThreadPool& pool) const {
        const int P = k_.lanes;
        std::atomic<uint32_t> largest{0}, signs{0};
        parallelRanges(pool, long(icb_) * s_.ih, 4 * pool.threads(), [&](long begin, long end) {
            while (begin < end) {
                const int c = static_cast<int>(begin / s_.ih);
                const long rows = std::min(end, (c + 1L) * s_.ih) - begin;
                const ActivationRange here = k_.w8a16->range(src + begin * s_.iw * P, size_t(rows) * s_.iw,
                                                             std::min(P, s_.ic - c * P));
                signs.fetch_or(here.signs, std::memory_order_relaxed);
                uint32_t seen = largest.load(std::memory_order_relaxed);
                while (seen < here.largest &&
                       !largest.compare_exchange_weak(seen, here.largest, std::memory_order_relaxed)) {
                }
                begin += rows;
            }
        });
        return {largest.load(std::memory_order_relaxed), signs.load(std::memory_order_relaxed)};
    }

    // ---- rounding: rows begin .. end of the strip, of every channel ----

    void fill(const Image& image, const Strip& strip, int begin, int end) const {
        if (point_)
            fillPixels(image, strip, begin, end);
        else
            fillRows(image, strip, begin, end);
    }

    void fillPixels(const Image& image, const Strip& strip, int begin, int end) const {
        RoundPixelsArgs t;
        t.pixelStride = srcPixel_;
        t.blockStride = srcPlane_;
        t.channels = s_.ic;
        t.dstBlockStride = strip.rows * rowElements();
        for (int at = begin; at < end; at += t.pixels) {
            const int pixel = strip.u0 + at, y = pixel / line_, x = pixel % line_;
            t.pixels = std::min(end - at, line_ - x);
            t.src = image.src + ptrdiff_t(y) * s_.strideH * s_.iw * k_.lanes + x * srcPixel_;
            t.dst = strip.data + ptrdiff_t(at) * k_.lanes;
            t.scale = strip.scale + at;
            t.offset = strip.offset + at;
            t.sum = minima_ ? strip.sum + at : nullptr;
            k_.w8a16->roundPixels(t);
        }
    }

    void fillRows(const Image& image, const Strip& strip, int begin, int end) const {
        const int P = k_.lanes;
        const auto zero = static_cast<int16_t>(image.scale.zero);
        for (int at = begin; at < end; ++at) {
            const int y = strip.u0 * s_.strideH + at - top_;
            const bool inside = y >= 0 && y < s_.ih;
            float* sums = minima_ ? strip.lines + ptrdiff_t(at) * width_ : nullptr;
            if (sums) std::fill_n(sums, width_, 0.0f);
            for (int c = 0; c < icb_; ++c) {
                int16_t* to = strip.data + (ptrdiff_t(c) * strip.rows + at) * rowElements();
                if (!inside) {
                    std::fill_n(to, rowElements(), zero);
                    continue;
                }
                int16_t* const first = std::fill_n(to, left_ * P, zero);
                k_.w8a16->round(image.src + (ptrdiff_t(c) * s_.ih + y) * s_.iw * P, s_.iw,
                                std::min(P, s_.ic - c * P), image.scale, first,
                                sums ? sums + left_ : nullptr);
                std::fill(first + ptrdiff_t(s_.iw) * P, to + rowElements(), zero);
            }
        }
    }

    // What the outputs of rows begin .. end read. (Pixels of their own have it already.)
    void sumWindows(const Strip& strip, int begin, int end) const {
        const int P = k_.lanes;
        for (int u = begin; u < end; ++u) {
            const float* from = strip.lines + ptrdiff_t(u) * s_.strideH * width_;
            for (int x = 0; x < s_.ow; ++x) {
                float sum = 0.0f;
                for (const ptrdiff_t tap : offsets_) sum += from[ptrdiff_t(x) * s_.strideW + tap / P];
                strip.sum[ptrdiff_t(u) * s_.ow + x] = sum;
            }
        }
    }

    void prepare(const Image& image, const Strip& strip, ThreadPool& pool) const {
        const auto each = [&](int count, auto&& body) {
            parallelRanges(pool, count, 4 * pool.threads(), [&](long begin, long end) {
                body(static_cast<int>(begin), static_cast<int>(end));
            });
        };
        each(strip.rows, [&](int begin, int end) { fill(image, strip, begin, end); });
        if (minima_ && !point_)
            each(strip.u1 - strip.u0, [&](int begin, int end) { sumWindows(strip, begin, end); });
    }

    // ---- products ----

    Split splitFor(int threads) const {
        const int64_t unit = icb_ * int64_t{sizeof(int16_t)} * rowElements() * (point_ ? 1 : s_.strideH);
        const long fit = std::max<long>(point_ ? 36 : 1, static_cast<long>(kCacheBytes / unit));
        const double pixels = point_ ? double(units_) : double(s_.oh) * s_.ow;
        const double weights = double(area()) * s_.ic * panels_[0].nb * k_.lanes;
        return splitGemm({units_, fit, static_cast<int>(panels_.size()), pixels, weights, 1 << 19}, threads);
    }

    void runImage(const Image& image, char* strips, ThreadPool& pool) const {
        const Split split = splitFor(pool.threads());
        const int panels = static_cast<int>(panels_.size());
        const auto unitBegin = [&](int chunk) {
            return chunkBeginTiled(units_, chunk, split.chunks, tileUnits());
        };
        if (split.groups > 1) {  // several tasks read the same rows
            const Strip strip = stripOf(strips, 0, units_);
            prepare(image, strip, pool);
            parallelFor(pool, split.chunks * split.groups, [&](int task) {
                const int chunk = task / split.groups, group = task % split.groups;
                const int to = chunkBegin(panels, group + 1, split.groups);
                for (int i = chunkBegin(panels, group, split.groups); i < to; ++i)
                    runPanel(image, strip, panels_[i], unitBegin(chunk), unitBegin(chunk + 1));
            });
            return;
        }
        const int64_t stride = layout(maxUnits(split)).bytes;
        parallelSlots(pool, split.chunks, [&](int slot, int chunk) {
            InlinePool alone;
            const Strip strip = stripOf(strips + slot * stride, unitBegin(chunk), unitBegin(chunk + 1));
            prepare(image, strip, alone);
            for (const OutPanel& panel : panels_) runPanel(image, strip, panel, strip.u0, strip.u1);
        });
    }

    void runPanel(const Image& image, const Strip& strip, const OutPanel& panel, int u0, int u1) const {
        const int P = k_.lanes;
        const PostOps& post = image.post;
        W8A16PanelArgs t;
        t.pixelStride = point_ ? P : ptrdiff_t(s_.strideW) * P;
        t.tapOffset = offsets_.data();
        t.taps = area();
        t.fullBlocks = s_.ic / P;
        t.blockStride = strip.rows * rowElements();
        t.tail = s_.ic % P;
        t.w = image.packed + codesAt(panel);
        t.dstPixelStride = dstPixel_;
        t.dstBlockStride = dstBlock_;
        t.bias = image.bias + panel.block * P;
        t.scale = scalesOf(image.packed) + panel.block * P;
        t.codeSum = t.scale + ocb_ * P;
        t.min = minima_ ? t.codeSum + ocb_ * P : nullptr;
        t.pixelScaleStep = point_ ? 1 : 0;
        t.lo = post.lo;
        t.hi = post.hi;
        t.act = post.act;
        t.nb = panel.nb;
        t.lastLanes = P;
        const auto go = [&](int row, ptrdiff_t pixel, int m) {
            const ptrdiff_t at = panel.block * dstBlock_ + pixel * dstPixel_;
            t.a = strip.data + row * rowElements();
            t.dst = image.dst + at;
            t.residual = post.residual ? post.residual + at : nullptr;
            t.m = m;
            k_.w8a16->panel(t);
        };
        if (point_) {
            t.pixelScale = strip.scale + (u0 - strip.u0);
            t.pixelOffset = strip.offset + (u0 - strip.u0);
            t.pixelSum = strip.sum + (u0 - strip.u0);
            return go(u0 - strip.u0, u0, u1 - u0);
        }
        t.pixelScale = &image.scale.scale;
        t.pixelOffset = &image.scale.offset;
        for (int y = u0; y < u1; ++y) {
            t.pixelSum = strip.sum + ptrdiff_t(y - strip.u0) * s_.ow;
            go((y - strip.u0) * s_.strideH, ptrdiff_t(y) * s_.ow, s_.ow);
        }
    }

    const Kernels& k_;
    const ConvShape s_;
    const bool minima_;
    bool point_ = false;
    int icb_ = 0, ocb_ = 0, images_ = 1, units_ = 1, line_ = 1, panelBlocks_ = 1;
    int top_ = 0, left_ = 0, width_ = 0, tapRows_ = 0;
    ptrdiff_t srcPixel_ = 0, srcPlane_ = 0, dstPixel_ = 0, dstBlock_ = 0;
    int64_t codeBytes_ = 0;
    std::vector<ptrdiff_t> offsets_;  // of the taps, in elements of a strip
    std::vector<OutPanel> panels_;
};

}  // namespace

std::unique_ptr<ConvPlan> makeW8A16Plan(const Kernels& k, const ConvShape& shape,
                                        const ConvOptions& options) {
    return std::make_unique<W8A16Plan>(k, shape, options);
}

}  // namespace mnnc
