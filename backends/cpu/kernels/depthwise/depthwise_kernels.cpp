// Depthwise convolutions, forward and transposed, over one block of channels.
#include "backends/cpu/kernels/conv_kernels.h"

#include <algorithm>
#include <array>
#include <utility>

#include "backends/cpu/kernels/dispatch.h"
#include "backends/cpu/kernels/tiles.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/depthwise/depthwise_kernels.cpp"
// foreach_target.h must come first.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "backends/cpu/kernels/depthwise/depthwise_tiles-inl.h"
#include "backends/cpu/kernels/depthwise/depthwise_transposed-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

// Finds the taps k of [0, n) with 0 <= origin + k*dilate < extent.
HWY_INLINE void tapRange(int origin, int dilate, int n, int extent, int& first, int& last) {
    first = origin >= 0 ? 0 : std::min(n, (-origin + dilate - 1) / dilate);
    last = origin >= extent ? 0 : std::min(n, (extent - origin + dilate - 1) / dilate);
    if (last < first) last = first;
}

// The number of outputs side by side, and of neighbouring taps that share their inputs: as many as 32 registers hold.
constexpr int kOutputs = 8, kSharedTaps = kManyRegisters ? 4 : 1;

// Computes C outputs side by side from taps [ky0, ky1) x [kx0, kx1), all of them inside the map.
template <int C>
HWY_INLINE void anyTaps(D d, const DepthwiseArgs& t, const float* src, int ky0, int ky1, int kx0, int kx1, float* dst,
                        const float* residual, V lo, V hi) {
    const ConvShape& s = *t.shape;
    const ptrdiff_t step = ptrdiff_t(s.strideW) * P, dx = ptrdiff_t(s.dilateW) * P;
    const ptrdiff_t row = ptrdiff_t(s.iw) * s.dilateH * P;
    V acc[C];
    const V bias = hn::LoadU(d, t.bias);
    HWY_UNROLL(8)
    for (int c = 0; c < C; ++c) acc[c] = bias;
    for (int ky = ky0; ky < ky1; ++ky) {
        const float* p = src + ky * row + kx0 * dx;
        const float* w = t.w + (ky * s.kw + kx0) * P;
        int kx = kx0;
        if (kSharedTaps > 1 && C > 1 && dx == P && step == P) {
            for (; kx + kSharedTaps <= kx1; kx += kSharedTaps, p += kSharedTaps * P, w += kSharedTaps * P) {
                V x[C + kSharedTaps - 1];
                HWY_UNROLL(16)
                for (int i = 0; i < C + kSharedTaps - 1; ++i) x[i] = hn::LoadU(d, p + i * P);
                HWY_UNROLL(4)
                for (int k = 0; k < kSharedTaps; ++k) {
                    const V weight = hn::LoadU(d, w + k * P);
                    HWY_UNROLL(8)
                    for (int c = 0; c < C; ++c) acc[c] = hn::MulAdd(x[c + k], weight, acc[c]);
                }
            }
        }
        for (; kx < kx1; ++kx, p += dx, w += P) {
            const V weight = hn::LoadU(d, w);
            HWY_UNROLL(8)
            for (int c = 0; c < C; ++c) acc[c] = hn::MulAdd(hn::LoadU(d, p + c * step), weight, acc[c]);
        }
    }
    finishRow<C>(d, acc, dst, residual, lo, hi, t.act);
}

// The outputs of a row whose taps all lie between the left and the right border.
struct Inside {
    int begin, end;
    explicit Inside(const ConvShape& s) {
        begin = std::clamp((s.padLeft + s.strideW - 1) / s.strideW, 0, s.ow);
        const int reach = s.iw - 1 - (s.kw - 1) * s.dilateW + s.padLeft;
        end = std::max(begin, reach < 0 ? 0 : std::min(s.ow, reach / s.strideW + 1));
    }
};

// Computes one output row: the columns [begin, end), each by its own taps.
void borderColumns(D d, const DepthwiseArgs& t, int oy, int begin, int end, V lo, V hi) {
    const ConvShape& s = *t.shape;
    const int iy = oy * s.strideH - s.padTop;
    int ky0, ky1;
    tapRange(iy, s.dilateH, s.kh, s.ih, ky0, ky1);
    for (int ox = begin; ox < end; ++ox) {
        const int ix = ox * s.strideW - s.padLeft;
        int kx0, kx1;
        tapRange(ix, s.dilateW, s.kw, s.iw, kx0, kx1);
        const ptrdiff_t at = (ptrdiff_t(oy) * s.ow + ox) * P;
        anyTaps<1>(d, t, t.src + (ptrdiff_t(iy) * s.iw + ix) * P, ky0, ky1, kx0, kx1, t.dst + at,
                   t.residual ? t.residual + at : nullptr, lo, hi);
    }
}

// Does the same for outputs whose taps in a row are all inside of the map.
template <int C>
HWY_NOINLINE void wholeRowTaps(const DepthwiseArgs& t, const float* src, int ky0, int ky1, float* dst,
                               const float* residual, V lo, V hi) {
    anyTaps<C>(D(), t, src, ky0, ky1, 0, t.shape->kw, dst, residual, lo, hi);
}
template <int... C>
consteval auto wholeRowTapsOf(std::integer_sequence<int, C...>) {
    return std::array{&wholeRowTaps<C + 1>...};
}

// Computes the rows for any kernel, stride and dilation.
void anyRowsF32(const DepthwiseArgs& t) {
    static constexpr auto kTaps = wholeRowTapsOf(std::make_integer_sequence<int, kOutputs>());
    const D d;
    const ConvShape& s = *t.shape;
    const V lo = hn::Set(d, t.lo), hi = hn::Set(d, t.hi);
    const Inside inside(s);
    for (int oy = t.rowBegin; oy < t.rowEnd; ++oy) {
        const int iy = oy * s.strideH - s.padTop;
        int ky0, ky1;
        tapRange(iy, s.dilateH, s.kh, s.ih, ky0, ky1);
        borderColumns(d, t, oy, 0, inside.begin, lo, hi);
        forEqualTiles(inside.end - inside.begin, kOutputs, [&](int first, int count) {
            const int ox = inside.begin + first;
            const ptrdiff_t at = (ptrdiff_t(oy) * s.ow + ox) * P;
            const float* from = t.src + (ptrdiff_t(iy) * s.iw + ptrdiff_t(ox) * s.strideW - s.padLeft) * P;
            kTaps[count - 1](t, from, ky0, ky1, t.dst + at, t.residual ? t.residual + at : nullptr, lo, hi);
        });
        borderColumns(d, t, oy, inside.end, s.ow, lo, hi);
        activateRows(t, oy, oy + 1);
    }
}

// Whether the registers hold enough sums of a 7x7 kernel beside a row of weights or of inputs.
constexpr bool kHasTiles7 = P == 16 || kFewRegisters;

// Returns whether there are tiles for the kernel.
bool isSquare(const ConvShape& s) {
    return s.kh == s.kw && (s.kw == 3 || s.kw == 5 || (kHasTiles7 && s.kw == 7 && s.strideW == 1)) &&
           s.strideH == s.strideW && s.strideW <= 2 && s.dilateH == 1 && s.dilateW == 1;
}

void depthwiseInside(const DepthwiseArgs& t) {
    const ConvShape& s = *t.shape;
    const bool plain = isSquare(s);
    if (plain && s.kw == 3 && s.strideW == 1) return squareRowsF32<3, 1>(t);
    if (plain && s.kw == 3 && s.strideW == 2) return squareRowsF32<3, 2>(t);
    if (plain && s.kw == 5 && s.strideW == 1) return squareRowsF32<5, 1>(t);
    if (plain && s.kw == 5 && s.strideW == 2) return squareRowsF32<5, 2>(t);
    if constexpr (kHasTiles7)
        if (plain && s.kw == 7) return squareRowsF32<7, 1>(t);
    anyRowsF32(t);
}

constexpr int kCopiedPixels = 400;  // of a copy of a map, which must stay in the first level cache
constexpr int kCopiedStrip = 1024;  // of a copy that is read so often that the second level cache is fast enough

// Copies rows first .. last of a map of every dy-th row and dx-th column of the input, `width` columns wide, beginning
// at (y0, x0), with zeros outside of the input.
void copyMap(const DepthwiseArgs& t, int y0, int dy, int x0, int dx, int first, int last, int width, float* map) {
    const D d;
    const ConvShape& s = *t.shape;
    for (int y = first; y < last; ++y) {
        float* to = map + ptrdiff_t(y) * width * P;
        const int iy = y0 + y * dy;
        int begin = width, end = width;
        if (iy >= 0 && iy < s.ih) tapRange(x0, dx, width, s.iw, begin, end);
        for (int x = 0; x < begin; ++x) hn::Store(hn::Zero(d), d, to + x * P);
        const float* from = t.src + (ptrdiff_t(iy) * s.iw + x0) * P;
        for (int x = begin; x < end; ++x) hn::Store(hn::LoadU(d, from + ptrdiff_t(x) * dx * P), d, to + x * P);
        for (int x = end; x < width; ++x) hn::Store(hn::Zero(d), d, to + x * P);
    }
}

// A dilated kernel sees dilateH x dilateW interleaved maps, each with a dense kernel.
struct Interleaved {
    int height, width;  // of the outputs of the largest map
    explicit Interleaved(const ConvShape& s)
        : height((s.oh + s.dilateH - 1) / s.dilateH), width((s.ow + s.dilateW - 1) / s.dilateW) {}
    bool isSmall(const ConvShape& s) const { return int64_t(height + s.kh - 1) * (width + s.kw - 1) <= kCopiedPixels; }
};

void dilatedF32(const DepthwiseArgs& t) {
    const D d;
    const ConvShape& s = *t.shape;
    HWY_ALIGN float map[kCopiedPixels * P];
    HWY_ALIGN float sums[kCopiedPixels * P];
    for (int ry = 0; ry < std::min(s.dilateH, s.oh); ++ry)
        for (int rx = 0; rx < std::min(s.dilateW, s.ow); ++rx) {
            ConvShape part = s;
            part.oh = (s.oh - ry + s.dilateH - 1) / s.dilateH;
            part.ow = (s.ow - rx + s.dilateW - 1) / s.dilateW;
            part.ih = part.oh + s.kh - 1;
            part.iw = part.ow + s.kw - 1;
            part.dilateH = part.dilateW = 1;
            part.padTop = part.padLeft = 0;
            DepthwiseArgs inside = t;
            inside.src = map;
            inside.dst = sums;
            inside.shape = &part;
            inside.rowBegin = std::max(0, (t.rowBegin - ry + s.dilateH - 1) / s.dilateH);
            inside.rowEnd = std::max(inside.rowBegin, (t.rowEnd - ry + s.dilateH - 1) / s.dilateH);
            if (inside.rowBegin == inside.rowEnd) continue;
            copyMap(t, ry - s.padTop, s.dilateH, rx - s.padLeft, s.dilateW, inside.rowBegin, inside.rowEnd + s.kh - 1,
                    part.iw, map);
            depthwiseInside(inside);
            for (int y = inside.rowBegin; y < inside.rowEnd; ++y) {
                const float* from = sums + ptrdiff_t(y) * part.ow * P;
                float* to = t.dst + (ptrdiff_t(ry + y * s.dilateH) * s.ow + rx) * P;
                for (int x = 0; x < part.ow; ++x)
                    hn::StoreU(hn::Load(d, from + x * P), d, to + ptrdiff_t(x) * s.dilateW * P);
            }
        }
}

// A map of one column, such as a series in time, lies in memory as a row.
void columnF32(const DepthwiseArgs& t) {
    ConvShape row = *t.shape;
    std::swap(row.ih, row.iw);
    std::swap(row.kh, row.kw);
    std::swap(row.strideH, row.strideW);
    std::swap(row.dilateH, row.dilateW);
    row.padLeft = row.padTop - t.rowBegin * row.strideW;
    row.padTop = 0;
    row.oh = 1;
    row.ow = t.rowEnd - t.rowBegin;
    DepthwiseArgs inside = t;
    inside.shape = &row;
    inside.dst = t.dst + ptrdiff_t(t.rowBegin) * P;
    inside.residual = t.residual ? t.residual + ptrdiff_t(t.rowBegin) * P : nullptr;
    inside.rowBegin = 0;
    inside.rowEnd = 1;
    depthwiseInside(inside);
}

void depthwiseF32(const DepthwiseArgs& t) {
    const ConvShape& s = *t.shape;
    if (s.iw == 1 && s.ow == 1 && s.kw == 1 && s.padLeft == 0) return columnF32(t);
    const bool dense = s.dilateH == 1 && s.dilateW == 1, unitStride = s.strideH == 1 && s.strideW == 1;
    // Few outputs of a long row are at its border.
    const bool longRow = s.kh == 1 && s.ow > int64_t{8} * (s.kw - 1) * s.dilateW;
    if (!dense && unitStride && s.kw > 1 && !longRow && !t.residual && Interleaved(s).isSmall(s)) return dilatedF32(t);
    const int width = (s.ow - 1) * s.strideW + (s.kw - 1) * s.dilateW + 1;
    // A small map is mostly border: from a copy with a border every output takes the fast path. Outputs at the
    // border of a large map wait for their sums unless there are tiles for them, which have copies of their own.
    const int64_t height = (s.oh - int64_t{1}) * s.strideH + (s.kh - int64_t{1}) * s.dilateH + 1,
                  reach = (s.kh - int64_t{1}) * s.dilateH + 1;
    const int64_t rows = height * width <= kCopiedPixels                 ? s.oh
                         : isSquare(s) || s.strideH > 1 || s.strideW > 1 ? 0
                                                                         : kCopiedStrip / width - reach + 1;
    if (s.kw == 1 || rows < std::clamp(reach, int64_t{1}, int64_t(s.oh))) return depthwiseInside(t);
    HWY_ALIGN float map[kCopiedStrip * P];
    for (int begin = t.rowBegin; begin < t.rowEnd;) {
        const int end = static_cast<int>(std::min<int64_t>(t.rowEnd, begin + rows));
        ConvShape bordered = s;
        bordered.ih = (end - begin - 1) * s.strideH + (s.kh - 1) * s.dilateH + 1;
        bordered.iw = width;
        bordered.padTop = bordered.padLeft = 0;
        copyMap(t, begin * s.strideH - s.padTop, 1, -s.padLeft, 1, 0, bordered.ih, width, map);
        DepthwiseArgs inside = t;
        inside.src = map;
        inside.dst = t.dst + ptrdiff_t(begin) * s.ow * P;
        inside.residual = t.residual ? t.residual + ptrdiff_t(begin) * s.ow * P : nullptr;
        inside.shape = &bordered;
        inside.rowBegin = 0;
        inside.rowEnd = bordered.oh = end - begin;
        depthwiseInside(inside);
        begin = end;
    }
}

}  // namespace

const DepthwiseKernels& depthwiseKernelsTable() {
    static constexpr DepthwiseKernels table = {&depthwiseF32, &depthwiseTransposedF32};
    return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mnnc {
const DepthwiseKernels& depthwiseKernels(Isa isa) {
    MNNC_SELECT(isa, depthwiseKernelsTable)
}
}  // namespace mnnc
#endif
