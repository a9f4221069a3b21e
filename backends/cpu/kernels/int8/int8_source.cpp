// Brings the input of int8 convolutions into the form of products and adds its border.
#include "backends/cpu/kernels/int8/int8_source.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/chunks.h"
#include "base/checked.h"

namespace mnnc {

Int8Source::Int8Source(const Int8Kernels& k, const ConvShape& shape, Int8Layout layout, bool nchw)
    : k_(k),
      s_(shape),
      layout_(layout),
      nchw_(nchw),
      batchRow_(layout == Int8Layout::Pixels && shape.ih * shape.iw == 1),
      together_(k.widenPixels && layout != Int8Layout::Narrow && !batchRow_ && !(k.zero == 0 && isInput())),
      icb_(ceilDiv(shape.ic, k.lanes)) {
    const bool narrow = layout == Int8Layout::Narrow;
    const int lastY = (s_.oh - 1) * s_.strideH - s_.padTop + (s_.kh - 1) * s_.dilateH;
    const int lastX = (s_.ow - 1) * s_.strideW - s_.padLeft + (s_.kw - 1) * s_.dilateW;
    top_ = std::max(0, s_.padTop);
    left_ = std::max(0, s_.padLeft);
    height_ = top_ + std::max(s_.ih, lastY + 1);
    width_ = left_ + std::max(s_.iw, lastX + 1);
    rowTaps_ = narrow && s_.dilateW == 1 ? s_.kw : 1;
    // Three channels take three units where that saves steps: 6 of 7 in a row of seven taps, or of pairs 11 of 14.
    if (narrow && s_.ic == 3 && ceilDiv(rowTaps_ * 3 * k.unit, 4) < rowTaps_ * k.unit) narrowChannels_ = 3;
    planes_ = narrow || together_ ? 1 : icb_;
    const int blockBytes = k.lanes * k.unit;
    pixelBytes_ = narrow ? narrowChannels_ * k.unit : together_ ? ptrdiff_t(icb_) * blockBytes : blockBytes;
    rowBytes_ = checkedMul(width_, pixelBytes_, "scratch");
    ptrdiff_t plane = checkedMul(rowBytes_, height_, "scratch");
    pixel_ = checkedMul(s_.strideW, pixelBytes_, "scratch");
    for (int ky = 0; ky < s_.kh; ++ky)
        for (int kx = 0; kx < s_.kw; kx += rowTaps_)
            taps_.push_back((ky * s_.dilateH - s_.padTop + top_) * rowBytes_ +
                            (kx * s_.dilateW - s_.padLeft + left_) * pixelBytes_);
    if (byPixel()) {
        pixel_ = batchRow_ ? icb_ * pixelBytes_ : pixelBytes_;
        plane = pixels() * pixelBytes_;
    }
    block_ = together_ || batchRow_ ? blockBytes : plane;
    constexpr int kBeyond = 4;  // bytes that the last step reads at most
    bytes_ = roundUp((batchRow_ ? pixel_ * s_.batch : checkedMul(plane, planes_, "scratch")) + kBeyond, 64);
}

int64_t Int8Source::imageElements() const {
    return int64_t{nchw_ ? s_.ic : icb_ * k_.lanes} * s_.ih * s_.iw;
}

int64_t Int8Source::unitBytes() const {
    return int64_t{planes_} * (byPixel() ? pixelBytes_ : rowBytes_ * s_.strideH);
}

void Int8Source::fill(const int8_t* src, char* source, int padding, ThreadPool& pool) const {
    if (byPixel())
        parallelRanges(pool, pixels(), 4 * pool.threads(), [&](int64_t begin, int64_t end) {
            fillPixels(src, source, static_cast<int>(begin), static_cast<int>(end));
        });
    else
        parallelRanges(pool, static_cast<int64_t>(planes_) * height_, 4 * pool.threads(),
                       [&](int64_t begin, int64_t end) { fillRows(src, source, padding, begin, end); });
}

// Fills rows [begin, end) of all planes of the map with its border.
void Int8Source::fillRows(const int8_t* src, char* source, int padding, int64_t begin, int64_t end) const {
    const int P = k_.lanes;
    const auto pad = [&](char* to, ptrdiff_t bytes) {
        if (k_.unit == 1) {
            std::memset(to, padding + k_.zero, static_cast<size_t>(bytes));
        } else {
            const auto value = static_cast<int16_t>(padding + 128);
            for (ptrdiff_t i = 0; i < bytes; i += 2) std::memcpy(to + i, &value, 2);
        }
    };
    for (int64_t i = begin; i < end; ++i) {
        const int c = static_cast<int>(i / height_), y = static_cast<int>(i % height_) - top_;
        char* to = source + i * rowBytes_;
        if (y < 0 || y >= s_.ih) {
            pad(to, rowBytes_);
            continue;
        }
        pad(to, left_ * pixelBytes_);
        char* inside = to + left_ * pixelBytes_;
        const ptrdiff_t bytes = s_.iw * pixelBytes_;
        if (layout_ == Int8Layout::Narrow)
            fillNarrowRow(src, y, inside);
        else if (together_)
            k_.widenPixels(
                {src + int64_t{y} * s_.iw * P, P, ptrdiff_t(s_.ih) * s_.iw * P, inside, pixelBytes_, icb_, s_.iw});
        else
            k_.widen(src + (int64_t{c} * s_.ih + y) * s_.iw * P, inside, size_t(s_.iw) * P);
        pad(inside + bytes, to + rowBytes_ - inside - bytes);
    }
}

namespace {

// Copies three of four units of each pixel. Each copy has four, of which the next one covers the last.
template <int Unit>
void keepThree(const char* from, char* to, int pixels) {
    for (int x = 0; x + 1 < pixels; ++x) std::memcpy(to + x * 3 * Unit, from + x * 4 * Unit, 4 * Unit);
    std::memcpy(to + (pixels - 1) * 3 * Unit, from + (pixels - 1) * 4 * Unit, 3 * Unit);
}

}  // namespace

// Fills one row with four channels per pixel, or three. Channels that the input does not have are multiplied by zero
// weights.
void Int8Source::fillNarrowRow(const int8_t* src, int y, char* to) const {
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
                pixels[x] = c[0][x] | uint32_t{c[1][x]} << 8 | uint32_t{c[2][x]} << 16 | uint32_t{c[3][x]} << 24;
            std::memcpy(four, pixels, size_t(n) * 4);
        } else {
            const int8_t* from = src + (int64_t{y} * s_.iw + x0) * P;
            for (int x = 0; x < n; ++x) std::memcpy(four + x * 4, from + int64_t{x} * P, 4);
        }
        char* row = to + x0 * pixelBytes_;
        if (narrowChannels_ == 4) {
            k_.widen(four, row, size_t(n) * 4);
            continue;
        }
        char wide[kPixels * 8];
        k_.widen(four, wide, size_t(n) * 4);
        if (k_.unit == 1)
            keepThree<1>(wide, row, n);
        else
            keepThree<2>(wide, row, n);
    }
}

// Fills pixels [begin, end) of all blocks.
void Int8Source::fillPixels(const int8_t* src, char* source, int begin, int end) const {
    const int P = k_.lanes, count = end - begin;
    if (batchRow_) return k_.widen(src + int64_t{begin} * icb_ * P, source + begin * pixel_, size_t(count) * icb_ * P);
    if (together_) return fillPixelsTogether(src, source, begin, end);
    const bool all = s_.oh == s_.ih && s_.ow == s_.iw;
    for (int c = 0; c < icb_; ++c) {
        const int8_t* from = src + int64_t{c} * s_.ih * s_.iw * P;
        char* to = source + c * block_ + begin * pixel_;
        if (all)
            k_.widen(from + int64_t{begin} * P, to, size_t(count) * P);
        else if (P == 16)
            fillSomePixels<16>(from, to, begin, end);
        else if (P == 8)
            fillSomePixels<8>(from, to, begin, end);
        else
            fillSomePixels<4>(from, to, begin, end);
    }
}

// Fills pixels [begin, end), each with all blocks.
void Int8Source::fillPixelsTogether(const int8_t* src, char* source, int begin, int end) const {
    const int P = k_.lanes;
    const ptrdiff_t plane = ptrdiff_t(s_.ih) * s_.iw * P;
    if (s_.oh == s_.ih && s_.ow == s_.iw) {
        const int8_t* from = src + int64_t{begin} * P;
        return k_.widenPixels({from, P, plane, source + begin * pixel_, pixel_, icb_, end - begin});
    }
    for (int at = begin, count; at < end; at += count) {
        const int y = at / s_.ow, x = at % s_.ow;
        count = std::min(s_.ow - x, end - at);
        const int8_t* from = src + (int64_t{y} * s_.strideH * s_.iw + int64_t{x} * s_.strideW) * P;
        k_.widenPixels({from, ptrdiff_t(s_.strideW) * P, plane, source + at * pixel_, pixel_, icb_, count});
    }
}

// Fills those pixels of one block that outputs read.
template <int P>
void Int8Source::fillSomePixels(const int8_t* src, char* to, int begin, int end) const {
    constexpr int kPixels = 64;
    int8_t some[kPixels * P];
    for (int at = begin; at < end;) {
        int n = 0;
        while (n < kPixels && at < end) {
            const int y = at / s_.ow, x = at % s_.ow, row = std::min({s_.ow - x, kPixels - n, end - at});
            const int8_t* from = src + (int64_t{y} * s_.strideH * s_.iw + int64_t{x} * s_.strideW) * P;
            for (int i = 0; i < row; ++i, ++n, from += int64_t{s_.strideW} * P) std::memcpy(some + n * P, from, P);
            at += row;
        }
        k_.widen(some, to, size_t(n) * P);
        to += n * pixelBytes_;
    }
}

void Int8Source::sumWindows(const char* source, float ratio, float* sums, ThreadPool& pool) const {
    parallelRanges(pool, pixels(), 4 * pool.threads(), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            const char* at = source + (byPixel() ? i * pixel_ : i / s_.ow * row() + i % s_.ow * pixel_);
            int64_t sum = 0;
            for (const ptrdiff_t tap : taps_)
                for (int j = 0; j < rowTaps_; ++j)
                    for (int c = 0; c < s_.ic; ++c)
                        sum += value(at + tap + j * pixelBytes_ + c / k_.lanes * block_, c % k_.lanes);
            sums[i] = static_cast<float>(sum) * ratio;
        }
    });
}

int Int8Source::value(const char* pixel, int lane) const {
    if (k_.zero == 0) return static_cast<int8_t>(pixel[lane]) + 128;
    if (k_.unit == 1) return static_cast<uint8_t>(pixel[lane]);
    int16_t wide;
    std::memcpy(&wide, pixel + lane * 2, 2);
    return wide;
}

}  // namespace mnnc
