// Rounds activations to 16 bits, with a scale for each pixel or for the image.
#include "backends/cpu/kernels/w8a16/w8a16_input.h"

#include <algorithm>
#include <atomic>

#include "backends/cpu/kernels/chunks.h"
#include "base/checked.h"

namespace mnnc {
namespace {

bool isPointwise(const ConvShape& s) {
    return s.kh * s.kw == 1 && s.padTop == 0 && s.padLeft == 0 && (s.oh - 1) * s.strideH < s.ih &&
           (s.ow - 1) * s.strideW < s.iw;
}

}  // namespace

W8A16Input::W8A16Input(const Kernels& k, const ConvShape& shape, const WeightQuantization& weights)
    : k_(k),
      s_(shape),
      minima_(weights.minima),
      pointwise_(isPointwise(shape)),
      icb_(ceilDiv(shape.ic, k.lanes)),
      blocks_(weights.blocks),
      images_(shape.batch) {
    if (pointwise_)
        placePixels();
    else
        placeRows();
    if (suitsRow(weights.bits)) row_ = k.w8a16->row;
}

// Returns whether a pixel is alone, and the sums of its products with weights of one scale are exact.
bool W8A16Input::suitsRow(int bits) const {
    return pointwise_ && units_ == 1 && bits == 4 && icb_ / blocks_ <= w8a16ExactBlocks(4);
}

bool W8A16Input::takesBlocks(const Kernels& k, const ConvShape& shape, int blocks) {
    // Eight codes of 4 bits are read together.
    return blocks == 1 || (isPointwise(shape) && shape.ic % (int64_t{blocks} * std::max(k.lanes, 8)) == 0);
}

void W8A16Input::placePixels() {
    const int P = k_.lanes;
    const bool batchRow = s_.ih * s_.iw == 1;  // fully connected: the images of the batch form the row
    units_ = batchRow ? s_.batch : s_.oh * s_.ow;
    if (batchRow) images_ = 1;
    srcPixel_ = batchRow ? ptrdiff_t(icb_) * P : ptrdiff_t(s_.strideW) * P;
    srcPlane_ = batchRow ? P : ptrdiff_t(s_.ih) * s_.iw * P;
    // Consecutive pixels at the same distance form a line.
    line_ = batchRow || (s_.strideW == 1 && s_.strideH == 1 && s_.ow == s_.iw) ? units_ : s_.ow;
    offsets_ = {0};
}

void W8A16Input::placeRows() {
    const int P = k_.lanes;
    units_ = s_.oh;
    srcPlane_ = ptrdiff_t(s_.ih) * s_.iw * P;
    top_ = std::max(0, s_.padTop);
    left_ = std::max(0, s_.padLeft);
    const int lastX = (s_.ow - 1) * s_.strideW - s_.padLeft + (s_.kw - 1) * s_.dilateW;
    width_ = left_ + std::max(s_.iw, lastX + 1);
    tapRows_ = (s_.kh - 1) * s_.dilateH - s_.padTop + top_ + 1;
    for (int ky = 0; ky < s_.kh; ++ky)
        for (int kx = 0; kx < s_.kw; ++kx)
            offsets_.push_back(
                ((ky * s_.dilateH - s_.padTop + top_) * ptrdiff_t(width_) + kx * s_.dilateW - s_.padLeft + left_) * P);
}

int64_t W8A16Input::unitBytes() const {
    return icb_ * int64_t{sizeof(int16_t)} * rowElements() * (pointwise_ ? 1 : s_.strideH);
}

W8A16Input::Layout W8A16Input::layout(int units) const {
    const int64_t rows = rowsOf(units);
    const int64_t data =
        checkedMul(checkedMul(rows, rowElements(), "scratch"), icb_ * int64_t{sizeof(int16_t)}, "scratch");
    Layout l{};
    l.scale = roundUp(data, 64);
    l.offset = l.scale + (pointwise_ ? roundUp(int64_t{units} * 4, 64) : 0);
    l.sum = l.offset + (pointwise_ ? roundUp(int64_t{units} * 4, 64) : 0);
    l.lines = l.sum + (minima_ ? roundUp(int64_t{units} * (pointwise_ ? blocks_ : s_.ow) * 4, 64) : 0);
    l.start = l.lines + (minima_ && !pointwise_ ? roundUp(rows * width_ * 4, 64) : 0);
    l.bytes = l.start + (row_ ? roundUp(int64_t{blocks_} * 4, 64) : 0);
    return l;
}

W8A16Strip W8A16Input::stripOf(char* memory, int u0, int u1) const {
    const Layout l = layout(u1 - u0);
    return {reinterpret_cast<int16_t*>(memory),
            reinterpret_cast<float*>(memory + l.scale),
            reinterpret_cast<float*>(memory + l.offset),
            reinterpret_cast<float*>(memory + l.sum),
            reinterpret_cast<float*>(memory + l.lines),
            reinterpret_cast<int32_t*>(memory + l.start),
            u0,
            u1,
            rowsOf(u1 - u0)};
}

ActivationScale W8A16Input::scaleOf(const float* src, ThreadPool& pool) const {
    const int P = k_.lanes;
    std::atomic<uint32_t> largest{0}, signs{0};
    parallelRanges(pool, int64_t(icb_) * s_.ih, 4 * pool.threads(), [&](int64_t begin, int64_t end) {
        while (begin < end) {
            const int c = static_cast<int>(begin / s_.ih);
            const int64_t rows = std::min(end, (c + int64_t{1}) * s_.ih) - begin;
            const ActivationRange here =
                k_.w8a16->range(src + begin * s_.iw * P, size_t(rows) * s_.iw, std::min(P, s_.ic - c * P));
            signs.fetch_or(here.signs, std::memory_order_relaxed);
            uint32_t seen = largest.load(std::memory_order_relaxed);
            while (seen < here.largest &&
                   !largest.compare_exchange_weak(seen, here.largest, std::memory_order_relaxed)) {
            }
            begin += rows;
        }
    });
    return k_.w8a16->scale({largest.load(std::memory_order_relaxed), signs.load(std::memory_order_relaxed)});
}

void W8A16Input::fill(const float* src, const ActivationScale& scale, const W8A16Strip& strip, ThreadPool& pool) const {
    const auto each = [&](int count, auto&& body) {
        parallelRanges(pool, count, 4 * pool.threads(),
                       [&](int64_t begin, int64_t end) { body(static_cast<int>(begin), static_cast<int>(end)); });
    };
    each(strip.rows, [&](int begin, int end) {
        if (pointwise_)
            fillPixels(src, strip, begin, end);
        else
            fillRows(src, scale, strip, begin, end);
    });
    if (minima_ && !pointwise_) each(strip.u1 - strip.u0, [&](int begin, int end) { sumWindows(strip, begin, end); });
}

void W8A16Input::fillPixels(const float* src, const W8A16Strip& strip, int begin, int end) const {
    RoundPixelsArgs t;
    t.pixelStride = srcPixel_;
    t.blockStride = srcPlane_;
    t.channels = s_.ic;
    t.dstBlockStride = strip.rows * rowElements();
    for (int at = begin; at < end; at += t.pixels) {
        const int pixel = strip.u0 + at, y = pixel / line_, x = pixel % line_;
        t.pixels = std::min(end - at, line_ - x);
        t.src = src + ptrdiff_t(y) * s_.strideH * s_.iw * k_.lanes + x * srcPixel_;
        t.dst = strip.data + ptrdiff_t(at) * k_.lanes;
        t.scale = strip.scale + at;
        t.offset = strip.offset + at;
        t.sum = minima_ && blocks_ == 1 ? strip.sum + at : nullptr;
        k_.w8a16->roundPixels(t);
    }
    if (minima_ && blocks_ > 1) sumBlocks(strip, begin, end);
    if (row_) row_->split({strip.data, blocks_, icb_ / blocks_, strip.start});
}

void W8A16Input::fillRows(const float* src, const ActivationScale& scale, const W8A16Strip& strip, int begin,
                          int end) const {
    const int P = k_.lanes;
    const auto zero = static_cast<int16_t>(scale.zero);
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
            k_.w8a16->round(src + (ptrdiff_t(c) * s_.ih + y) * s_.iw * P, s_.iw, std::min(P, s_.ic - c * P), scale,
                            first, sums ? sums + left_ : nullptr);
            std::fill(first + ptrdiff_t(s_.iw) * P, to + rowElements(), zero);
        }
    }
}

// Computes the sums of the 16-bit numbers that each block of weights is multiplied with.
void W8A16Input::sumBlocks(const W8A16Strip& strip, int begin, int end) const {
    const int P = k_.lanes, length = icb_ / blocks_;
    for (int at = begin; at < end; ++at)
        for (int block = 0; block < blocks_; ++block) {
            int64_t sum = 0;
            for (int c = block * length; c < (block + 1) * length; ++c) {
                const int16_t* from = strip.data + (ptrdiff_t(c) * strip.rows + at) * P;
                int32_t some = 0;
                for (int l = 0; l < P; ++l) some += from[l];
                sum += some;
            }
            strip.sum[ptrdiff_t(at) * blocks_ + block] = static_cast<float>(sum);
        }
}

// Computes the sums of the windows of rows begin .. end. (Pixels with their own scales have their sums already.)
void W8A16Input::sumWindows(const W8A16Strip& strip, int begin, int end) const {
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

}  // namespace mnnc
