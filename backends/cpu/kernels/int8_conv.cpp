#include "backends/cpu/kernels/int8_conv.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/cpu/kernels/chunks.h"
#include "backends/cpu/kernels/cpu_costs.h"
#include "backends/cpu/kernels/int8_kernels.h"
#include "backends/cpu/kernels/pack.h"
#include "backends/cpu/kernels/panels.h"
#include "base/checked.h"
#include "base/error.h"

namespace mnnc {
namespace {

constexpr int64_t kCacheBytes = 256 << 10;  // what one task keeps of its input in the second level cache

int64_t roundUp(int64_t bytes) {
    return (bytes + 63) / 64 * 64;
}

// `count` codes that lie `step` apart, as numbers side by side.
template <typename T>
void spaced(const int8_t* from, int step, int count, T* to) {
    if (step == 1)
        std::copy(from, from + count, to);
    else
        for (int i = 0; i < count; ++i) to[i] = from[size_t(i) * step];
}

struct Panel {
    int block, nb;
    int inBlock;  // first block of input channels read
    int channels;
};

class DensePlan final : public Int8ConvPlan {
  public:
    DensePlan(const Kernels& k, const ConvShape& shape, int groups, bool nchw)
        : k_(*k.int8), pack_(*k.pack), s_(shape), groups_(groups), nchw_(nchw) {
        const int P = k_.lanes;
        icb_ = ceilDiv(s_.ic, P);
        ocb_ = ceilDiv(s_.oc, P);
        narrow_ = groups_ == 1 && s_.ic <= 4 && (s_.kh * s_.kw > 1 || nchw_);
        if (nchw_ && !narrow_) fail(Status::NotSupported, "no int8 convolution reads this shape row-major");
        flat_ = !narrow_ && s_.kh * s_.kw == 1 && s_.strideH == 1 && s_.strideW == 1 && s_.padTop == 0 &&
                s_.padLeft == 0 && s_.oh == s_.ih && s_.ow == s_.iw;
        placeSource();
        makePanels();
    }

    int64_t packedBytes() const override { return weightBytes_; }

    std::string weightVariant() const override {
        return format("int8%s.u%d.p%d.n%d.g%d", narrow_ ? "narrow" : "", k_.unit, k_.lanes, panelBlocks_,
                      groups_);
    }

    void packWeights(const int8_t* weights, void* packed, ThreadPool& pool) const override {
        parallelFor(pool, static_cast<int>(panels_.size()), [&](int i) {
            packPanel(weights, static_cast<char*>(packed) + offsets_[static_cast<size_t>(i)],
                      panels_[static_cast<size_t>(i)]);
        });
    }

    int64_t scratchBytes(bool withMin) const override {
        return sourceBytes_ + (withMin ? roundUp(int64_t{pixels_} * 4) : 0);
    }

    const char* algorithm() const override {
        return narrow_ ? "int8 first" : groups_ > 1 ? "int8 grouped" : flat_ ? "int8 gemm1x1" : "int8 direct";
    }

    void run(const int8_t* src, const void* packed, int8_t* dst, float* floats, const Int8Post& post,
             void* scratch, ThreadPool& pool) const override {
        auto* source = static_cast<char*>(scratch);
        auto* sums = reinterpret_cast<float*>(source + sourceBytes_);
        const int64_t srcImage = int64_t{nchw_ ? s_.ic : icb_ * k_.lanes} * s_.ih * s_.iw;
        const int64_t dstImage = int64_t{ocb_} * k_.lanes * s_.oh * s_.ow;
        for (int n = 0; n < images_; ++n) {
            Image image{src + n * srcImage,
                        source,
                        static_cast<const char*>(packed),
                        sums,
                        dst ? dst + n * dstImage : nullptr,
                        floats ? floats + n * dstImage : nullptr,
                        &post};
            runImage(image, pool);
        }
    }

  private:
    struct Image {
        const int8_t* src;
        char* source;  // src as products want it
        const char* packed;
        float* sums;
        int8_t* dst;
        float* floats;
        const Int8Post* post;
    };

    // The source as products want it: x + 128 in units of the instruction set, with a border where taps leave
    // the map. Narrow: four channels side by side.
    void placeSource() {
        const int P = k_.lanes, lanes = narrow_ ? 4 : P;
        const int lastY = (s_.oh - 1) * s_.strideH - s_.padTop + (s_.kh - 1) * s_.dilateH;
        const int lastX = (s_.ow - 1) * s_.strideW - s_.padLeft + (s_.kw - 1) * s_.dilateW;
        top_ = std::max(0, s_.padTop);
        left_ = std::max(0, s_.padLeft);
        height_ = top_ + std::max(s_.ih, lastY + 1);
        width_ = left_ + std::max(s_.iw, lastX + 1);
        pixelBytes_ = lanes * k_.unit;
        rowBytes_ = ptrdiff_t(width_) * pixelBytes_;
        plane_ = checkedMul(rowBytes_, height_, "scratch");
        planes_ = narrow_ ? 1 : icb_;
        images_ = s_.batch;
        pixels_ = s_.oh * s_.ow;
        step_ = ptrdiff_t(s_.strideW) * pixelBytes_;
        // Taps of a row that touch one another are one.
        const bool joined = narrow_ && s_.dilateW == 1;
        for (int ky = 0; ky < s_.kh; ++ky)
            for (int kx = 0; kx < (joined ? 1 : s_.kw); ++kx)
                taps_.push_back((ky * s_.dilateH - s_.padTop + top_) * rowBytes_ +
                                (kx * s_.dilateW - s_.padLeft + left_) * ptrdiff_t(pixelBytes_));
        joined_ = joined ? s_.kw : 1;
        dstPixel_ = P;
        dstBlock_ = ptrdiff_t(pixels_) * P;
        if (flat_ && pixels_ == 1) {  // fully connected: the batch is the row
            images_ = 1;
            pixels_ = s_.batch;
            step_ = ptrdiff_t(icb_) * pixelBytes_;
            plane_ = pixelBytes_;
            dstPixel_ = ptrdiff_t(ocb_) * P;
            dstBlock_ = P;
            sourceBytes_ = roundUp(ptrdiff_t(icb_) * pixelBytes_ * s_.batch);
        } else {
            sourceBytes_ = roundUp(checkedMul(plane_, planes_, "scratch"));
        }
    }

    void makePanels() {
        const int P = k_.lanes, icg = s_.ic / groups_, ocg = s_.oc / groups_;
        const auto add = [&](int block, int nb, int first, int last) {
            const int inBlock = first / P;
            panels_.push_back({block, nb, inBlock, last - inBlock * P});
        };
        if (groups_ == 1 || (icg % P == 0 && ocg % P == 0)) {
            const int blocks = ceilDiv(ocg, P);
            panelBlocks_ = std::min(blocks, bestBlocks(blocks));
            for (int g = 0; g < groups_; ++g)
                for (const OutPanel& o : splitPanels(g * blocks, blocks, panelBlocks_))
                    add(o.block, o.nb, g * icg, (g + 1) * icg);
        } else {
            // Groups that do not fill blocks: a block of outputs reads the inputs of every group it holds,
            // with zero weights where they are not its own.
            for (int b = 0; b < ocb_; ++b) {
                const int last = std::min(s_.oc, (b + 1) * P) - 1;
                add(b, 1, b * P / ocg * icg, (last / ocg + 1) * icg);
            }
        }
        for (const Panel& p : panels_) {
            offsets_.push_back(weightBytes_);
            weightBytes_ = checkedAdd(
                weightBytes_,
                checkedMul(checkedMul(int64_t{static_cast<int>(taps_.size())}, stepsOf(p), "packed weights"),
                           int64_t{p.nb} * P * 4, "packed weights"),
                "packed weights");
        }
    }

    // The panel width that is cheapest for a row of outputs.
    int bestBlocks(int blocks) const {
        const int m = flat_ ? pixels_ : s_.ow;
        int best = 1;
        double bestCost = 0;
        for (int nb = k_.maxPanelBlocks; nb >= 1; --nb) {
            const int panels = ceilDiv(blocks, nb);
            double cost = 0;
            for (int i = 0; i < panels; ++i) {
                const int wide = chunkBegin(blocks, i + 1, panels) - chunkBegin(blocks, i, panels);
                const int tiles = ceilDiv(m, k_.maxRows[wide]);
                cost += (m % tiles) * tileCycles(m / tiles + 1, wide) +
                        (tiles - m % tiles) * tileCycles(m / tiles, wide);
            }
            if (nb == k_.maxPanelBlocks || cost < bestCost * 0.98) {
                best = nb;
                bestCost = cost;
            }
        }
        return best;
    }

    int perStep() const { return 4 / k_.unit; }  // channels
    int fullSteps() const { return k_.lanes / perStep(); }
    // Of one tap.
    int stepsOf(const Panel& p) const {
        return narrow_ ? joined_ * k_.unit : p.channels / k_.lanes * fullSteps() + tailSteps(p);
    }
    int tailSteps(const Panel& p) const { return ceilDiv(p.channels % k_.lanes, perStep()); }

    // A tap at a time: the codes of an output channel in the order of the steps, then those rows transposed in
    // units of a step.
    void packPanel(const int8_t* weights, char* out, const Panel& p) const {
        const int P = k_.lanes, ocg = s_.oc / groups_, steps = stepsOf(p), width = p.nb * P;
        std::vector<float> rows(size_t(P) * steps);
        for (int tap = 0; tap < static_cast<int>(taps_.size()); ++tap, out += size_t(steps) * width * 4)
            for (int b = 0; b < p.nb; ++b) {
                const int first = (p.block + b) * P, real = std::min(P, s_.oc - first);
                // Channels of other groups have zero weights, and which they are differs from row to row.
                if (groups_ > 1) std::fill(rows.begin(), rows.end(), 0.0f);
                for (int l = 0; l < real; ++l) {
                    float* row = rows.data() + size_t(l) * steps;
                    const int skipped = (first + l) / ocg * (s_.ic / groups_) - p.inBlock * P;
                    if (k_.unit == 1)
                        tapCodes(weights, first + l, tap, reinterpret_cast<int8_t*>(row) + skipped);
                    else
                        tapCodes(weights, first + l, tap, reinterpret_cast<int16_t*>(row) + skipped);
                }
                pack_.rowsToPanel(rows.data(), steps, real, steps, reinterpret_cast<float*>(out) + b * P,
                                  width);
            }
    }

    // What one output channel multiplies at a tap.
    template <typename T>
    void tapCodes(const int8_t* weights, int oc, int tap, T* to) const {
        const int icg = s_.ic / groups_, area = s_.kh * s_.kw;
        const int8_t* from = weights + int64_t{oc} * icg * area + tap * joined_;
        if (!narrow_) return spaced(from, area, icg, to);
        for (int kx = 0; kx < joined_; ++kx) spaced(from + kx, area, icg, to + kx * 4);
    }

    // Units [begin, end) of all planes: rows of the bordered map, or pixels where there is no border to make.
    void fillRows(const Image& image, int padding, int64_t begin, int64_t end) const {
        const int P = k_.lanes;
        const auto fill = [&](char* to, ptrdiff_t bytes) {
            if (k_.unit == 1) {
                std::memset(to, padding + 128, static_cast<size_t>(bytes));
            } else {
                const auto value = static_cast<int16_t>(padding + 128);
                for (ptrdiff_t i = 0; i < bytes; i += 2) std::memcpy(to + i, &value, 2);
            }
        };
        for (int64_t i = begin; i < end; ++i) {
            const int c = static_cast<int>(i / height_), y = static_cast<int>(i % height_) - top_;
            char* to = image.source + i * rowBytes_;
            if (y < 0 || y >= s_.ih) {
                fill(to, rowBytes_);
                continue;
            }
            fill(to, ptrdiff_t(left_) * pixelBytes_);
            char* inside = to + ptrdiff_t(left_) * pixelBytes_;
            const ptrdiff_t bytes = ptrdiff_t(s_.iw) * pixelBytes_;
            if (narrow_)
                narrowRow(image.src, y, inside);
            else
                k_.widen(image.src + (int64_t{c} * s_.ih + y) * s_.iw * P, inside, size_t(s_.iw) * P);
            fill(inside + bytes, to + rowBytes_ - inside - bytes);
        }
    }

    // One row, four channels to a pixel; those that are not there have zero weights.
    void narrowRow(const int8_t* src, int y, char* to) const {
        const int P = k_.lanes;
        constexpr int kPixels = 64;
        int8_t four[kPixels * 4] = {};
        for (int x0 = 0; x0 < s_.iw; x0 += kPixels) {
            const int n = std::min(kPixels, s_.iw - x0);
            if (nchw_) {
                const auto* from = reinterpret_cast<const uint8_t*>(src) + int64_t{y} * s_.iw + x0;
                const int64_t plane = int64_t{s_.ih} * s_.iw;
                const uint8_t* c[4];
                for (int i = 0; i < 4; ++i) c[i] = from + (i < s_.ic ? i * plane : 0);
                uint32_t pixels[kPixels];
                for (int x = 0; x < n; ++x)
                    pixels[x] =
                        c[0][x] | uint32_t{c[1][x]} << 8 | uint32_t{c[2][x]} << 16 | uint32_t{c[3][x]} << 24;
                std::memcpy(four, pixels, size_t(n) * 4);
            } else {
                const int8_t* from = src + (int64_t{y} * s_.iw + x0) * P;
                for (int x = 0; x < n; ++x) std::memcpy(four + x * 4, from + int64_t{x} * P, 4);
            }
            k_.widen(four, to + ptrdiff_t(x0) * pixelBytes_, size_t(n) * 4);
        }
    }

    // Of all blocks.
    void fillPixels(const Image& image, int u0, int u1) const {
        const int P = k_.lanes;
        if (plane_ == pixelBytes_) {  // the batch is the row
            k_.widen(image.src + int64_t{u0} * icb_ * P, image.source + u0 * step_,
                     size_t(u1 - u0) * icb_ * P);
            return;
        }
        for (int c = 0; c < icb_; ++c)
            k_.widen(image.src + (int64_t{c} * pixels_ + u0) * P, image.source + c * plane_ + u0 * step_,
                     size_t(u1 - u0) * P);
    }

    void runImage(const Image& image, ThreadPool& pool) const {
        const int panels = static_cast<int>(panels_.size()), threads = pool.threads();
        const int units = flat_ ? pixels_ : s_.oh;
        const int64_t unitBytes =
            (flat_ ? int64_t{icb_} * pixelBytes_ : int64_t{planes_} * rowBytes_ * s_.strideH) / groups_;
        long fit = std::max<int64_t>(1, kCacheBytes / std::max<int64_t>(1, unitBytes));
        if (flat_) fit = std::max(fit, 36L);
        const Panel& first = panels_[0];
        const double weights = double(taps_.size()) * stepsOf(first) * perStep() * first.nb * k_.lanes;
        const Split split = splitGemm({units, fit, panels, double(pixels_), weights, 1 << 20, 24}, threads);
        const int chunks = split.chunks, groups = split.groups;
        // A chunk that one task has to itself is prepared by it, while it is in the cache anyway.
        const bool prepared = !flat_ || groups > 1 || image.post->min;
        if (!flat_)
            parallelRanges(pool, static_cast<long>(planes_) * height_, 4 * threads,
                           [&](long begin, long end) { fillRows(image, image.post->padding, begin, end); });
        else if (prepared)
            parallelRanges(pool, pixels_, 4 * threads, [&](long begin, long end) {
                fillPixels(image, static_cast<int>(begin), static_cast<int>(end));
            });
        if (image.post->min) sumPixels(image, pool);
        parallelFor(pool, chunks * groups, [&](int task) {
            const int chunk = task / groups, group = task % groups;
            const int u0 = chunkBegin(units, chunk, chunks), u1 = chunkBegin(units, chunk + 1, chunks);
            if (!prepared) fillPixels(image, u0, u1);
            for (int i = chunkBegin(panels, group, groups); i < chunkBegin(panels, group + 1, groups); ++i)
                runPanel(image, i, u0, u1);
        });
    }

    void runPanel(const Image& image, int index, int u0, int u1) const {
        const int P = k_.lanes;
        const Panel& p = panels_[static_cast<size_t>(index)];
        const Int8Post& post = *image.post;
        Int8PanelArgs t;
        t.pixelStride = step_;
        t.tapOffset = taps_.data();
        t.taps = static_cast<int>(taps_.size());
        t.fullBlocks = narrow_ ? 1 : p.channels / P;
        t.fullSteps = narrow_ ? stepsOf(p) : fullSteps();
        t.blockStride = plane_;
        t.tailSteps = narrow_ ? 0 : tailSteps(p);
        t.w = image.packed + offsets_[static_cast<size_t>(index)];
        t.dstPixelStride = dstPixel_;
        t.dstBlockStride = dstBlock_;
        t.scale = post.scale + p.block * P;
        t.offset = post.offset + p.block * P;
        t.min = post.min ? post.min + p.block * P : nullptr;
        t.ratio = post.ratio;
        t.lo = post.lo;
        t.hi = post.hi;
        t.nb = p.nb;
        const char* from = image.source + (narrow_ ? 0 : p.inBlock * plane_);
        const auto go = [&](const char* a, int pixel, int m) {
            t.a = a;
            t.m = m;
            const ptrdiff_t to = p.block * dstBlock_ + pixel * dstPixel_;
            t.dst = image.dst ? image.dst + to : nullptr;
            t.floats = image.floats ? image.floats + to : nullptr;
            t.pixelSums = image.sums + pixel;
            k_.panel(t);
        };
        if (flat_) return go(from + u0 * step_, u0, u1 - u0);
        for (int y = u0; y < u1; ++y) go(from + ptrdiff_t(y) * s_.strideH * rowBytes_, y * s_.ow, s_.ow);
    }

    // Sums of what a pixel's window holds, times the ratio: for weights with a minimum (which groups have
    // not).
    void sumPixels(const Image& image, ThreadPool& pool) const {
        parallelRanges(pool, pixels_, 4 * pool.threads(), [&](long begin, long end) {
            for (long i = begin; i < end; ++i) {
                const char* at = image.source +
                                 (flat_ ? i * step_ : i / s_.ow * s_.strideH * rowBytes_ + i % s_.ow * step_);
                int64_t sum = 0;
                for (const ptrdiff_t tap : taps_)
                    for (int j = 0; j < joined_; ++j)
                        for (int c = 0; c < s_.ic; ++c)
                            sum += value(at + tap + j * pixelBytes_ + c / k_.lanes * plane_, c % k_.lanes);
                image.sums[i] = static_cast<float>(sum) * image.post->ratio;
            }
        });
    }
    int value(const char* pixel, int lane) const {
        if (k_.unit == 1) return static_cast<uint8_t>(pixel[lane]);
        int16_t wide;
        std::memcpy(&wide, pixel + lane * 2, 2);
        return wide;
    }

    const Int8Kernels& k_;
    const PackKernels& pack_;
    const ConvShape s_;
    const int groups_;
    const bool nchw_;
    bool narrow_ = false, flat_ = false;
    int icb_ = 0, ocb_ = 0, planes_ = 0, images_ = 1, pixels_ = 0, panelBlocks_ = 1, joined_ = 1;
    int top_ = 0, left_ = 0, height_ = 0, width_ = 0, pixelBytes_ = 0;
    ptrdiff_t rowBytes_ = 0, plane_ = 0, step_ = 0, dstPixel_ = 0, dstBlock_ = 0;
    int64_t sourceBytes_ = 0, weightBytes_ = 0;
    std::vector<ptrdiff_t> taps_;
    std::vector<Panel> panels_;
    std::vector<int64_t> offsets_;
};

class DepthwisePlan final : public Int8ConvPlan {
  public:
    DepthwisePlan(const Kernels& k, const ConvShape& shape)
        : k_(*k.int8),
          pack_(*k.pack),
          s_(shape),
          blocks_(ceilDiv(shape.oc, k.lanes)),
          perGroup_(4 / k.int8->unit),
          groups_(ceilDiv(shape.kh, perGroup_)) {}

    int64_t packedBytes() const override { return blocks_ * blockBytes(); }

    std::string weightVariant() const override { return format("int8depthwise.u%d.p%d", k_.unit, k_.lanes); }

    // [block][kx][group of rows][lane][rows of the group]
    void packWeights(const int8_t* weights, void* packed, ThreadPool& pool) const override {
        parallelFor(pool, blocks_, [&](int b) {
            const int P = k_.lanes, first = b * P, real = std::min(P, s_.oc - first), words = s_.kw * groups_;
            std::vector<float> rows(size_t(P) * words);
            for (int l = 0; l < real; ++l) {
                const int8_t* from = weights + int64_t{first + l} * s_.kh * s_.kw;
                float* row = rows.data() + size_t(l) * words;
                for (int kx = 0; kx < s_.kw; ++kx) {
                    if (k_.unit == 1)
                        spaced(from + kx, s_.kw, s_.kh, reinterpret_cast<int8_t*>(row + kx * groups_));
                    else
                        spaced(from + kx, s_.kw, s_.kh, reinterpret_cast<int16_t*>(row + kx * groups_));
                }
            }
            char* out = static_cast<char*>(packed) + b * blockBytes();
            pack_.rowsToPanel(rows.data(), words, real, words, reinterpret_cast<float*>(out), P);
        });
    }

    int64_t scratchBytes(bool) const override { return 0; }
    const char* algorithm() const override { return "int8 depthwise"; }

    void run(const int8_t* src, const void* packed, int8_t* dst, float*, const Int8Post& post, void*,
             ThreadPool& pool) const override {
        const int P = k_.lanes, planes = s_.batch * blocks_,
                  pieces = taskCount(planes, s_.oh, pool.threads());
        const int64_t in = int64_t{s_.ih} * s_.iw * P, out = int64_t{s_.oh} * s_.ow * P;
        parallelFor(pool, planes * pieces, [&](int task) {
            const int plane = task / pieces, piece = task % pieces, block = plane % blocks_;
            Int8DepthwiseArgs t;
            t.src = src + plane * in;
            t.dst = dst + plane * out;
            t.w = static_cast<const char*>(packed) + block * blockBytes();
            t.bias = post.bias + block * P;
            t.scale = post.scale + block * P;
            t.shape = &s_;
            t.padding = post.padding;
            t.lo = post.lo;
            t.hi = post.hi;
            t.rowBegin = chunkBegin(s_.oh, piece, pieces);
            t.rowEnd = chunkBegin(s_.oh, piece + 1, pieces);
            k_.depthwise(t);
        });
    }

  private:
    int64_t blockBytes() const { return int64_t{s_.kw} * groups_ * k_.lanes * 4; }

    const Int8Kernels& k_;
    const PackKernels& pack_;
    const ConvShape s_;
    const int blocks_, perGroup_, groups_;
};

}  // namespace

std::unique_ptr<Int8ConvPlan> makeInt8ConvPlan(const Kernels& k, const ConvShape& shape, int groups,
                                               bool srcNchw) {
    return std::make_unique<DensePlan>(k, shape, groups, srcNchw);
}

std::unique_ptr<Int8ConvPlan> makeInt8DepthwisePlan(const Kernels& k, const ConvShape& shape) {
    return std::make_unique<DepthwisePlan>(k, shape);
}

bool fitsInt8Depthwise(const ConvShape& shape) {
    // The line buffer holds one output's columns, whatever the instruction set.
    const int64_t columns = int64_t{shape.kw - 1} * shape.dilateW + 1;
    return columns * ceilDiv(shape.kh, 2) * 64 <= kInt8LineBytes;
}

}  // namespace mnnc
