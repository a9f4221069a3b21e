// Depthwise convolutions with square kernels (3x3, 5x5, 7x7; stride 1, 2), the most common ones: tiles of outputs in
// registers. The file is included once per instruction set, hence the toggling guard.
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
        if (act == Act::None) v = limit::clamp(v, lo, hi);
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

// 32 registers hold the sums of a tile beside the inputs of a row, and often the weights. 16 registers hold enough sums
// beside one input and the weights of a row; but with stride 2 the sums wait for one another where a row has few taps.
// Without vector instructions the compiler keeps sums and inputs in memory.
constexpr bool kManyRegisters = P == 16 || HWY_ARCH_ARM_A64;
constexpr bool kFewRegisters = !kManyRegisters && HWY_TARGET != HWY_EMU128;
template <int K, int S>
constexpr bool kOneInput = kFewRegisters && !(K == 3 && S == 2);
template <int K, int S>
constexpr int kMaxRows = K > 3 && kOneInput<K, S> ? 1 : 2;
template <int K, int S>
constexpr int kMaxColumns = P == 16            ? (S == 1 ? 7 : 4)
                            : !kOneInput<K, S> ? (K == 3 && S == 1 ? 3 : 2)
                            : K == 5           ? 8
                            : K == 7           ? 7
                                               : 4;

// The sums of a tile of R rows of C outputs.
template <int R, int C>
struct TileSums {
    V acc[R][C];

    HWY_INLINE explicit TileSums(V bias) {
        HWY_UNROLL(2)
        for (int r = 0; r < R; ++r) {
            HWY_UNROLL(8)
            for (int c = 0; c < C; ++c) acc[r][c] = bias;
        }
    }
    HWY_INLINE void finish(const DepthwiseArgs& t, ptrdiff_t at, V lo, V hi) {
        const ptrdiff_t line = ptrdiff_t(t.shape->ow) * P;
        HWY_UNROLL(2)
        for (int r = 0; r < R; ++r, at += line)
            finishRow<C>(D(), acc[r], t.dst + at, t.residual ? t.residual + at : nullptr, lo, hi, t.act);
    }
};

// Adds the taps of a tile, a row of inputs at a time.
template <int K, int S, int R, int C>
HWY_INLINE void addRows(D d, const float* const* rows, ptrdiff_t offset, const float* w, const V* weights,
                        TileSums<R, C>& sums) {
    constexpr int kColumns = (C - 1) * S + K;
    HWY_UNROLL(8)
    for (int y = 0; y < (R - 1) * S + K; ++y) {
        const float* from = rows[y] + offset;
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
                const V weight = weights ? weights[tap] : hn::LoadU(d, w + tap * P);
                HWY_UNROLL(8)
                for (int c = 0; c < C; ++c) sums.acc[r][c] = hn::MulAdd(x[c * S + kx], weight, sums.acc[r][c]);
            }
        }
    }
}

// Adds the contribution of row y of a tile's inputs, one input at a time.
template <int K, int S, int R, int C>
HWY_INLINE void addInputs(D d, const float* from, const float* w, int y, TileSums<R, C>& sums) {
    V weights[R][K];
    HWY_UNROLL(2)
    for (int r = 0; r < R; ++r) {
        const int ky = y - r * S;
        if (R > 1 && (ky < 0 || ky >= K)) continue;
        HWY_UNROLL(8)
        for (int kx = 0; kx < K; ++kx) weights[r][kx] = hn::LoadU(d, w + (ky * K + kx) * P);
    }
    HWY_UNROLL(32)
    for (int column = 0; column < (C - 1) * S + K; ++column) {
        const V x = hn::LoadU(d, from + column * P);
        HWY_UNROLL(2)
        for (int r = 0; r < R; ++r) {
            if (R > 1 && (y < r * S || y >= r * S + K)) continue;
            HWY_UNROLL(8)
            for (int kx = 0; kx < K; ++kx) {
                const int c = (column - kx) / S;
                if (column < kx || c * S != column - kx || c >= C) continue;
                sums.acc[r][c] = hn::MulAdd(x, weights[r][kx], sums.acc[r][c]);
            }
        }
    }
}

// Tiles of R rows of C outputs of a K x K kernel with stride S: every input is loaded once for all the outputs of a
// tile that use it. Each output sums its taps row by row, as everywhere.
template <int K, int S, int R, int C>
HWY_NOINLINE void depthwiseTileF32(const DepthwiseArgs& args, const Tiles& tiles, V lo, V hi) {
    const D d;
    constexpr int kRows = (R - 1) * S + K;
    // The arguments are copied, because the compiler must assume that a store of an output changes them.
    const DepthwiseArgs t = args;
    const ptrdiff_t line = ptrdiff_t(t.shape->ow) * P;
    const V bias = hn::LoadU(d, t.bias);
    constexpr bool kInRegisters = !kOneInput<K, S> && K * K <= 9;
    V weights[kInRegisters ? K * K : 1];
    HWY_UNROLL(9)
    for (int i = 0; kInRegisters && i < K * K; ++i) weights[i] = hn::LoadU(d, t.w + i * P);
    const float* rows[kRows];
    HWY_UNROLL(8)
    for (int y = 0; y < kRows; ++y) rows[y] = tiles.rows[y];
    const ptrdiff_t across = tiles.across, down = tiles.down, step = tiles.step, first = tiles.at;
    for (ptrdiff_t i = 0; i < down; ++i) {
        for (ptrdiff_t j = 0; j < across; ++j) {
            TileSums<R, C> sums(bias);
            const ptrdiff_t offset = i * step + j * C * S * P;
            if constexpr (!kOneInput<K, S>) {
                addRows<K, S>(d, rows, offset, t.w, kInRegisters ? weights : nullptr, sums);
            } else if constexpr (R == 1) {
                HWY_UNROLL(1)
                for (int y = 0; y < K; ++y) addInputs<K, S>(d, rows[y] + offset, t.w, y, sums);
            } else {
                HWY_UNROLL(8)
                for (int y = 0; y < kRows; ++y) addInputs<K, S>(d, rows[y] + offset, t.w, y, sums);
            }
            sums.finish(t, first + i * R * line + j * C * P, lo, hi);
        }
    }
}

using TileFn = void (*)(const DepthwiseArgs&, const Tiles&, V, V);

template <int K, int S, int R, int... C>
constexpr void fillTiles(TileFn* out, std::integer_sequence<int, C...>) {
    ((out[C] = &depthwiseTileF32<K, S, R, C + 1>), ...);
}
template <int K, int S>
struct TileTable {
    TileFn fn[kMaxRows<K, S>][kMaxColumns<K, S>] = {};
    constexpr TileTable() {
        constexpr std::make_integer_sequence<int, kMaxColumns<K, S>> columns;
        fillTiles<K, S, 1>(fn[0], columns);
        if constexpr (kMaxRows<K, S> == 2) fillTiles<K, S, 2>(fn[1], columns);
    }
};

// Copies columns ix .. ix + width of rows [first, last) of a map `iw` wide, with zeros outside of the map.
HWY_NOINLINE void copyColumns(const float* src, int first, int last, int ix, int width, int iw, float* to) {
    const D d;
    const int x0 = std::clamp(-ix, 0, width), x1 = std::clamp(iw - ix, x0, width);
    for (int row = first; row < last; ++row, to += ptrdiff_t(width) * P) {
        const float* from = src + (ptrdiff_t(row) * iw + ix) * P;
        for (int x = 0; x < x0; ++x) hn::Store(hn::Zero(d), d, to + x * P);
        for (int x = x0; x < x1; ++x) hn::Store(hn::LoadU(d, from + x * P), d, to + x * P);
        for (int x = x1; x < width; ++x) hn::Store(hn::Zero(d), d, to + x * P);
    }
}

// Rows of tiles that are computed together: the tiles at the ends of the rows read copies of their inputs.
constexpr int kStripTiles = 8;

template <int K, int S>
void squareRowsF32(const DepthwiseArgs& t) {
    static constexpr TileTable<K, S> kTiles;
    constexpr int kRows = kMaxRows<K, S>, kColumns = kMaxColumns<K, S>, kReads = (kColumns - 1) * S + K;
    HWY_ALIGN static constexpr float kZeros[kReads * P] = {};
    HWY_ALIGN float border[((kStripTiles * kRows - 1) * S + K) * kReads * P];
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
    const int maxDown =
        std::min(all ? INT_MAX : kStripTiles, t.act == Act::None ? INT_MAX : std::max(1, 256 / (kRows * s.ow)));
    for (int oy = t.rowBegin; oy < t.rowEnd;) {
        const int rows = std::min(kRows, t.rowEnd - oy), iy = oy * S - s.padTop, reads = (rows - 1) * S + K;
        const bool inside = iy >= 0 && iy + reads <= s.ih;
        int down = 1;
        if (inside) down = std::min({(t.rowEnd - oy) / rows, (s.ih - iy - reads) / (rows * S) + 1, maxDown});
        for (int i = 0; i < tiles;) {
            const int columns = columnsOf(i), ox = columnOf(i), ix = ox * S - s.padLeft;
            const bool copied = i < begin || i >= end;
            const int width = (columns - 1) * S + K;
            const int across = inside && !copied ? std::min(i < wide ? wide : tiles, end) - i : 1;
            const float* src = t.src + (ptrdiff_t(iy) * s.iw + ix) * P;
            ptrdiff_t pitch = ptrdiff_t(s.iw) * P;
            if (copied) {
                const int first = std::max(iy, 0), last = std::min(iy + (down - 1) * rows * S + reads, s.ih);
                copyColumns(t.src, first, last, ix, width, s.iw, border);
                pitch = ptrdiff_t(width) * P;
                src = border - (first - iy) * pitch;
            }
            const float* from[(kRows - 1) * S + K];
            for (int y = 0; y < reads; ++y) from[y] = iy + y < 0 || iy + y >= s.ih ? kZeros : src + y * pitch;
            const Tiles run{from, across, down, rows * S * pitch, (ptrdiff_t(oy) * s.ow + ox) * P};
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
