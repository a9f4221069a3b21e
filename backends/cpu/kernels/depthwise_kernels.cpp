// Depthwise convolutions, both ways, over one block of channels.
#include "backends/cpu/kernels/conv_kernels.h"

#include <algorithm>
#include <climits>
#include <utility>

#include "backends/cpu/kernels/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/depthwise_kernels.cpp"
// foreach_target.h must come first.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "backends/cpu/kernels/activation-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

constexpr int P = static_cast<int>(kLanes);

template <int C>
HWY_INLINE void finishRow(D d, V (&acc)[C], float* dst, const float* residual, V lo, V hi, Act act) {
    HWY_UNROLL(8)
    for (int c = 0; c < C; ++c) {
        V v = acc[c];
        if (residual) v = hn::Add(v, hn::LoadU(d, residual + c * P));
        if (act == Act::None) v = hn::Min(hn::Max(v, lo), hi);
        hn::StoreU(v, d, dst + c * P);
    }
}

// The taps k of [0, n) with 0 <= origin + k*dilate < extent.
HWY_INLINE void tapRange(int origin, int dilate, int n, int extent, int& first, int& last) {
    first = origin >= 0 ? 0 : std::min(n, (-origin + dilate - 1) / dilate);
    last = origin >= extent ? 0 : std::min(n, (extent - origin + dilate - 1) / dilate);
    if (last < first) last = first;
}

// C outputs side by side from taps [ky0, ky1) x [kx0, kx1), all of them inside the map.
template <int C>
HWY_INLINE void anyTaps(D d, const DepthwiseArgs& t, const float* src, int ky0, int ky1, int kx0, int kx1,
                        float* dst, const float* residual, V lo, V hi) {
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
        for (int kx = kx0; kx < kx1; ++kx, p += dx, w += P) {
            const V weight = hn::LoadU(d, w);
            HWY_UNROLL(8)
            for (int c = 0; c < C; ++c) acc[c] = hn::MulAdd(hn::LoadU(d, p + c * step), weight, acc[c]);
        }
    }
    finishRow<C>(d, acc, dst, residual, lo, hi, t.act);
}

struct Tiles {
    const float* const* rows;  // that the first one reads, from its first column
    int across, down;
    ptrdiff_t step;  // from its rows to those of the one below
    ptrdiff_t at;    // of its first output
};

// Tiles of R rows of C outputs of a K x K kernel with stride S: every input is loaded once for all the
// outputs of a tile it counts in. Each output sums its taps row by row, as everywhere.
template <int K, int S, int R, int C>
HWY_NOINLINE void depthwiseTileF32(const DepthwiseArgs& t, const Tiles& tiles, V lo, V hi) {
    const D d;
    constexpr int kRows = (R - 1) * S + K, kColumns = (C - 1) * S + K;
    const ptrdiff_t line = ptrdiff_t(t.shape->ow) * P;
    const V bias = hn::LoadU(d, t.bias);
    const float* const w = t.w;
    constexpr bool kInRegisters = K * K <= 9;
    V weights[kInRegisters ? K * K : 1];
    HWY_UNROLL(9)
    for (int i = 0; kInRegisters && i < K * K; ++i) weights[i] = hn::LoadU(d, w + i * P);
    // Copies: what is stored might else be what they are read from.
    const float* rows[kRows];
    HWY_UNROLL(8)
    for (int y = 0; y < kRows; ++y) rows[y] = tiles.rows[y];
    const ptrdiff_t across = tiles.across, down = tiles.down, step = tiles.step, first = tiles.at;
    const float* const residual = t.residual;
    float* const dst = t.dst;
    const Act act = t.act;
    for (ptrdiff_t i = 0; i < down; ++i) {
        for (ptrdiff_t j = 0; j < across; ++j) {
            V acc[R][C];
            HWY_UNROLL(2)
            for (int r = 0; r < R; ++r) {
                HWY_UNROLL(8)
                for (int c = 0; c < C; ++c) acc[r][c] = bias;
            }
            HWY_UNROLL(8)
            for (int y = 0; y < kRows; ++y) {
                const float* from = rows[y] + i * step + j * C * S * P;
                V x[kColumns];
                HWY_UNROLL(16)
                for (int column = 0; column < kColumns; ++column) x[column] = hn::LoadU(d, from + column * P);
                HWY_UNROLL(2)
                for (int r = 0; r < R; ++r) {
                    const int ky = y - r * S;
                    if (ky < 0 || ky >= K) continue;
                    HWY_UNROLL(8)
                    for (int kx = 0; kx < K; ++kx) {
                        const int tap = ky * K + kx;
                        const V weight = kInRegisters ? weights[tap] : hn::LoadU(d, w + tap * P);
                        HWY_UNROLL(8)
                        for (int c = 0; c < C; ++c) acc[r][c] = hn::MulAdd(x[c * S + kx], weight, acc[r][c]);
                    }
                }
            }
            const ptrdiff_t at = first + i * R * line + j * C * P;
            HWY_UNROLL(2)
            for (int r = 0; r < R; ++r)
                finishRow<C>(d, acc[r], dst + at + r * line, residual ? residual + at + r * line : nullptr,
                             lo, hi, act);
        }
    }
}

using TileFn = void (*)(const DepthwiseArgs&, const Tiles&, V, V);

// As many columns as the registers hold beside the inputs of a row.
template <int K, int S>
constexpr int kMaxColumns = P == 16 ? (S == 1 ? 7 : 4) : (K == 3 && S == 1 ? 3 : 2);

template <int K, int S, int R, int... C>
constexpr void fillTiles(TileFn* out, std::integer_sequence<int, C...>) {
    ((out[C] = &depthwiseTileF32<K, S, R, C + 1>), ...);
}
template <int K, int S>
struct TileTable {
    TileFn fn[2][kMaxColumns<K, S>] = {};
    constexpr TileTable() {
        fillTiles<K, S, 1>(fn[0], std::make_integer_sequence<int, kMaxColumns<K, S>>());
        fillTiles<K, S, 2>(fn[1], std::make_integer_sequence<int, kMaxColumns<K, S>>());
    }
};

// The outputs of a row whose taps all lie between the left and the right border.
struct Inside {
    int begin, end;
    explicit Inside(const ConvShape& s) {
        begin = std::clamp((s.padLeft + s.strideW - 1) / s.strideW, 0, s.ow);
        const int reach = s.iw - 1 - (s.kw - 1) * s.dilateW + s.padLeft;
        end = std::max(begin, reach < 0 ? 0 : std::min(s.ow, reach / s.strideW + 1));
    }
};

// One output row: columns [begin, end) by their own taps each.
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

void activateRows(const DepthwiseArgs& t, int begin, int end) {
    const ptrdiff_t line = ptrdiff_t(t.shape->ow) * P;
    if (t.act != Act::None)
        activate(t.dst + begin * line, static_cast<size_t>((end - begin) * line), t.act, t.lo, t.hi);
}

// The input of a tile at an end of its rows: copies with zeros outside the map. A row is copied once for
// all the output rows that read it.
template <int K, int S>
class BorderRows {
  public:
    static constexpr int kReads = (kMaxColumns<K, S> - 1) * S + K;  // columns

    // Columns ix .. ix + width of `row`, of a map `iw` wide; rows are asked for in order.
    HWY_INLINE const float* at(const float* src, int row, int ix, int width, int iw) {
        float* const to = rows_[row % (S + K)];
        if (row < made_) return to;
        made_ = row + 1;
        const D d;
        const float* from = src + (ptrdiff_t(row) * iw + ix) * P;
        const int x0 = std::clamp(-ix, 0, width), x1 = std::clamp(iw - ix, x0, width);
        for (int x = 0; x < x0; ++x) hn::Store(hn::Zero(d), d, to + x * P);
        for (int x = x0; x < x1; ++x) hn::Store(hn::LoadU(d, from + x * P), d, to + x * P);
        for (int x = x1; x < width; ++x) hn::Store(hn::Zero(d), d, to + x * P);
        return to;
    }
    HWY_INLINE void forget() { made_ = 0; }

  private:
    HWY_ALIGN float rows_[S + K][kReads * P];
    int made_ = 0;
};

template <int K, int S>
void squareRowsF32(const DepthwiseArgs& t) {
    static constexpr TileTable<K, S> kTiles;
    constexpr int kColumns = kMaxColumns<K, S>;
    HWY_ALIGN static constexpr float kZeros[BorderRows<K, S>::kReads * P] = {};
    const D d;
    const ConvShape& s = *t.shape;
    const V lo = hn::Set(d, t.lo), hi = hn::Set(d, t.hi);
    // Tiles of `narrow` + 1 columns, then of `narrow` ones; from `begin` to `end` they lie inside the map's
    // width.
    const int tiles = (s.ow + kColumns - 1) / kColumns, narrow = s.ow / tiles, wide = s.ow % tiles;
    const auto columnsOf = [&](int i) { return narrow + (i < wide); };
    const auto columnOf = [&](int i) { return i * narrow + std::min(i, wide); };
    int begin = 0, end = tiles;
    while (begin < end && columnOf(begin) * S < s.padLeft) ++begin;
    while (begin < end && (columnOf(end) - 1) * S - s.padLeft + K > s.iw) --end;
    const bool all = begin == 0 && end == tiles;
    // Few enough rows that their sums are still in the first level cache when the activation runs.
    const int maxRows = t.act == Act::None ? INT_MAX : std::max(1, 128 / s.ow);
    BorderRows<K, S> first, last, other;
    for (int oy = t.rowBegin; oy < t.rowEnd;) {
        const int rows = std::min(2, t.rowEnd - oy), iy = oy * S - s.padTop, reads = (rows - 1) * S + K;
        const bool rowsInside = iy >= 0 && iy + reads <= s.ih;
        int down = 1;
        if (all && rowsInside && rows == 2)
            down = std::min({(t.rowEnd - oy) / 2, (s.ih - iy - reads) / (2 * S) + 1, maxRows});
        for (int i = 0; i < tiles;) {
            const int columns = columnsOf(i), ox = columnOf(i), ix = ox * S - s.padLeft;
            const bool inside = i >= begin && i < end;
            const int across = inside && rowsInside ? std::min(i < wide ? wide : tiles, end) - i : 1;
            BorderRows<K, S>& border = i == 0 ? first : i == tiles - 1 ? last : other;
            if (i != 0 && i != tiles - 1) other.forget();
            const float* from[S + K];
            for (int y = 0; y < reads; ++y) {
                const int row = iy + y;
                from[y] = row < 0 || row >= s.ih ? kZeros
                          : inside               ? t.src + (ptrdiff_t(row) * s.iw + ix) * P
                                                 : border.at(t.src, row, ix, (columns - 1) * S + K, s.iw);
            }
            const Tiles run{from, across, down, ptrdiff_t(2 * S) * s.iw * P, (ptrdiff_t(oy) * s.ow + ox) * P};
            kTiles.fn[rows - 1][columns - 1](t, run, lo, hi);
            i += across;
        }
        activateRows(t, oy, oy + rows * down);
        oy += rows * down;
    }
}

// Any kernel, stride and dilation.
void anyRowsF32(const DepthwiseArgs& t) {
    const D d;
    const ConvShape& s = *t.shape;
    const V lo = hn::Set(d, t.lo), hi = hn::Set(d, t.hi);
    const Inside inside(s);
    for (int oy = t.rowBegin; oy < t.rowEnd; ++oy) {
        const int iy = oy * s.strideH - s.padTop;
        int ky0, ky1;
        tapRange(iy, s.dilateH, s.kh, s.ih, ky0, ky1);
        borderColumns(d, t, oy, 0, inside.begin, lo, hi);
        int ox = inside.begin;
        for (; ox + 8 <= inside.end; ox += 8) {
            const ptrdiff_t at = (ptrdiff_t(oy) * s.ow + ox) * P;
            anyTaps<8>(d, t, t.src + (ptrdiff_t(iy) * s.iw + ptrdiff_t(ox) * s.strideW - s.padLeft) * P, ky0,
                       ky1, 0, s.kw, t.dst + at, t.residual ? t.residual + at : nullptr, lo, hi);
        }
        borderColumns(d, t, oy, ox, s.ow, lo, hi);
        activateRows(t, oy, oy + 1);
    }
}

void depthwiseInside(const DepthwiseArgs& t) {
    const ConvShape& s = *t.shape;
    const bool plain = s.kh == s.kw && s.strideH == s.strideW && s.dilateH == 1 && s.dilateW == 1;
    if (plain && s.kw == 3 && s.strideW == 1) return squareRowsF32<3, 1>(t);
    if (plain && s.kw == 3 && s.strideW == 2) return squareRowsF32<3, 2>(t);
    if (plain && s.kw == 5 && s.strideW == 1) return squareRowsF32<5, 1>(t);
    if (plain && s.kw == 5 && s.strideW == 2) return squareRowsF32<5, 2>(t);
    anyRowsF32(t);
}

constexpr int kCopiedPixels = 400;  // of a copy of a map, which stays in the first level cache

// Rows first .. last of a copy of every dy-th row and dx-th column of the input, `width` columns wide, beginning at (y0, x0);
// zeros where that is outside of the map.
void copyMap(const DepthwiseArgs& t, int y0, int dy, int x0, int dx, int first, int last, int width,
             float* map) {
    const D d;
    const ConvShape& s = *t.shape;
    for (int y = first; y < last; ++y) {
        float* to = map + ptrdiff_t(y) * width * P;
        const int iy = y0 + y * dy;
        int begin = width, end = width;
        if (iy >= 0 && iy < s.ih) tapRange(x0, dx, width, s.iw, begin, end);
        for (int x = 0; x < begin; ++x) hn::Store(hn::Zero(d), d, to + x * P);
        const float* from = t.src + (ptrdiff_t(iy) * s.iw + x0) * P;
        for (int x = begin; x < end; ++x)
            hn::Store(hn::LoadU(d, from + ptrdiff_t(x) * dx * P), d, to + x * P);
        for (int x = end; x < width; ++x) hn::Store(hn::Zero(d), d, to + x * P);
    }
}

// A dilated kernel sees dilateH x dilateW interleaved maps, each with a dense kernel.
struct Interleaved {
    int height, width;  // of the outputs of the largest
    explicit Interleaved(const ConvShape& s)
        : height((s.oh + s.dilateH - 1) / s.dilateH), width((s.ow + s.dilateW - 1) / s.dilateW) {}
    bool isSmall(const ConvShape& s) const {
        return long(height + s.kh - 1) * (width + s.kw - 1) <= kCopiedPixels;
    }
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
            copyMap(t, ry - s.padTop, s.dilateH, rx - s.padLeft, s.dilateW, inside.rowBegin,
                    inside.rowEnd + s.kh - 1, part.iw, map);
            depthwiseInside(inside);
            for (int y = inside.rowBegin; y < inside.rowEnd; ++y) {
                const float* from = sums + ptrdiff_t(y) * part.ow * P;
                float* to = t.dst + (ptrdiff_t(ry + y * s.dilateH) * s.ow + rx) * P;
                for (int x = 0; x < part.ow; ++x)
                    hn::StoreU(hn::Load(d, from + x * P), d, to + ptrdiff_t(x) * s.dilateW * P);
            }
        }
}

void depthwiseF32(const DepthwiseArgs& t) {
    const ConvShape& s = *t.shape;
    const bool dense = s.dilateH == 1 && s.dilateW == 1, unitStride = s.strideH == 1 && s.strideW == 1;
    if (!dense && unitStride && s.kw > 1 && !t.residual && Interleaved(s).isSmall(s)) return dilatedF32(t);
    // A small map is mostly border: with a copy that has one, every output takes the fast way.
    const int height = (s.oh - 1) * s.strideH + (s.kh - 1) * s.dilateH + 1;
    const int width = (s.ow - 1) * s.strideW + (s.kw - 1) * s.dilateW + 1;
    if (s.kw == 1 || long(height) * width > kCopiedPixels) return depthwiseInside(t);
    HWY_ALIGN float map[kCopiedPixels * P];
    copyMap(t, -s.padTop, 1, -s.padLeft, 1, t.rowBegin * s.strideH,
            (t.rowEnd - 1) * s.strideH + (s.kh - 1) * s.dilateH + 1, width, map);
    ConvShape bordered = s;
    bordered.ih = height;
    bordered.iw = width;
    bordered.padTop = bordered.padLeft = 0;
    DepthwiseArgs inside = t;
    inside.src = map;
    inside.shape = &bordered;
    depthwiseInside(inside);
}

// Gather form: output (oy, ox) takes tap ky from input row (oy + pad - ky*dilate) / stride where that
// divides.
void depthwiseTransposedF32(const DepthwiseArgs& t) {
    const D d;
    const ConvShape& s = *t.shape;
    const V lo = hn::Set(d, t.lo), hi = hn::Set(d, t.hi), bias = hn::LoadU(d, t.bias);
    for (int oy = t.rowBegin; oy < t.rowEnd; ++oy) {
        float* out = t.dst + ptrdiff_t(oy) * s.ow * P;
        for (int ox = 0; ox < s.ow; ++ox) {
            V acc[1] = {bias};
            for (int ky = 0; ky < s.kh; ++ky) {
                const int y = oy + s.padTop - ky * s.dilateH;
                if (y < 0 || y % s.strideH != 0 || y / s.strideH >= s.ih) continue;
                const float* row = t.src + ptrdiff_t(y / s.strideH) * s.iw * P;
                for (int kx = 0; kx < s.kw; ++kx) {
                    const int x = ox + s.padLeft - kx * s.dilateW;
                    if (x < 0 || x % s.strideW != 0 || x / s.strideW >= s.iw) continue;
                    acc[0] = hn::MulAdd(hn::LoadU(d, row + x / s.strideW * P),
                                        hn::LoadU(d, t.w + (ky * s.kw + kx) * P), acc[0]);
                }
            }
            finishRow<1>(d, acc, out + ox * P,
                         t.residual ? t.residual + (ptrdiff_t(oy) * s.ow + ox) * P : nullptr, lo, hi, t.act);
        }
        activateRows(t, oy, oy + 1);
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
