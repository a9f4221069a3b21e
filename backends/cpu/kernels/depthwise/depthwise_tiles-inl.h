// Depthwise convolutions with square kernels (3x3, 5x5; stride 1, 2), the most common ones: tiles of outputs in
// registers. It is included once per instruction set, hence the toggling guard.
#if defined(MNNC_DEPTHWISE_TILES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MNNC_DEPTHWISE_TILES_INL_H
#undef MNNC_DEPTHWISE_TILES_INL_H
#else
#define MNNC_DEPTHWISE_TILES_INL_H
#endif

#include <algorithm>
#include <climits>
#include <utility>

#include "backends/cpu/kernels/conv_kernels.h"
#include "backends/cpu/kernels/elementwise/activation-inl.h"
#include "backends/cpu/kernels/elementwise/elementwise_math-inl.h"

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

void activateRows(const DepthwiseArgs& t, int begin, int end) {
    const ptrdiff_t line = ptrdiff_t(t.shape->ow) * P;
    if (t.act != Act::None)
        activate(t.dst + begin * line, static_cast<size_t>((end - begin) * line), t.act, t.lo, t.hi);
}

struct Tiles {
    const float* const* rows;  // the rows that the first output reads, from its first column
    int across, down;
    ptrdiff_t step;  // from the rows of an output to those of the output below
    ptrdiff_t at;    // of the first output
};

// Tiles of R rows of C outputs of a K x K kernel with stride S: every input is loaded once for all the outputs of a
// tile that use it. Each output sums its taps row by row, as everywhere.
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
    // The pointers are copied: otherwise the compiler must assume that a store of an output changes them.
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
                finishRow<C>(d, acc[r], dst + at + r * line, residual ? residual + at + r * line : nullptr, lo, hi,
                             act);
        }
    }
}

using TileFn = void (*)(const DepthwiseArgs&, const Tiles&, V, V);

// The number of columns that the registers hold beside the inputs of a row.
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

// The input of a tile at an end of its rows: copies with zeros outside the map. A row is copied once for all the output
// rows that read it.
template <int K, int S>
class BorderRows {
  public:
    static constexpr int kReads = (kMaxColumns<K, S> - 1) * S + K;  // columns

    // Returns columns ix .. ix + width of `row`, of a map `iw` wide. Rows must be requested in order.
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
    // There are tiles of `narrow` + 1 columns, then tiles of `narrow` columns. Those from `begin` to `end` lie inside
    // the map's width.
    const int tiles = (s.ow + kColumns - 1) / kColumns, narrow = s.ow / tiles, wide = s.ow % tiles;
    const auto columnsOf = [&](int i) { return narrow + (i < wide); };
    const auto columnOf = [&](int i) { return i * narrow + std::min(i, wide); };
    int begin = 0, end = tiles;
    while (begin < end && columnOf(begin) * S < s.padLeft) ++begin;
    while (begin < end && (columnOf(end) - 1) * S - s.padLeft + K > s.iw) --end;
    const bool all = begin == 0 && end == tiles;
    // The rows are so few that their sums are still in the first level cache when the activation runs.
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

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();
#endif
